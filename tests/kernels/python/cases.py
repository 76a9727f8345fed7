"""Makes batches of verification and their distributions, and tests them.

Distributions: N requests have the same rows, and drafted tokens are drawn from the draft. Then the token at each position has the target's
distribution given that all before it were accepted, and the number accepted has the distribution that follows from acceptance at each position.
Null: this holds. Each p-value is compared with 1e-9. Power: a planted fault draws from the target instead of the residual after a rejection; at N = 20,000 and more
its p-value is below 1e-100.
"""
import math

import torch
from verify_methods import checks

LEVEL = 1e-9
VOCAB, GAMMA = checks.VOCAB, checks.GAMMA


def rows(seed=1):
    """Returns logits [GAMMA + 1, VOCAB] and [GAMMA, VOCAB] in float32."""
    return tuple(torch.tensor(side) for side in checks.rows(seed))


def drafted_of(draft, count, generator):
    return torch.stack([torch.multinomial(row.double().softmax(-1), count, replacement=True, generator=generator)
                        for row in draft], 1)


def p_value(target, draft, drafted, accepted, following):
    """Returns the smallest of a p-value for each position's token and one for the number accepted."""
    p, q = ([checks.softmax(row) for row in side.tolist()] for side in (target, draft))
    alphas = [sum(map(min, a, b)) for a, b in zip(p, q)]
    kept = [math.prod(alphas[:k]) * (1 - alphas[k] if k < len(alphas) else 1) for k in range(len(p))]
    counts = torch.bincount(torch.as_tensor(accepted), minlength=len(kept)).tolist()
    statistic = sum((n - len(accepted) * mean) ** 2 / (len(accepted) * mean) for n, mean in zip(counts, kept))
    assert len(kept) % 2 == 1  # the tail needs an even number of degrees of freedom
    of_tokens = checks.law_p_values(p, drafted.tolist(), accepted, following)
    return min(*of_tokens, checks.chi_squared_tail(statistic, len(kept) - 1))


def from_padded(tokens):
    """Returns accepted and following, as lists, from tokens [B, gamma + 1] padded with -1."""
    counts = (tokens >= 0).sum(1)
    return (counts - 1).tolist(), tokens.gather(1, (counts - 1)[:, None].to(torch.int64))[:, 0].tolist()


def faulty(tokens, target, generator):
    """Plants the fault: tokens after a rejection are drawn again, from the target."""
    accepted, _ = from_padded(tokens)
    rows_of = target.double().softmax(-1)[torch.tensor(accepted)]
    return accepted, torch.multinomial(rows_of, 1, generator=generator)[:, 0].tolist()


def definition(target, draft, drafted, uniforms, length=None):
    """Returns the tokens, and the distance of the uniforms from another outcome, by rows of probabilities in float64 [gamma + 1, V]; with draft None
    drafts were certain."""
    kept, margin = 0, 1.0
    length = len(drafted) if length is None else length
    while kept < length:
        token = int(drafted[kept])
        inside = 0 <= token < target.shape[1]
        q = 1.0 if draft is None or not inside else float(draft[kept, token])
        ratio = float(target[kept, token]) / q if inside and q > 0 else 0.0
        margin = min(margin, abs(float(uniforms[kept]) - ratio))
        if not float(uniforms[kept]) < ratio:
            break
        kept += 1
    weights = target[kept].clone()
    if kept < length and draft is not None:
        weights = (weights - draft[kept]).clamp(min=0)
    elif kept < length and 0 <= int(drafted[kept]) < len(weights):
        weights[int(drafted[kept])] = 0
    sums = weights.cumsum(0)
    goal = float(uniforms[-1]) * float(sums[-1])
    inner = sums[(sums > 0) & (sums < sums[-1])]
    if len(inner):
        margin = min(margin, float((inner - goal).abs().min()))
    found = int(((sums <= goal) | (weights <= 0)).long().argmin())
    return [int(x) for x in drafted[:kept]] + [found], margin
