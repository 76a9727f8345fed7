"""What engines could accept, on rows that are known: the expected tokens per target step of lossless schemes, for sequences of a
given length. The last one, block verification, is the optimum: no lossless scheme with one drafted path emits more in a round (Sun
et al. 2024).

Rows are [V, V]: row i is the distribution after token i.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from .._interval import Interval

Rows = npt.NDArray[np.float64]

#: Of a 95% interval.
NORMAL = 1.959963984540054


def filtered(rows: Rows, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0, min_p: float = 0.0) -> Rows:
    """The rows that are sampled from. Of equal probabilities the lower id counts as the larger; temperature 0 takes the likeliest."""
    out = np.zeros_like(rows)
    for at, row in enumerate(rows):
        order = np.argsort(-row, kind="stable")
        if temperature == 0:
            out[at, order[0]] = 1
            continue
        positive = row > 0
        weights = np.where(positive, np.exp(np.log(np.where(positive, row, 1)) / temperature), 0)
        weights /= weights.sum()
        kept = order[: top_k or len(row)]
        # The smallest set that reaches top_p; rounding must not ask for one more.
        sums = np.cumsum(weights[kept]) / weights[kept].sum()
        kept = kept[: int(np.searchsorted(sums, top_p - 1e-12)) + 1]
        kept = kept[weights[kept] >= min_p * weights[order[0]]]
        out[at, kept] = weights[kept]
    return out / out.sum(axis=1, keepdims=True)


SCHEMES = ("Σ p q", "p(argmax q)", "Σ min(p, q)", "block")


def round_of(scheme: str, target: Rows, draft: Rows, gamma: int) -> Rows:
    """[gamma + 1, V, V]: P(a round accepts i drafted tokens and then emits y | the token before the round)."""
    if scheme == "block":
        return np.stack([_block(target, draft, gamma, before) for before in range(len(target))], axis=1)
    if scheme == "Σ p q":
        accepted = target * draft
    elif scheme == "p(argmax q)":
        likeliest = np.zeros_like(draft)
        likeliest[np.arange(len(draft)), draft.argmax(axis=1)] = 1
        accepted = target * likeliest
    else:
        accepted = np.minimum(target, draft)
    # These replace the first token that is not accepted so that what is emitted has the target's row.
    out, passed = [], np.eye(len(target))
    for _ in range(gamma):
        out.append(passed @ (target - accepted))
        passed = passed @ accepted
    return np.stack([*out, passed @ target])


def _block(target: Rows, draft: Rows, gamma: int, before: int) -> Rows:
    """Algorithm 2 of Sun et al. 2024 over all drafted paths at once: [gamma + 1, V]. A path is kept up to the last position whose own
    acceptance h succeeds."""
    vocab = len(target)
    last, weight, drafted, h = [np.array([before])], [np.ones(1)], [np.ones(1)], [np.ones(1)]
    residual = []
    for depth in range(gamma + 1):
        rows, q_rows = target[last[-1]], draft[last[-1]]
        if depth < gamma:
            residual.append(np.maximum(weight[-1][:, None] * rows - q_rows, 0))
            missing = residual[-1].sum(axis=1)
            if depth:
                h.append(np.where(weight[-1] < 1, missing / np.maximum(missing + 1 - weight[-1], 1e-300), 1.0))
            ratio = np.divide(rows, q_rows, out=np.zeros_like(rows), where=q_rows > 0)
            weight.append(np.minimum(weight[-1][:, None] * ratio, 1).ravel())
            drafted.append((drafted[-1][:, None] * q_rows).ravel())
            last.append(np.tile(np.arange(vocab), len(rows)))
        else:
            residual.append(rows)
            if depth:
                h.append(weight[-1])
    none_later = np.ones(vocab**gamma)
    out = np.zeros((gamma + 1, vocab))
    for depth in range(gamma, -1, -1):
        kept = drafted[depth] * h[depth] * none_later
        total = residual[depth].sum(axis=1, keepdims=True)
        # Where nothing is left the target's row stands; such a path is never kept there, but for equal rows.
        emitted = np.where(total > 0, residual[depth] / np.where(total > 0, total, 1), target[last[depth]])
        out[depth] = kept @ emitted
        if depth:
            none_later = (draft[last[depth - 1]] * ((1 - h[depth]) * none_later).reshape(-1, vocab)).sum(axis=1)
    return out


def expected_steps(rounds: Rows, tokens: int) -> Rows:
    """Expected target steps for so many tokens, by the token before them. What is drafted beyond the last token changes nothing."""
    steps = np.zeros((tokens + 1, rounds.shape[1]))
    for left in range(1, tokens + 1):
        steps[left] = 1 + sum(rounds[i] @ steps[left - 1 - i] for i in range(min(len(rounds), left)))
    return steps[tokens]


def tokens_per_step(rounds: Rows, target: Rows, tokens: int, before: int, first_by_prompt: bool) -> float:
    """Tokens of a sequence, without the one that the prompt's run may emit, over expected target steps for them."""
    if first_by_prompt:
        return (tokens - 1) / float(target[before] @ expected_steps(rounds, tokens - 1))
    return tokens / float(expected_steps(rounds, tokens)[before])


def measured(groups: npt.NDArray[np.int64], tokens: int, first_by_prompt: bool) -> Interval | None:
    """Tokens per target step, with the 95% interval of a ratio whose denominator is a mean over groups; None where steps are not
    counted, or of one group together."""
    if len(groups) < 2 or (groups[:, 3] < 0).any() or not groups[:, 3].sum():
        return None
    counted = groups[:, 0] * (tokens - 1 if first_by_prompt else tokens)
    ratio = counted.sum() / groups[:, 3].sum()
    residual = counted - ratio * groups[:, 3]
    half = NORMAL * math.sqrt(float((residual**2).sum()) * len(groups) / (len(groups) - 1)) / float(groups[:, 3].sum())
    return Interval(float(ratio), float(ratio - half), float(ratio + half))
