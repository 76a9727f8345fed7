"""Replaces vLLM's rejection_sample (of its V1 engine, vllm/v1/sample/rejection_sampler.py):

    import vllm.v1.sample.rejection_sampler as sampler
    from speclab_kernels.vllm import rejection_sample
    sampler.rejection_sample = rejection_sample
"""
import torch

from .c_library import flat_batch_of
from .torch_operator import after_damage, run


def rejection_sample(draft_token_ids, num_draft_tokens, max_spec_len, cu_num_draft_tokens, draft_probs, target_logits,
                     bonus_token_ids, sampling_metadata, synthetic_mode=False, synthetic_conditional_rates=None,
                     use_fp64_gumbel=False, fly_window_size=None, fly_entropy_threshold=None, fly_entropy_top_k=3, *,
                     next_uniforms=None):
    """Takes the arguments of vLLM's function: draft_token_ids [tokens], cu_num_draft_tokens [B] cumulative, draft_probs
    [tokens, V] or None, target_logits [tokens, V] with temperatures and cut-offs applied, bonus_token_ids [B, 1]. Returns tokens
    [B, max_spec_len + 1] int32, padded with -1. Requests at temperature 0 take the largest logit's id.
    After a damaged row (NaN) id 0 follows, because vLLM's scheduler needs a token of every request.

    The acceptance draws are vLLM's own: the same generators give the same accepted counts. The token after a rejection takes one
    uniform in float64, from `next_uniforms` [B] if given, where vLLM draws an exponential for each id.
    `use_fp64_gumbel` therefore changes nothing. Modes that are not exact (synthetic acceptance, FLy) are refused."""
    if synthetic_mode or fly_window_size is not None:
        raise NotImplementedError("synthetic acceptance and FLy change the output's distribution: use vLLM's own function")
    requests = len(num_draft_tokens)
    device = target_logits.device
    if target_logits.shape[0] == 0:  # no request has drafted tokens
        return torch.nn.functional.pad(bonus_token_ids.reshape(-1, 1).to(torch.int32), (0, max_spec_len), value=-1)
    if sampling_metadata.all_greedy:
        # Nothing is drawn, so that generators keep their states.
        uniforms, following = (torch.zeros(count, dtype=torch.float64, device=device) for count in (draft_token_ids.shape[0], requests))
        temperature = torch.zeros(requests, device=device)
    else:
        uniforms, following = _uniforms(num_draft_tokens, sampling_metadata.generators, device)
        # Logits are divided by the temperature already; 0 means that the largest is taken.
        temperature = (sampling_metadata.temperature != 0).float()
    if next_uniforms is not None:
        following = next_uniforms
    starts = torch.nn.functional.pad(cu_num_draft_tokens.to(torch.int32), (1, 0))
    # The library needs the uniforms of a request side by side; those after its drafted tokens are never read.
    places = torch.arange(max_spec_len, device=device) + starts[:-1, None]
    coins = torch.cat((uniforms, uniforms.new_zeros(1)))[places.clamp(max=uniforms.shape[0])]
    coins = torch.cat((coins, following[:, None]), 1)
    # Variables keep these tensors alive until the launch.
    target = target_logits.float() if target_logits.dtype == torch.float64 else target_logits
    drafted, bonus = draft_token_ids.to(torch.int32), bonus_token_ids.reshape(-1).to(torch.int32)
    tokens = torch.empty(requests, max_spec_len + 1, dtype=torch.int32, device=device)
    accepted, last = (torch.empty(requests, dtype=torch.int32, device=device) for _ in range(2))
    batch = flat_batch_of(target, draft_probs, drafted, starts, max_spec_len, coins, accepted, last, tokens, bonus, temperature)
    run(batch, device)
    return after_damage(tokens, accepted, last)


def _uniforms(num_draft_tokens, generators, device):
    """Returns uniforms [tokens] for the acceptance draws, in vLLM's order, and [B] for the tokens after a rejection."""
    uniforms = torch.rand(sum(num_draft_tokens), dtype=torch.float64, device=device)
    following = torch.rand(len(num_draft_tokens), dtype=torch.float64, device=device)
    start = 0
    for request, count in enumerate(num_draft_tokens):
        generator = generators.get(request)
        if generator is not None and count > 0:
            uniforms[start:start + count].uniform_(generator=generator)
            following[request:request + 1].uniform_(generator=generator)
        start += count
    return uniforms, following
