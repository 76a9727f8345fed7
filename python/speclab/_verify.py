"""Verification of drafted tokens on given rows, batched over requests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import ArrayLike, array_of, floats, integer, tokens
from ._proofs import MOST_GAMMA
from ._rules import RuleLike, as_rule
from ._simulate import MOST_SEED


@dataclass(frozen=True, eq=False)
class Verdicts:
    """The decisions of verification, by request."""

    accepted: npt.NDArray[np.int32]  #: [B], accepted tokens, 0 to gamma
    next: npt.NDArray[np.int32]  #: [B], the token after it: the correction or the bonus
    drafted: npt.NDArray[np.int32]  #: [B, gamma], as given

    @property
    def tokens(self) -> npt.NDArray[np.int32]:
        """Emitted tokens, [B, gamma + 1]: the accepted prefix and `next`, then -1."""
        requests, gamma = self.drafted.shape
        out = np.full((requests, gamma + 1), -1, np.int32)
        kept = np.arange(gamma)[None, :] < self.accepted[:, None]
        out[:, :gamma][kept] = self.drafted[kept]
        out[np.arange(requests), self.accepted] = self.next
        return out


def verify(
    target_probs: ArrayLike,
    draft_probs: ArrayLike,
    drafted: ArrayLike,
    *,
    uniforms: ArrayLike | None = None,
    seed: int | None = None,
    round: int = 0,
    rule: RuleLike = "token",
    validate: bool = True,
    threads: int = 0,
) -> Verdicts:
    """Accepts or corrects drafted tokens (Leviathan et al. 2023, Algorithm 1; other rules: docs/rules.md).

    Args:
        target_probs: [B, gamma + 1, V]: row i is the target's after i of the request's drafted tokens.
        draft_probs: [B, gamma, V]: drafted token i was drawn from row i.
        drafted: [B, gamma] ids.
        uniforms: [B, gamma + 1] numbers from 0 to 1: one per acceptance draw, then one for the token after the accepted
            ones. For the rules token, block and lenient. Give either uniforms or `seed`.
        seed: 0 to 2^63 - 1. The draws of request b are addressed by (seed, b, round), so that the result does not depend
            on threads. A decoder must pass another `round` in each call.
        rule: a name, parameters or a function, for one draft.
        validate: whether to check every row on which the decision depends; otherwise logits or unnormalised weights pass
            unnoticed.
        threads: 0: all cores.

    float32 and float64 rows are read without a copy if the numbers of a row are contiguous; float16 becomes float32. A
    drafted token of draft probability 0 is rejected.

    Raises:
        ValueError: shapes, ids or rows that do not fit; names argument, request and position.
        TypeError: an argument of a wrong type.

    >>> made = verify([[[.5, .5], [.9, .1]]], [[[1., 0.]]], [[0]], uniforms=[[.4, .95]])
    >>> made.accepted, made.next, made.tokens
    (array([1], dtype=int32), array([1], dtype=int32), array([[0, 1]], dtype=int32))
    """
    target = floats(target_probs, "target_probs", "[B, gamma + 1, V]", (3,))
    requests, positions, vocab = target.shape
    gamma = integer(positions - 1, "target_probs: gamma", 0, MOST_GAMMA)
    if gamma == 0 and array_of(draft_probs, "draft_probs").size == 0:
        draft = np.empty((requests, 0, vocab), target.dtype)
    else:
        draft = floats(draft_probs, "draft_probs", "[B, gamma, V]", (3,))
    if draft.dtype != target.dtype:
        target, draft = target.astype(np.float64), draft.astype(np.float64)
    ids = tokens(drafted, "drafted", vocab, "[B, gamma]", (2,), empty=gamma == 0)
    for name, array, shape in (("draft_probs", draft, (requests, gamma, vocab)), ("drafted", ids, (requests, gamma))):
        if array.shape != shape:
            raise ValueError(f"{name}: {list(array.shape)}; target_probs is {list(target.shape)}, so that {list(shape)} is expected")
    given = _uniforms(uniforms, seed, round, requests, gamma)
    accepted, following = np.empty((2, requests), np.int32)
    start = 0 if seed is None else integer(seed, "seed", 0, MOST_SEED)
    round = integer(round, "round", 0, 2**32 - 1)
    threads = integer(threads, "threads", 0, 4096)
    _core.verify(target, draft, ids, given, start, round, as_rule(rule), bool(validate), threads, accepted, following)
    return Verdicts(accepted, following, ids.copy())


def _uniforms(uniforms: ArrayLike | None, seed: int | None, round: int, requests: int, gamma: int) -> npt.NDArray[np.float64] | None:
    if (uniforms is None) == (seed is None):
        raise TypeError("uniforms, seed: give one of them, as the source of random numbers")
    if uniforms is None:
        return None
    if round != 0:
        raise TypeError("round: addresses the draws of a seed; leave it out beside uniforms")
    given = floats(uniforms, "uniforms", "[B, gamma + 1]", (2,))
    if given.shape != (requests, gamma + 1):
        raise ValueError(f"uniforms: {list(given.shape)}; {[requests, gamma + 1]} is expected")
    if not (given.min() >= 0 and given.max() <= 1):
        raise ValueError("uniforms: expected numbers from 0 to 1")
    return np.ascontiguousarray(given, dtype=np.float64)
