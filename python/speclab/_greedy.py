"""Decoding at temperature 0, where rounding decides between tokens with nearly equal logits."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ._arrays import ArrayLike, array_of, floats, integer, number

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Flips:
    """Result of `flips`: the effect of rounding on a text at temperature 0."""

    per_1000: float  #: expected flips per 1,000 tokens
    probabilities: Floats  #: P(flip) of each row
    tokens_before: float  #: mean tokens before the first flip, in an endless text
    changed: float  #: expected share of a text of `length` tokens after its first flip


def flips(gaps: ArrayLike, noise: float, *, length: int = 256) -> Flips:
    """Expected changes (flips) of the argmax between two runs of a target at temperature 0, from the gaps between its two best
    logits.

    Rounding in the other run adds normal noise of mean 0 to the difference of the two logits. A row with gap g flips if the
    noise exceeds g: with probability P(Z > g / noise), independently of other rows. Third tokens are ignored, so flips are
    undercounted where three logits nearly tie. Two texts are equal up to the first flip, and differ after it.

    Args:
        gaps: best logit minus second best, for each row of a text; at least 0.
        noise: standard deviation between runs of the difference of two logits, in logits.
        length: tokens of a text, for `changed`.

    >>> found = flips([0.01, 2.0, 5.0, 0.3], noise=.1)
    >>> round(found.per_1000, 2), round(found.changed, 3)
    (115.38, 0.97)
    """
    probabilities = _flip_probabilities(_gaps(gaps, "gaps"), number(noise, "noise", 0, 1e300))
    mean = float(probabilities.mean())
    size = integer(length, "length", 1, 10**9)
    if size * mean < 1e-4:  # a series, where the difference below would have few digits
        changed = mean * (size + 1) / 2 * (1 - mean * (size - 1) / 3 * (1 - mean * (size - 2) / 4))
    else:  # the number of tokens before the first flip, of at most `size`, is geometric
        changed = 1 + (1 - mean) * math.expm1(size * math.log1p(-mean)) / mean / size
    return Flips(1000 * mean, probabilities, math.inf if mean == 0 else (1 - mean) / mean, changed)


@dataclass(frozen=True)
class GreedyCheck:
    """Result of `greedy_check`: whether rounding explains how texts differ at temperature 0."""

    rounding: bool  #: rounding explains the differences: p >= level
    p: float  #: p-value of both tests together: twice the smaller one
    p_far: float  #: P(rounding flips a row whose gap is as large as the largest gap of a difference)
    p_many: float  #: P(as many texts differ); 1 without `texts`
    expected: float  #: expected number of texts (without `texts`: of rows) that rounding changes
    differences: int  #: number of first differences given
    min_noise: float | None  #: the smallest noise at which the check would pass, in logits; None if it passes


def greedy_check(
    first_gaps: ArrayLike, gaps: ArrayLike, noise: float, *, texts: Sequence[int] | None = None, level: float = 1e-6
) -> GreedyCheck:
    """Tells rounding from a fault at temperature 0, where decoding with and without speculation should give the same text
    (docs/temperature-zero.md). "Plain" texts are those without speculation.

    Null hypothesis: in every row of the plain texts each token of `gaps` wins independently with probability at most
    P(Z > gap / noise), and no other wins. Let h be the largest gap of a difference. Then p_far = 1 - prod over gaps g >= h of
    P(no flip) bounds the probability of a flip at a gap of h or more, however the texts continue after their first differences. p_many is the probability that as many texts or
    more have a flip, by the exact distribution of a sum over independent texts. A false alarm has at most the probability
    `level`.

    Args:
        first_gaps: for each text that differs, the plain row's best logit minus that of the token emitted instead. Empty if
            none differs.
        gaps: for all rows of the plain texts, including those after a first difference: best logit minus second best, [rows],
            or minus each of the next ones, [rows, others]. The first form is for differences that emitted the second best.
        noise: standard deviation that rounding gives the difference of two logits, in logits.
        texts: lengths of the texts whose rows `gaps` holds one after the other; without it the number of texts is not tested.
        level: level of the test.

    >>> gaps = [4.0, 2.5, .02, 3.1, 1.9, .4] * 50
    >>> greedy_check([.02], gaps, .05, texts=[6] * 50).rounding
    True
    >>> greedy_check([3.1], gaps, .05, texts=[6] * 50).rounding
    False
    """
    first = _gaps(first_gaps, "first_gaps", empty=True)
    rows = _gaps(gaps, "gaps", others=True)
    runners_up = rows if rows.ndim == 1 else None
    rows = rows.reshape(len(rows), -1)
    scale = number(noise, "noise", 0, 1e300)
    alarm = number(level, "level", 0, 1, open_ends=True)
    ends = None
    if texts is not None:
        lengths = [integer(one, f"texts[{i}]", 1, 2**31 - 1) for i, one in enumerate(texts)]
        if sum(lengths) != len(rows):
            raise ValueError(f"texts: {sum(lengths)} tokens in all; gaps has {len(rows)}")
        if len(first) > len(lengths):
            raise ValueError(f"first_gaps: {len(first)} differences for {len(lengths)} texts; each text has at most one first difference")
        ends = np.cumsum(lengths)

    def judged(at: float) -> tuple[float, float, float, float]:
        def law(gap: Floats) -> Floats:
            return _flip_probabilities(gap, at)

        probabilities = row_flips(law, rows)
        far = _any(row_flips(law, rows, first.max() * (1 - 1e-6) - 1e-9)) if len(first) else 1.0
        if ends is None:
            return min(1.0, far), far, 1.0, float(probabilities.sum())
        differ = np.array([_any(part) for part in np.split(probabilities, ends[:-1])])
        many = _at_least(differ, len(first))
        return min(1.0, 2 * min(far, many)), far, many, float(differ.sum())

    p, far, many, expected = judged(scale)
    for i, gap in enumerate(first if runners_up is not None and p < alarm else ()):
        known = np.isclose(runners_up, gap, rtol=1e-3, atol=1e-6).any()
        # A million others in each row might win at this gap.
        if not known and 1e6 * len(rows) * float(_flip_probabilities(np.asarray(gap), scale)) >= alarm:
            raise ValueError(
                f"first_gaps: {gap:g} at {i} is no row's gap, so a third token may have won; give gaps as [rows, others], with those of further tokens"
            )
    needed = None if p >= alarm else _min_noise(lambda at: judged(at)[0] >= alarm, scale)
    return GreedyCheck(p >= alarm, p, far, many, expected, len(first), needed)


def row_flips(law: Callable[[Floats], Floats], gaps: Floats, at_least: float = 0.0) -> Floats:
    """P(a row flips to a token whose gap is `at_least` or larger), [...] for gaps [..., others]; tokens are taken as independent."""
    p = np.where(gaps >= at_least, law(gaps), 0.0)
    return np.asarray(-np.expm1(np.log1p(-p).sum(axis=-1)), dtype=np.float64)


def _gaps(value: ArrayLike, name: str, empty: bool = False, others: bool = False) -> Floats:
    array = array_of(value, name)
    if empty and array.shape == (0,):
        return np.zeros(0)
    row = floats(array, name, f"[rows]{' or [rows, others]' if others else ''}", (1, 2) if others else (1,)).astype(np.float64)
    if not (row >= 0).all():
        at = int(np.flatnonzero(~(row >= 0).ravel())[0])
        raise ValueError(f"{name}: {row.flat[at]} at {at}; a gap is the best logit minus another, at least 0")
    return row


_erfc = np.frompyfunc(math.erfc, 1, 1)


def _flip_probabilities(gaps: Floats, noise: float) -> Floats:
    """P(Z > gap / noise). Without noise both orders of a tie are equally likely."""
    if noise == 0:
        return np.where(gaps > 0, 0.0, np.where(gaps < 0, 1.0, 0.5))
    with np.errstate(over="ignore"):
        return np.asarray(_erfc(gaps / (noise * math.sqrt(2))), dtype=np.float64) / 2


def _any(probabilities: Floats) -> float:
    """P(one or more of independent events)."""
    if (probabilities >= 1).any():
        return 1.0
    return 0.0 - float(np.expm1(np.log1p(-probabilities).sum()))


def _at_least(probabilities: Floats, count: int) -> float:
    """P(`count` or more of independent events). Keeps the probabilities of smaller counts, and adds up the rest."""
    if count == 0:
        return 1.0
    below = np.zeros(count)
    below[0] = 1
    above = 0.0
    for probability in probabilities:
        above += below[-1] * probability
        below[1:] = below[1:] * (1 - probability) + below[:-1] * probability
        below[0] *= 1 - probability
    return float(min(1.0, above))


def _min_noise(passes: Callable[[float], bool], fails: float) -> float:
    """The smallest sufficient noise, by bisection to a relative error of 1/1000; infinite if there is none."""
    low, high = max(fails, 1e-9), 1e6
    if not passes(high):
        return math.inf
    while high / low > 1.001:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if passes(middle) else (middle, high)
    return high
