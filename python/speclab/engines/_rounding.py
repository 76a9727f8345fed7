"""Computes the effect of rounding on texts at temperature 0: the probability that a row's argmax changes (flips), from its gaps in
exact rows and measured deviations; and whether it explains an engine's differences (docs/temperature-zero.md).

Deviations are those of the difference of two logits. Engines report the log-probability of emitted tokens, log p. If rounding moves all
logits independently with the same standard deviation s, it moves log p by s sqrt(1 - 2 p + sum p^2), and the difference of two logits by s
sqrt(2), so one follows from the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from .._greedy import _any, _at_least, _flip_probabilities, row_flips

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

OTHERS = 8  #: number of tokens to which a row may flip: the likeliest ones after the first
LEAST = 1e-9  #: smallest deviation, in logits: exact rows are rounded, too
SURE = 0.1  #: rows whose log p moves by less than this share of a logit's deviation are ignored
FEWEST = 50  #: smallest number of deviations from which a distribution is made
#: Standard deviation of a normal distribution whose mean absolute value is 1.
SPREAD = math.sqrt(math.pi / 2)


@dataclass(frozen=True)
class TextRows:
    """Exact rows along texts: [texts, tokens]."""

    gaps: Floats  #: [texts, tokens, OTHERS]: the best logit minus those of the next ones; infinite if there are none
    below: Floats  #: the best logit minus that of the text's token
    logp: Floats  #: log p of the text's token
    moves: Floats  #: deviation of its log p divided by that of one logit


def rows_along(model: Any, prompts: list[list[int]], texts: npt.NDArray[np.int32], known: tuple[npt.NDArray[np.int32], TextRows] | None = None) -> TextRows:
    """The rows from which the tokens of texts were chosen, computed by a `Llama` in f64. `known`: texts whose rows are known already."""
    found = []
    for at, (prompt, text) in enumerate(zip(prompts, texts)):
        if known is not None and (known[0][at] == text).all():
            found.append(tuple(part[at] for part in (known[1].gaps, known[1].below, known[1].logp, known[1].moves)))
        else:
            found.append(_rows_of(model, prompt, text.astype(np.int64)))
    return TextRows(*(np.stack(parts) for parts in zip(*found)))


def _rows_of(model: Any, prompt: list[int], text: Ints) -> tuple[Floats, Floats, Floats, Floats]:
    logits = model.logits(np.array([[*prompt, *text[:-1]]]), model.start(1))[0][0, len(prompt) - 1 :]
    others = min(OTHERS, model.vocab - 1)
    best = -np.sort(-np.partition(logits, model.vocab - others - 1, axis=1)[:, model.vocab - others - 1 :], axis=1)
    gaps = np.full((len(text), OTHERS), np.inf)
    gaps[:, :others] = best[:, :1] - best[:, 1:]
    p = np.exp(logits - best[:, :1])
    total = p.sum(axis=1)
    below = best[:, 0] - logits[np.arange(len(text)), text]
    logp = -below - np.log(total)
    moves = np.sqrt(np.maximum(0, 1 - 2 * np.exp(logp) + (p**2).sum(axis=1) / total**2))
    return gaps, below, logp, moves


def deviations(one: Floats, other: Floats, moves: Floats) -> Floats:
    """Absolute deviations of the difference of two logits, from two log-probabilities of each token where both are known."""
    known = np.isfinite(one) & np.isfinite(other) & (moves >= SURE)
    return np.abs(one[known] - other[known]) / moves[known] * math.sqrt(2)


@dataclass(frozen=True)
class Noise:
    """The distribution of a deviation: a mixture of normal distributions, one per measured size, with that mean absolute value, because
    sizes differ widely. The mean of |deviation| is then the measured one, and so is the expected number of flips if gaps have a density.
    The mixture has more large deviations than were measured, so that measured ones cause no false alarms."""

    sizes: Floats  #: the measured quantiles at 1/400, 3/400, ..., without sizes above the last
    rms: float

    @classmethod
    def of(cls, measured: Floats) -> Noise:
        return cls(np.quantile(measured, (np.arange(200) + 0.5) / 200), float(np.sqrt((measured**2).mean())))

    def times(self, factor: float) -> Noise:
        return Noise(self.sizes * factor, self.rms * factor)

    def beyond(self) -> Callable[[Floats], Floats]:
        """P(deviation > gap), for gaps of at least 0; 1/2 for a gap of 0."""
        scale = np.maximum(SPREAD * self.sizes, LEAST)
        grid = np.concatenate([[0.0], np.geomspace(LEAST / 10, 40 * scale[-1], 1500)])
        value = np.mean([_flip_probabilities(grid, float(one)) for one in scale], axis=0)
        return lambda gaps: np.interp(gaps, grid, value, right=0.0)


def flip_law(own: Noise, between: Noise) -> Callable[[Floats], Floats]:
    """P(two runs order two tokens differently), as a function of their gap in exact rows. One run deviates from the exact gap by `own`,
    and the other from the first by `between`."""
    beyond = between.beyond()
    normal = np.array([NormalDist().inv_cdf((i + 0.5) / 41) for i in range(41)])
    shifts = (np.maximum(SPREAD * own.sizes[::4], LEAST)[:, None] * normal).ravel()
    grid = np.concatenate([[0.0], np.geomspace(LEAST / 10, np.abs(shifts).max() + 40 * max(SPREAD * between.sizes[-1], LEAST), 1500)])
    value = np.array([beyond(np.abs(gap + shifts)).mean() for gap in grid])
    return lambda gaps: np.interp(gaps, grid, value, right=0.0)


@dataclass(frozen=True)
class Judged:
    """Differences of texts, and the expected effect of rounding."""

    differ: int  #: texts that differ
    least: float  #: expected number of texts that rounding changes, if only the second-best token can win, and equal rows of a repeating text count once
    most: float  #: the same if each of the OTHERS can win, independently in each row
    low: int  #: the 2.5% quantile of the number under the assumptions of `least`
    high: int  #: the 97.5% quantile under those of `most`
    largest: float  #: largest gap of a difference; 0 if there is none
    p_far: float  #: P(rounding flips any row at such a gap or beyond)
    p_many: float  #: P(as many texts or more)

    @property
    def p(self) -> float:
        return min(1.0, 2 * min(self.p_far, self.p_many))


def first_times(texts: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
    """False where a token and the three before it have occurred in the text before: such rows are equal, and so is their rounding."""
    out = np.ones(texts.shape, bool)
    for at, text in enumerate(texts.tolist()):
        seen: set[tuple[int, ...]] = set()
        for end in range(4, len(text) + 1):
            out[at, end - 1] = (last := tuple(text[end - 4 : end])) not in seen
            seen.add(last)
    return out


def judged(law: Callable[[Floats], Floats], along: npt.NDArray[np.int32], gaps: Floats, different: Ints, differences: Floats) -> Judged:
    """Tests differences. `gaps` [texts, tokens, others]: those of exact rows along texts; `different`: the texts that differ, and the
    gaps of their differences. The tests assume the larger number of flips (`most`)."""
    texts = np.array([_any(one) for one in row_flips(law, gaps)])
    fewer = np.array([_any(one) for one in np.where(first_times(along), law(gaps[:, :, 0]), 0)])
    largest = float(differences.max()) if len(differences) else 0.0
    # Exact rows are rounded, so equal gaps can differ slightly between two of them.
    far = _any(row_flips(law, gaps, max(0.0, largest - LEAST)).ravel()) if len(differences) else 1.0
    count = len(set(different.tolist()))
    return Judged(count, float(fewer.sum()), float(texts.sum()), _quantile(fewer, 0.025), _quantile(texts, 0.975), largest, far, _at_least(texts, count))


def _quantile(probabilities: Floats, at: float) -> int:
    """A quantile of the number of independent events that occur."""
    law = np.ones(1)
    for p in probabilities:
        law = np.convolve(law, [1 - p, p])
    return int(min(np.searchsorted(np.cumsum(law), at), len(probabilities)))


def detectable_rate(law: Callable[[Floats], Floats], gaps: Floats, level: float, power: float) -> float:
    """The smallest share of rows, anywhere in the texts, in which a fault must emit the second-best token so that the test of the largest
    gap finds it with probability `power`; 1 if none suffices."""
    second = np.sort(gaps[:, :, 0].ravel())
    kept = np.log1p(-np.minimum(law(second), 1 - 1e-16))
    # A flip is found where P(rounding flips any row of this gap or a larger one) is too small.
    seen = int((-np.expm1(np.cumsum(kept[::-1])) < level / 2).sum())
    return 1.0 if seen == 0 else min(1.0, -math.log1p(-power) / seen)
