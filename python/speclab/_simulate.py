"""Many rounds of speculative decoding of given models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import MOST_GAMMA, MOST_SEED, context_ids, integer, number
from ._interval import Interval
from ._progress import reporter
from ._results import Tabular
from ._rules import Drafter, Policy, RuleLike, as_rule
from .models import ModelLike, as_core, same_vocab

#: Default number of trials: enough for intervals of dependent rounds.
TRIALS = 64


@dataclass(frozen=True, repr=False)
class Simulation(Tabular):
    """Counts of a simulation, and estimates with intervals from them.

    Intervals compare independent trials or, if both models are the same in every context, independent rounds. With fewer
    than 8 trials of dependent rounds their bounds are infinite.
    """

    rule: str
    gamma: int
    c: float
    c_hat: float
    confidence: float
    estimates: dict[str, Interval | None]  #: all of them by name (docs/results.md)
    positions: list[tuple[Interval | None, Interval | None]]  #: for every drafted position P(accepted), and P(accepted | those before were)
    counts: dict[str, int]  #: rounds, drafted, examined, accepted, emitted
    accepted_lengths: list[int]  #: rounds by the number of drafted tokens that they accepted, 0 to gamma
    engine: str  #: "fast" or "plain": how it was decoded (docs/performance.md). Both have the same distribution.

    @property
    def tokens_per_target_step(self) -> Interval:
        """Emitted tokens per target run ("block efficiency")."""
        return self._needed("tokens_per_target_step")

    @property
    def alpha(self) -> Interval:
        """The rule's acceptance rate in a context, averaged over the contexts of emitted tokens: sum min(target, draft) for token
        verification (Leviathan et al. 2023, Cor. 3.6). Not with a `drafter`, nor for rules without such a rate: functions, blocks,
        trees."""
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

    def records(self) -> list[dict[str, Any]]:
        """A dict per estimate: metric, value, low, high."""
        return [{"metric": name, **vars(at)} for name, at in self.estimates.items() if at is not None]

    def __str__(self) -> str:
        lines = [f"{name:<24}{at}" for name, at in self.estimates.items() if at is not None]
        return f"{self.rule}, gamma = {self.gamma}, {self.counts['rounds']} rounds\n" + "\n".join(lines)

    def __repr__(self) -> str:
        return f"<speclab.Simulation {self.rule}, gamma = {self.gamma}, {self.counts['rounds']} rounds>"


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
        threads, progress: as in `run`; a step is a round.

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
    seen = context_ids(prompt, "prompt", vocab)
    c = number(c, "c", 0, 1e6)
    c_hat = number(c_hat, "c_hat", 0, 1e6)
    confidence = number(confidence, "confidence", 0, 1, open_ends=True)
    threads = integer(threads, "threads", 0, 4096)
    with reporter(progress, "simulate") as report:
        found = _core.simulate(target_model, draft_model, handle, gamma, seed, trials, length, seen, c, c_hat, confidence, threads, report)
    found["estimates"] = {name: at and Interval(*at) for name, at in found["estimates"].items()}
    found["positions"] = [(both and Interval(*both), given and Interval(*given)) for both, given in found["positions"]]
    return Simulation(handle.name, gamma, c, c_hat, confidence, **found)


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
    seen = context_ids(prompt, "prompt", vocab)
    threads = integer(threads, "threads", 0, 4096)
    drawn = _core.sequences(target_model, draft_model, handle, gamma, seed, samples, tokens, seen, threads, None)
    return cast("npt.NDArray[np.int32]", drawn)
