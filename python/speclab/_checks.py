"""Tests whether a sampler has the target's distribution, with a stated false-alarm rate and power."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import ArrayLike, MOST_TOKENS, context_ids, integer, number, table, tokens
from ._configs import ConfigLike, config_text
from ._progress import Progress, reporter
from ._proofs import MOST_GAMMA
from ._results import Shown
from ._simulate import MOST_SEED, sample
from .models import Model, ModelLike, as_core, same_vocab

Law = Mapping[tuple[int, ...], Any]


@dataclass(frozen=True)
class Deviation:
    """The sequence whose count is the most standard deviations from its expectation."""

    tokens: tuple[int, ...]
    observed: float  #: its share of the samples
    expected: float  #: its probability
    standard_deviations: float  #: infinite for a sequence that is impossible

    def __str__(self) -> str:
        return f"{list(self.tokens)}: {self.observed:.5g} of the samples, expected {self.expected:.5g} ({self.standard_deviations:+.1f} standard deviations)"


class CheckResult(Shown):
    """The verdict of an equality test.

    Attributes:
        different: whether the null hypothesis (the samples have the distribution) is rejected at `level`.
        p_value: p-value of all tests together, adjusted by Holm's method.
        level: chance of a false alarm.
        samples: number of sequences.
        power: probability with which the test finds `detectable_tv`.
        detectable_tv: a total variation that the joint test finds with probability `power`. Rare sequences count as unseen.
        detectable_effect: Cohen's w that Pearson's χ² finds with this power if all classes are frequent; None if there is only one class.
        worst: the sequence that deviates most; None for tests of configs.
        tests: all statistics, as `speclab check` prints them with --json.
        about: description of the tested object, if one was given.
    """

    def __init__(self, text: str, words: str, worst: Deviation | None = None, about: str = "") -> None:
        self.tests: dict[str, Any] = json.loads(text)
        self.worst = worst
        self.about = about
        self._words = words
        self.different: bool = self.tests["verdict"] == "different"
        self.p_value = float(self.tests["adjusted_p"])
        self.level = float(self.tests["level"])
        self.samples = int(self.tests["samples_each"])
        self.power = float(self.tests["power"])
        self.detectable_tv = float(self.tests["detectable_total_variation"])
        self.detectable_effect: float | None = self.tests.get("detectable_effect")

    def __str__(self) -> str:
        about = f"{self.about}\n" if self.about else ""
        worst = f"worst {self.worst}\n" if self.different and self.worst is not None else ""
        return about + self._words + worst

    def __repr__(self) -> str:
        return f"<speclab.CheckResult {'different' if self.different else 'no difference found'}, p = {self.p_value:.3g}>"


def law(target: ModelLike, tokens: int, *, context: Sequence[int] = ()) -> dict[tuple[int, ...], float]:
    """The exact distribution of the first tokens of plain decoding (token by token from the target, without a draft).

    Args:
        target: rows, a function or a Model.
        tokens: length of the sequences; V^tokens may be at most 100,000.
        context: ids before them.

    >>> law([.5, .5], 2)[0, 1]
    0.25
    """
    model = as_core(target, "target")
    tokens = integer(tokens, "tokens", 1, 64)
    if model.vocab**tokens > 100_000:
        raise ValueError(f"tokens: {model.vocab}^{tokens} sequences; at most 100,000 are possible")
    seen = context_ids(context, "context", model.vocab)
    return dict(_core.plain_law(model, seen, tokens))


def check(
    samples: Union[ArrayLike, ConfigLike],
    law: Union[Law, ArrayLike, None] = None,
    *,
    level: float | None = None,
    power: float | None = None,
    threads: int = 0,
    progress: Progress = False,
) -> CheckResult:
    """Tests samples against a distribution, or, without `law`, the decoding that a config describes.

    Null hypothesis: the samples are independent and have the distribution. Whole sequences are tested (Pearson's chi-squared and G must both reject), and each
    token given those before it; p-values are adjusted by Holm's method, so that the chance of a false alarm is `level`.
    Sequences expected less than 10 times share classes, and each is also tested by its exact tail probability.

    Args:
        samples: ids [n, tokens] or [n]: one independent sequence per row. Without `law`: a config as a dict or a path.
        law: a dict from tuples of ids to probabilities (as `law()` and `Proof.law` are), or a row [V] for single tokens.
            Sequences that it lacks have probability 0; its sum is 1 within 1e-3.
        level: chance of a false alarm, between 0 and `power` (default: 1e-6; a config has its own).
        power: power for which `detectable_tv` is computed (default: 0.99; a config has its own).
        threads, progress: for configs, as in `run`.

    Raises:
        ValueError, TypeError: a bad argument, which is named. ConfigError: a config that cannot be tested.

    >>> from speclab import sample
    >>> drawn = sample([.5, .3, .2], [.1, .3, .6], 2, tokens=3, samples=20_000)
    >>> check(drawn, law([.5, .3, .2], 3)).different
    False
    >>> check(drawn, law([.4, .4, .2], 3)).different
    True
    """
    if law is None:
        if level is not None or power is not None:
            raise ValueError("level, power: a config has its own, check.level and check.power; leave them out")
        with reporter(progress, "check") as report:
            return CheckResult(*_core.check_config(config_text(samples), integer(threads, "threads", 0, 4096), report))
    level = number(1e-6 if level is None else level, "level", 0, 1, open_ends=True)
    power = number(0.99 if power is None else power, "power", level, 1, open_ends=True)
    return check_samples(samples, _law(law), level, power)


def _law(law: Union[Law, ArrayLike]) -> dict[tuple[int, ...], float]:
    if not isinstance(law, Mapping):
        rows = table(law, "law")
        if len(rows) != 1:
            raise ValueError(f"law: expected shape [V] or a dict of sequences, not {list(rows.shape)}")
        return {(token,): float(p) for token, p in enumerate(rows[0])}
    found: dict[tuple[int, ...], float] = {}
    for key, probability in law.items():
        ids = key if isinstance(key, tuple) else (key,)
        sequence = tuple(integer(token, "law", 0, MOST_TOKENS - 1) for token in ids)
        if sequence in found:
            raise ValueError(f"law[{key!r}]: the sequence {sequence} is given twice; leave one out")
        found[sequence] = number(probability, f"law[{key!r}]", 0, 1 + 1e-9)
    if not found:
        raise ValueError("law: is empty")
    if len({len(ids) for ids in found}) != 1 or not next(iter(found)):
        raise ValueError("law: sequences of several lengths; expected tuples of one length")
    total = sum(found.values())
    if not abs(total - 1) <= 1e-3:
        raise ValueError(f"law: sums to {total:g}, not 1")
    return found


def check_samples(samples: ArrayLike, law: dict[tuple[int, ...], float], level: float, power: float, about: str = "") -> CheckResult:
    length = len(next(iter(law)))
    array = tokens(samples, "samples", MOST_TOKENS, "[n, tokens] or [n]", (1, 2))
    if array.ndim == 1:
        array = array[:, None]
    if array.shape[1] != length:
        raise ValueError(f"samples: {array.shape[1]} tokens per row; the law has {length}")
    # Any ids are allowed: they are renumbered in ascending order. Beside a single one another is possible.
    known = np.union1d(array, np.array([token for ids in law for token in ids]))
    number_of = {int(token): at for at, token in enumerate(known)}
    numbered = {tuple(number_of[token] for token in ids): p for ids, p in law.items()}
    compact = np.searchsorted(known, array).astype(np.int32)
    text, words = _core.check_samples(compact, numbered, max(len(known), 2), level, power)
    return CheckResult(text, words, _worst(array, law), about)


def _worst(samples: npt.NDArray[np.int32], law: dict[tuple[int, ...], float]) -> Deviation:
    found, counts = np.unique(samples, axis=0, return_counts=True)
    seen = {tuple(int(token) for token in row): int(count) for row, count in zip(found, counts)}
    n = len(samples)

    def deviation(ids: tuple[int, ...]) -> Deviation:
        p = law.get(ids, 0.0)
        observed = seen.get(ids, 0) / n
        spread = (p * (1 - p) / n) ** 0.5
        if spread > 0:
            z = (observed - p) / spread
        else:
            z = 0.0 if abs(observed - p) < 1e-12 else float("inf") * (1 if observed > p else -1)
        return Deviation(ids, observed, p, z)

    # Between two infinite deviations, a sequence that came counts before one that did not.
    return max(map(deviation, {**law, **seen}), key=lambda one: (abs(one.standard_deviations), one.standard_deviations))


Sampler = Callable[[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.int64]], Sequence[int]]


def check_sampler(
    sampler: Sampler,
    target: ModelLike,
    draft: ModelLike,
    gamma: int,
    *,
    power: float = 0.99,
    total_variation: float = 0.05,
    level: float = 1e-6,
    samples: int | None = None,
    context: Sequence[int] = (),
    seed: int = 1,
    batch: int | None = None,
    progress: Progress = False,
) -> CheckResult:
    """Tests any implementation of verification.

    This function drafts tokens from the draft's rows, and `sampler` accepts or corrects them. The emitted tokens are completed to
    gamma + 1 tokens by decoding without a draft, and tested against the target's distribution.

    Args:
        sampler: `sampler(target_rows, draft_rows, drafted)` of float64 [gamma + 1, V], float64 [gamma, V] and int64
            [gamma] returns the ids that it emits: 1 to gamma + 1 of them. Its randomness must differ from call to call.
            With `batch` it gets [B, gamma + 1, V], [B, gamma, V] and [B, gamma], and returns one such list per request, or
            an array [B, gamma + 1] with -1 after the last id.
        target, draft: rows, functions or Models. V^(gamma + 1) may be at most 100,000.
        gamma: drafted tokens, 1 to 64.
        power: probability with which the joint test finds a sampler at distance `total_variation`.
        total_variation: distance from the target's distribution that is to be found, between the classes of the test; the
            number of samples follows from it. Sequences expected less than 10 times share a class.
            `CheckResult.detectable_tv` is the distance found when differences within such a class count as unseen.
        level: chance of a false alarm.
        samples: number of calls (requests), instead of the planned number.
        context: ids before the round. Rounds in other contexts are not tested: where rows depend on it, test several.
        seed: seed of the drafts and of the completing tokens.
        batch: requests per call; None for one at a time.

    If the rows of target or draft are equal in all contexts that a round reaches, the test could not find a sampler that reads
    the row of another position. It then uses the rows that `prove` makes from them, which differ by the last token. The result
    says so.

    Raises:
        ValueError, TypeError: a bad argument, or a bad result of the sampler, which is named.

    >>> generator = np.random.default_rng(1)
    >>> def everything(target_rows, draft_rows, drafted):
    ...     return [*drafted, generator.choice(3, p=target_rows[-1])]
    >>> result = check_sampler(everything, [.5, .3, .2], [.4, .4, .2], 1)
    >>> result.different, result.power
    (True, 0.99)
    """
    if not callable(sampler):
        raise TypeError(f"sampler: expected a function, not {type(sampler).__name__}")
    target_model = as_core(target, "target")
    draft_model = as_core(draft, "draft")
    vocab = same_vocab(target_model.vocab, draft_model.vocab)
    gamma = integer(gamma, "gamma", 1, MOST_GAMMA)
    level = number(level, "level", 0, 1, open_ends=True)
    power = number(power, "power", level, 1, open_ends=True)
    distance = number(total_variation, "total_variation", 0, 1, open_ends=True)
    seed = integer(seed, "seed", 0, MOST_SEED)
    seen = context_ids(context, "context", vocab)
    if vocab ** (gamma + 1) > 100_000:
        raise ValueError(f"gamma: {vocab}^{gamma + 1} sequences of gamma + 1 tokens; at most 100,000 can be tested")
    # A round reads the target's rows after up to gamma tokens, the draft's after up to gamma - 1.
    reads = (("target", target_model, gamma), ("draft", draft_model, gamma - 1))
    made = [name for name, model, most in reads if _core.rows_alike(model, target_model, seen, most)]
    target_model, draft_model = (_core.made_by_context(model) if name in made else model for name, model, _ in reads)
    expected = dict(_core.plain_law(target_model, seen, gamma + 1))
    if samples is None:
        samples = int(_core.samples_for(len(expected), gamma + 1, distance, level, power))
    samples = integer(samples, "samples", 1, 2**31 // (gamma + 1))
    one_by_one = batch is None
    batch = 1 if batch is None else integer(batch, "batch", 1, 2**20)
    drafted = sample(Model(draft_model), None, tokens=gamma, samples=samples, seed=seed, prompt=seen)
    rounds = _Rounds(target_model, draft_model, seen, gamma, vocab, seed)
    emitted = np.empty((samples, gamma + 1), np.int32)
    with reporter(progress, "check_sampler") as report:
        for first in range(0, samples, batch):
            ids = drafted[first : first + batch].astype(np.int64)
            target_rows, draft_rows = rounds.rows(ids)
            found = [sampler(target_rows[0], draft_rows[0], ids[0])] if one_by_one else sampler(target_rows, draft_rows, ids)
            if len(found) != len(ids):
                raise ValueError(f"sampler: {len(found)} results for {len(ids)} requests")
            for i, out in enumerate(found):
                emitted[first + i] = rounds.completed(out)
            if report is not None and first % (64 * batch) == 0:
                report(first, samples)
    about = f"{getattr(sampler, '__name__', type(sampler).__name__)}, gamma = {gamma}, {vocab} tokens, rounds after the context {seen} alone"
    if made:
        about += f"\nrows of {' and '.join(made)} made to differ by the last token (one row cannot show that another position's is read)"
    return check_samples(emitted, expected, level, power, about)


class _Rounds:
    """Rows of drafted sequences (each context is requested once), and completions of emitted prefixes."""

    def __init__(self, target: _core.Model, draft: _core.Model, context: list[int], gamma: int, vocab: int, seed: int) -> None:
        self._row = functools.cache(lambda model, prefix: np.asarray(model.row([*context, *prefix])))
        self._target, self._draft = target, draft
        self._gamma = gamma
        self._vocab = vocab
        self._generator = np.random.Generator(np.random.Philox(key=seed))

    def rows(self, drafted: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        def of(model: _core.Model, count: int) -> npt.NDArray[np.float64]:
            return np.array([[self._row(model, tuple(ids[:i])) for i in range(count)] for ids in drafted.tolist()])

        return of(self._target, self._gamma + 1), of(self._draft, self._gamma)

    def completed(self, emitted: Any) -> list[int]:
        """The emitted ids, completed to gamma + 1 ids by decoding without a draft."""
        try:
            array = np.asarray(emitted).reshape(-1)
        except (TypeError, ValueError):
            raise TypeError(f"sampler: returned {emitted!r}; expected token ids") from None
        if array.size and array.dtype.kind not in "iu":
            # Rounding ids would test another sampler than the given one.
            what = f"{array[0].item()!r} ({array.dtype})" if array.dtype.kind in "fbc" else repr(emitted)
            raise TypeError(f"sampler: returned {what}; expected token ids, which are integers: int(token), or an array of int64")
        ids = array.tolist()
        while ids and ids[-1] == -1:
            ids.pop()
        if not 1 <= len(ids) <= self._gamma + 1:
            raise ValueError(f"sampler: returned {len(ids)} tokens; expected 1 to {self._gamma + 1}")
        for token in ids:
            if not 0 <= token < self._vocab:
                raise ValueError(f"sampler: returned token {token}, which is not in the vocabulary of {self._vocab} tokens")
        while len(ids) <= self._gamma:
            row = self._row(self._target, tuple(ids))
            ids.append(min(int(np.searchsorted(np.cumsum(row), self._generator.random(), side="right")), self._vocab - 1))
        return ids
