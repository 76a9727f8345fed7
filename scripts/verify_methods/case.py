"""Makes the tensors that every method verifies, and the decisions that it must make.

A method is given a case (target [B, gamma + 1, V] and draft [B, gamma, V] logits, drafted [B, gamma], uniforms
[B, gamma + 1] in float64) and returns accepted and next, [B] each.
"""
from dataclasses import dataclass
from typing import Callable

import torch

TEMPERATURE = 0.7  # of methods with a temperature


@dataclass
class Case:
    target: torch.Tensor
    draft: torch.Tensor
    drafted: torch.Tensor
    uniforms: torch.Tensor


@dataclass
class Method:
    name: str
    what: str
    prepare: Callable  # takes a Case; returns a function without arguments that returns accepted, next
    injected: bool  # whether the uniforms of the case decide
    waits: bool = False  # whether it waits for the device, and so cannot be captured in a graph


def ends_of(case):
    requests, gamma = case.drafted.shape
    return torch.arange(1, requests + 1, dtype=torch.int32, device=case.drafted.device) * gamma


def accepted_and_following(tokens):
    accepted = (tokens >= 0).sum(1) - 1
    return accepted, tokens.gather(1, accepted[:, None])[:, 0]


def reference(case):
    """accepted, next and margin, in float64 on the CPU. The margin is the distance of the uniforms from another outcome: the smaller
    of |u - ratio| over the acceptance draws made, and the probability between u * total and the nearest edge of the cumulative sums."""
    target, draft = (logits.double().cpu().softmax(-1) for logits in (case.target, case.draft))
    drafted, uniforms = case.drafted.cpu(), case.uniforms.cpu()
    accepted, following, margins = [], [], []
    for p, q, tokens, u in zip(target, draft, drafted, uniforms):
        kept, margin = 0, 1.0
        while kept < len(tokens):
            ratio = float(p[kept, tokens[kept]] / q[kept, tokens[kept]])
            margin = min(margin, abs(float(u[kept]) - ratio))
            if float(u[kept]) >= ratio:
                break
            kept += 1
        weights = p[kept] if kept == len(tokens) else (p[kept] - q[kept]).clamp(min=0)
        sums = weights.cumsum(0)
        goal = u[-1] * sums[-1]
        margin = min(margin, float((sums - goal).abs().min()))
        accepted.append(kept)
        following.append(int((sums <= goal).sum()))
        margins.append(margin)
    return accepted, following, margins
