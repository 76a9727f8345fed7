"""Verification in PyTorch: Hugging Face's own function, its algorithm, and a batched rewrite.

A method is given a case (target [B, gamma + 1, V] and draft [B, gamma, V] logits, drafted [B, gamma], uniforms
[B, gamma + 1] in float64) and returns accepted and next, [B] each.
"""
import inspect
from dataclasses import dataclass
from typing import Callable

import torch

TEMPERATURE = 0.7  # of the methods that have a temperature


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
    prepare: Callable  # of a Case: a function without arguments that returns accepted, next
    injected: bool  # whether the uniforms of the case decide
    waits: bool = False  # whether it waits for the device, and so cannot be captured in a graph


def ends_of(case):
    requests, gamma = case.drafted.shape
    return torch.arange(1, requests + 1, dtype=torch.int32, device=case.drafted.device) * gamma


def accepted_and_following(tokens):
    accepted = (tokens >= 0).sum(1) - 1
    return accepted, tokens.gather(1, accepted[:, None])[:, 0]


def one_by_one(function):
    """A function of one request, looped over the batch."""
    # Transformers had a fifth argument, whether the last candidate ended the text; in its place there is now a weight.
    more = {"is_done_candidate": False} if "is_done_candidate" in inspect.signature(function).parameters else {}

    def prepare(case):
        gamma = case.drafted.shape[1]

        def run():
            accepted, following = [], []
            for request in range(case.drafted.shape[0]):
                part = slice(request, request + 1)
                tokens, kept = function(case.drafted[part], case.draft[part].float(), gamma, case.target[part].float(), **more)
                accepted.append(kept)
                following.append(tokens[0, -1])
            return torch.stack(accepted), torch.stack(following)
        return run
    return prepare


def algorithm_of_one(drafted, draft_logits, gamma, target_logits, is_done_candidate):
    """Algorithm 1 of Leviathan et al. 2023 for one request, in the steps that Hugging Face documents for assisted
    generation with sampling: two softmaxes, coins for all positions, the residual of the first rejected one."""
    assert not is_done_candidate
    places = torch.arange(gamma, device=drafted.device)
    p, q = target_logits[0].softmax(-1), draft_logits[0].softmax(-1)
    tokens = drafted[0]
    ratio = p[places, tokens] / q[places, tokens]
    kept = (torch.rand_like(ratio) < ratio).long().cumprod(0).sum()
    weights = p[kept]
    if kept < gamma:
        weights = (weights - q[kept]).clamp(min=0)
        weights = weights / weights.sum()
    following = torch.multinomial(weights, 1)
    return torch.cat((tokens[:kept], following))[None], kept


def batched(target, draft, drafted, uniforms):
    """The same for a batch, without waiting for the device, by injected uniforms."""
    gamma = drafted.shape[1]
    p, q = (logits.softmax(-1, dtype=torch.float32) for logits in (target, draft))
    chosen = drafted[..., None]
    ratio = (p[:, :gamma].gather(2, chosen) / q.gather(2, chosen))[..., 0]
    kept = (uniforms[:, :gamma] < ratio).long().cumprod(1).sum(1)
    requests = torch.arange(drafted.shape[0], device=drafted.device)
    row = p[requests, kept]
    # A bonus row has nothing to subtract.
    other = q[requests, kept.clamp(max=gamma - 1)] * (kept < gamma)[:, None]
    sums = (row - other).clamp(min=0).cumsum(1)
    goal = uniforms[:, gamma:].float() * sums[:, -1:]
    return kept, (sums <= goal).sum(1)


def methods():
    found = []
    try:
        from transformers.generation.utils import _speculative_sampling
        found.append(Method("hf-loop", "Hugging Face's _speculative_sampling, request by request",
                            one_by_one(_speculative_sampling), injected=False, waits=True))
    except ImportError:
        found.append(Method("hf-algorithm-loop", "our own writing of Hugging Face's algorithm, request by request",
                            one_by_one(algorithm_of_one), injected=False, waits=True))

    def plain(case):
        return lambda: batched(case.target, case.draft, case.drafted, case.uniforms)

    of_shape = {}

    def compiled(case):
        shape = (case.target.shape, case.target.dtype)
        if shape not in of_shape:
            # After some shapes torch stops compiling for new ones, and runs the plain version without saying so.
            torch._dynamo.reset()
            of_shape.clear()
            of_shape[shape] = torch.compile(batched, dynamic=False)
        function = of_shape[shape]
        return lambda: function(case.target, case.draft, case.drafted, case.uniforms)
    found.append(Method("torch-batched", "a batched rewrite in PyTorch", plain, injected=True))
    found.append(Method("torch-compiled", "the same through torch.compile", compiled, injected=True))
    return found


def reference(case):
    """accepted, next and margin, in float64 on the CPU: how far the uniforms are from another outcome, as the smaller of
    |u - ratio| over the coins flipped and the mass between u * total and the nearest edge of the cumulative sums."""
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
