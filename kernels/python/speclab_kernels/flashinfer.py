"""Replaces flashinfer.sampling.chain_speculative_sampling, with its arguments and results."""
import torch

from .c_library import PROBABILITIES, batch_of
from .torch_operator import run

_GOLDEN = 0x9E3779B97F4A7C15


def chain_speculative_sampling(draft_probs, draft_token_ids, target_probs, maybe_output_accepted_token_num=None,
                               maybe_output_emitted_draft_token_num=None, deterministic=True, generator=None, seed=None,
                               offset=None, *, uniforms=None):
    """Verifies draft_token_ids [B, gamma] with draft_probs [B, gamma, V] and target_probs [B, gamma + 1, V]. Returns the tokens
    [B, gamma + 1], padded with -1; the number of drafted tokens that would be accepted each on its own [B]; and the number accepted before
    the next token [B]. The last two are added to the tensors that are given for them. Results are deterministic in any case.

    When it counts tokens on their own, FlashInfer's kernel draws a second uniform for the rejected token; here each token has
    one, as FlashInfer's documentation says.

    Randomness comes from `generator`, from `seed` and `offset` (numbers or integer tensors [1] or [B], as FlashInfer takes them;
    the numbers drawn differ from FlashInfer's), or from `uniforms` [B, gamma + 1] float64. With a seed for each request,
    a request gets the same tokens in any slot of a batch."""
    requests, gamma = draft_token_ids.shape
    device = target_probs.device
    if uniforms is None:
        if seed is not None:
            uniforms = _addressed(seed, 0 if offset is None else offset, requests, gamma + 1, device)
        else:
            uniforms = torch.rand(requests, gamma + 1, dtype=torch.float64, device=device, generator=generator)
    tokens = torch.empty(requests, gamma + 1, dtype=torch.int32, device=device)
    emitted, last = (torch.empty(requests, dtype=torch.int32, device=device) for _ in range(2))
    drafted = draft_token_ids.to(torch.int32).contiguous()
    uniforms = uniforms.contiguous()
    run(batch_of(target_probs, draft_probs, drafted, emitted, last, uniforms=uniforms, tokens=tokens, target_kind=PROBABILITIES,
                 draft_kind=PROBABILITIES), device)
    inside = (draft_token_ids >= 0) & (draft_token_ids < target_probs.shape[2])
    ids = torch.where(inside, draft_token_ids, 0).to(torch.int64)[..., None]
    p = target_probs[:, :gamma].gather(2, ids)[..., 0].double()
    q = draft_probs.gather(2, ids)[..., 0].double()
    alone = (inside & (uniforms[:, :gamma] * q < p)).sum(1, dtype=torch.int32)
    results = []
    for found, given in ((alone, maybe_output_accepted_token_num), (emitted, maybe_output_emitted_draft_token_num)):
        results.append(found if given is None else given.add_(found.to(given.dtype)))
    return tokens.to(draft_token_ids.dtype), *results


def _mixed(x):
    """Returns the finaliser of splitmix64 (Steele et al. 2014), on int64: torch's arithmetic wraps, and its shifts keep the sign."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ ((x >> shift) & ((1 << (64 - shift)) - 1))) * (factor - (1 << 64))
    return x ^ ((x >> 31) & ((1 << 33) - 1))


def _addressed(seed, offset, requests, count, device):
    """Returns uniforms [requests, count] by seed and offset, without waiting for the device. If requests share a seed, their slots distinguish
    them."""
    def column(value):
        wrapped = value - (1 << 64) if isinstance(value, int) and value >= 1 << 63 else value
        return torch.as_tensor(wrapped, device=device).to(torch.int64).reshape(-1, 1)
    seed, offset = column(seed), column(offset)
    slots = torch.arange(requests, device=device)[:, None] if seed.shape[0] == 1 else 0
    stream = _mixed(_mixed(seed) + slots)
    numbers = offset + torch.arange(count, device=device)
    bits = _mixed(stream + (numbers + 1) * (_GOLDEN - (1 << 64)))
    return (((bits >> 11) & ((1 << 53) - 1)).double() * 2.0 ** -53).expand(requests, count)
