"""The most tokens that any lossless scheme emits in a round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from . import _core
from ._arrays import context_ids, integer
from ._proofs import MOST_GAMMA, Number
from ._rules import Drafter
from .models import ModelLike, as_exact, same_vocab


@dataclass(frozen=True)
class Optimum:
    """The largest expected number of tokens that a lossless scheme emits in one round, given the drafted paths."""

    expected_emitted: Number  #: a Fraction when `proved`, else a float to about 1e-9
    proved: bool  #: whether the solver's basis is optimal in exact arithmetic
    upper_bound: Fraction  #: a proved bound: no lossless scheme emits more
    outcomes: int  #: number of different sets of drafted paths
    variables: int  #: number of variables of the linear program


def optimum(
    target: ModelLike, draft: ModelLike | Drafter, gamma: int = 1, *, drafts: int = 1, context: Sequence[int] = ()
) -> Optimum:
    """The most tokens that any lossless scheme emits in one round on average: a linear program over all ways to emit a
    string given the drafted paths, with a proof in fractions.

    A scheme emits a prefix of a drafted path and one more token. Completed by decoding without a draft, the emitted string
    must have the target's distribution. With one drafted token that is optimal transport (Sun et al. 2023, "SpecTr"); with one path
    block verification attains it (Sun et al. 2024).

    Args:
        target, draft: rows [V] or [V^n, V], functions of the context, or Models, as `prove` takes them; the draft also a
            `drafter`, whose paths and their probabilities are enumerated. The rows that it returns are ignored.
        gamma: drafted tokens per path, 1 to 64.
        drafts: number of paths, drawn independently from the draft.
        context: ids before the round.

    Raises:
        ValueError: rows that are no distributions, more than 3 10^5 variables, or a drafter that would run more than 10^6
            times.

    >>> optimum([1/3, 2/3], [2/3, 1/3], 2).expected_emitted
    Fraction(20, 9)
    >>> from speclab import prove
    >>> prove("token", [1/3, 2/3], [2/3, 1/3], 2).expected_emitted
    Fraction(19, 9)
    """
    target_rows, target_vocab = as_exact(target, "target")
    seen = context_ids(context, "context", target_vocab)
    size = target_vocab, integer(gamma, "gamma", 1, MOST_GAMMA), integer(drafts, "drafts", 1, 64), seen
    if isinstance(draft, Drafter):
        return Optimum(**_core.optimum_of_drafter(target_rows, draft.name, draft, *size))
    draft_rows, draft_vocab = as_exact(draft, "draft")
    same_vocab(target_vocab, draft_vocab)
    return Optimum(**_core.optimum_exactly(target_rows, draft_rows, *size))
