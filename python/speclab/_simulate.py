"""Many rounds of speculative decoding of given models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from . import _core, _html
from ._arrays import MOST_GAMMA, MOST_SEED, integer, number
from ._interval import Interval
from ._progress import reporter
from ._rules import Drafter, Policy, RuleLike, as_rule
from .models import ModelLike, as_core, same_vocab

#: Default number of trials: enough for intervals of dependent rounds.
TRIALS = 64


def _interval(found: tuple[float, float, float] | None) -> Interval | None:
    return None if found is None else Interval(*found)


class _Kept:
    """A Simulation's results, computed in advance, so that they can be pickled."""

    def __init__(self, estimates: Any, positions: Any, counts: Any, accepted_lengths: Any, fast: bool) -> None:
        self.fast = fast
        self._answers = (estimates, positions, counts, accepted_lengths)

    def estimates(self, c: float, c_hat: float, confidence: float) -> Any:
        return self._answers[0]

    def positions(self, confidence: float) -> Any:
        return self._answers[1]

    def counts(self) -> Any:
        return self._answers[2]

    def accepted_lengths(self) -> Any:
        return self._answers[3]


class Simulation:
    """Counts of a simulation, and estimates with intervals from them.

    Intervals compare independent trials or, if both models are the same in every context, independent rounds. With fewer
    than 8 trials of dependent rounds their bounds are infinite.
    """

    def __init__(self, core: _core.Simulated | _Kept, rule: str, gamma: int, c: float, c_hat: float, confidence: float) -> None:
        self._core = core
        self.rule = rule
        self.gamma = gamma
        self.c = c
        self.c_hat = c_hat
        self.confidence = confidence

    def __getstate__(self) -> dict[str, Any]:
        """For pickle and copy: the results instead of the counts, which are in the extension module."""
        core = self._core
        kept = _Kept(
            core.estimates(self.c, self.c_hat, self.confidence),
            core.positions(self.confidence),
            core.counts(),
            core.accepted_lengths(),
            core.fast,
        )
        return {**self.__dict__, "_core": kept}

    @cached_property
    def estimates(self) -> dict[str, Interval | None]:
        """All estimates by name (docs/results.md)."""
        return {name: _interval(at) for name, at in self._core.estimates(self.c, self.c_hat, self.confidence).items()}

    @cached_property
    def positions(self) -> list[tuple[Interval | None, Interval | None]]:
        """For every drafted position P(accepted), and P(accepted | all before it were accepted)."""
        return [(_interval(both), _interval(given)) for both, given in self._core.positions(self.confidence)]

    @cached_property
    def counts(self) -> dict[str, int]:
        """Numbers of rounds and of drafted, examined, accepted and emitted tokens."""
        return dict(self._core.counts())

    @property
    def accepted_lengths(self) -> list[int]:
        """Number of rounds that accepted 0, 1, ..., gamma drafted tokens."""
        return list(self._core.accepted_lengths())

    @property
    def engine(self) -> str:
        """"fast" or "plain": how it was decoded (docs/performance.md). Both have the same distribution."""
        return "fast" if self._core.fast else "plain"

    @property
    def tokens_per_target_step(self) -> Interval:
        """Emitted tokens per target run ("block efficiency")."""
        return self._needed("tokens_per_target_step")

    @property
    def alpha(self) -> Interval:
        """The rule's acceptance rate in a context, averaged over the contexts of emitted tokens: sum min(target, draft) for token
        verification (Leviathan et al. 2023, Cor. 3.6) and for rules without a rate of their own, such as functions; lenient rules
        accept more. Not with a `drafter`."""
        return self._needed("alpha_overlap")

    @property
    def speedup(self) -> Interval:
        """Speedup over decoding without a draft, if a draft run takes the time of c target runs (Thm 3.8)."""
        return self._needed("speedup")

    def _needed(self, name: str) -> Interval:
        found = self.estimates.get(name)
        if found is None:
            raise ValueError(f"{name}: unknown for the simulated rounds")
        return found

    def to_pandas(self) -> Any:
        """One row per estimate: metric, value, low, high."""
        import pandas

        rows = [(name, at.value, at.low, at.high) for name, at in self.estimates.items() if at is not None]
        return pandas.DataFrame(rows, columns=["metric", "value", "low", "high"])

    def __str__(self) -> str:
        lines = [f"{name:<24}{at}" for name, at in self.estimates.items() if at is not None]
        return f"{self.rule}, gamma = {self.gamma}, {self.counts['rounds']} rounds\n" + "\n".join(lines)

    def __repr__(self) -> str:
        return f"<speclab.Simulation {self.rule}, gamma = {self.gamma}, {self.counts['rounds']} rounds>"

    def _repr_html_(self) -> str:
        rows = [(name, f"{at.value:.5g}", f"{at.low:.5g}", f"{at.high:.5g}") for name, at in self.estimates.items() if at is not None]
        return _html.table(("metric", "value", "low", "high"), rows, f"{self.rule}, gamma = {self.gamma}")


def simulate(
    target: ModelLike,
    draft: ModelLike | Drafter,
    gamma: int,
    rule: RuleLike = "token",
    seed: int = 1,
    rounds: int = 128_000,
    *,
    policy: Policy | None = None,
    trials: int | None = None,
    prompt: Sequence[int] = (),
    c: float = 0.0,
    c_hat: float = 0.0,
    confidence: float = 0.95,
    threads: int = 0,
    progress: bool | Callable[[int, int], Any] = False,
) -> Simulation:
    """Decodes speculatively and counts.

    Args:
        target, draft: rows [V] or [V^n, V], functions `f(tokens) -> row`, or Models; the draft also a `drafter`. Rows of
            floats, each summing to 1 within 1e-3; they are divided by their sums.
        gamma: drafted tokens per round, 0 to 64; with a policy the maximum.
        policy: `policy(drafted, row) -> bool` decides before every token whether to draft it, as in `prove`.
        rule: a name, parameters or a function, as for `prove`.
        seed: 0 to 2^63 - 1. The result depends on it and the other arguments, not on threads.
        rounds: rounds in all, rounded up to a multiple of `trials`.
        trials: independent sequences from the prompt; default: 64, or `rounds` if that is fewer.
        prompt: ids before the first token.
        c, c_hat: time and arithmetic operations of a draft run, divided by those of a target run.
        confidence: confidence of intervals.
        threads: 0: all cores.
        progress: True for a tqdm bar (without tqdm, a line), or a function of (done, total) rounds.

    Raises:
        ValueError, TypeError: a bad argument, which is named. ConfigError: an unknown rule.
        KeyboardInterrupt: within a tenth of a second after Ctrl-C.

    >>> made = simulate([.5, .3, .2], [.1, .3, .6], gamma=3)
    >>> round(made.alpha.value, 9)
    0.6
    >>> 2.176 in made.tokens_per_target_step
    True
    """
    handle = as_rule(rule, policy, draft)
    target_model = as_core(target, "target")
    draft_model = None if handle.own_drafter else as_core(draft, "draft")
    vocab = target_model.vocab if draft_model is None else same_vocab(target_model.vocab, draft_model.vocab)
    gamma = integer(gamma, "gamma", 0, MOST_GAMMA)
    seed = integer(seed, "seed", 0, MOST_SEED)
    rounds = integer(rounds, "rounds", 1, 2**40)
    trials = integer(min(TRIALS, rounds) if trials is None else trials, "trials", 1, 2**31 - 1)
    length = integer(-(-rounds // trials), "rounds", 1, 2**31 - 1)
    seen = [integer(token, "prompt", 0, vocab - 1) for token in prompt]
    c = number(c, "c", 0, 1e6)
    c_hat = number(c_hat, "c_hat", 0, 1e6)
    confidence = number(confidence, "confidence", 0, 1, open_ends=True)
    threads = integer(threads, "threads", 0, 4096)
    with reporter(progress, "simulate") as report:
        core = _core.simulate(target_model, draft_model, handle, gamma, seed, trials, length, seen, threads, report)
    return Simulation(core, handle.name, gamma, c, c_hat, confidence)


def sample(
    target: ModelLike,
    draft: ModelLike | Drafter | None,
    gamma: int = 0,
    rule: RuleLike = "token",
    *,
    tokens: int,
    samples: int,
    policy: Policy | None = None,
    seed: int = 1,
    prompt: Sequence[int] = (),
    threads: int = 0,
) -> npt.NDArray[np.int32]:
    """Samples sequences: the first tokens after the prompt, by speculative decoding or, without a draft, token by token.

    Args:
        target, draft, gamma, rule, policy, seed, prompt, threads: as in `simulate`.
        tokens: tokens per sequence.
        samples: number of independent sequences.

    Returns:
        int32 [samples, tokens].

    >>> sample([.5, .5], [.9, .1], 2, tokens=3, samples=4).shape
    (4, 3)
    """
    handle = as_rule(rule, policy, draft)
    target_model = as_core(target, "target")
    draft_model = None if draft is None or handle.own_drafter else as_core(draft, "draft")
    vocab = target_model.vocab if draft_model is None else same_vocab(target_model.vocab, draft_model.vocab)
    gamma = integer(gamma, "gamma", 0, MOST_GAMMA)
    seed = integer(seed, "seed", 0, MOST_SEED)
    tokens = integer(tokens, "tokens", 1, 10_000)
    samples = integer(samples, "samples", 1, min(2**31 - 1, 2**31 // tokens))
    seen = [integer(token, "prompt", 0, vocab - 1) for token in prompt]
    threads = integer(threads, "threads", 0, 4096)
    drawn = _core.sequences(target_model, draft_model, handle, gamma, seed, samples, tokens, seen, threads, None)
    return cast("npt.NDArray[np.int32]", drawn)
