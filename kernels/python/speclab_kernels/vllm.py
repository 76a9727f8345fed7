"""In place of vLLM's rejection_sample (its V1 engine, vllm/v1/sample/rejection_sampler.py):

    import vllm.v1.sample.rejection_sampler as sampler
    from speclab_kernels.vllm import rejection_sample
    sampler.rejection_sample = rejection_sample
"""
import torch

from ._probabilities import _triton
from .torch_operator import verify


def rejection_sample(draft_token_ids, num_draft_tokens, max_spec_len, cu_num_draft_tokens, draft_probs, target_logits,
                     bonus_token_ids, sampling_metadata, synthetic_mode=False, synthetic_conditional_rates=None,
                     use_fp64_gumbel=False, fly_window_size=None, fly_entropy_threshold=None, fly_entropy_top_k=3, *,
                     next_uniforms=None):
    """Arguments and results of vLLM's function: draft_token_ids [tokens], cu_num_draft_tokens [B] cumulative, draft_probs
    [tokens, V] or None, target_logits [tokens, V] with temperatures and cut-offs applied, bonus_token_ids [B, 1]; tokens
    [B, max_spec_len + 1] int32, padded with -1. Requests at temperature 0 take the largest logit's id.

    The acceptance draws are vLLM's own: the same generators give the same accepted counts. The token after a rejection takes one
    uniform in float64, `next_uniforms` [B] where they are given, where vLLM lets as many exponentials race as there are ids.
    `use_fp64_gumbel` therefore changes nothing. Modes that are not exact (synthetic acceptance, FLy) are refused."""
    if synthetic_mode or fly_window_size is not None:
        raise NotImplementedError("synthetic acceptance and FLy change the output's distribution: use vLLM's own function")
    requests = len(num_draft_tokens)
    device = target_logits.device
    if sampling_metadata.all_greedy:
        # Nothing is drawn, so that generators stay where they are.
        uniforms, following = (torch.zeros(count, dtype=torch.float64, device=device) for count in (draft_token_ids.shape[0], requests))
        temperature = torch.zeros(requests, device=device)
    else:
        uniforms, following = _uniforms(num_draft_tokens, sampling_metadata.generators, device)
        # Logits are divided by the temperature already; 0 says that the largest is taken.
        temperature = (sampling_metadata.temperature != 0).float()
    if next_uniforms is not None:
        following = next_uniforms
    bonus = bonus_token_ids.reshape(-1)
    fused = _triton() if device.type == "cuda" else None
    if fused is not None:
        return fused.verify(target_logits, draft_probs, draft_token_ids, cu_num_draft_tokens, max_spec_len, uniforms, following, bonus,
                            temperature=temperature, draft_is=fused.PROBABILITIES)[0]
    return _padded(draft_token_ids, cu_num_draft_tokens, max_spec_len, draft_probs, target_logits, bonus, uniforms, following,
                   temperature)


def _uniforms(num_draft_tokens, generators, device):
    """[tokens] for the acceptance draws, in vLLM's order, and [B] for the tokens after a rejection."""
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


def _padded(drafted, ends, width, draft, target, bonus, uniforms, following, temperature):
    """By the C library, which takes as many rows of each request. Rows behind a request's drafted tokens are never looked at: the last
    one stands for them."""
    vocab = target.shape[1]
    requests = ends.shape[0]
    ends = ends.to(torch.int64)
    lengths = torch.diff(ends, prepend=ends.new_zeros(1))
    if target.shape[0] == 0:
        tokens = torch.full((requests, width + 1), -1, dtype=torch.int32, device=target.device)
        tokens[:, 0] = bonus
        return tokens
    target = target.float()
    greedy = temperature == 0
    largest = target.argmax(-1)
    rows = torch.arange(width + 1, device=target.device) + (ends - lengths)[:, None]
    rows = torch.minimum(rows, (ends - 1).clamp(min=0)[:, None])
    # Of a request at temperature 0 the lowest id of the largest logit takes all; elsewhere logits stay as they are.
    ids = torch.arange(vocab, device=target.device)
    owner = torch.repeat_interleave(torch.arange(requests, device=target.device), lengths)
    losing = greedy[owner][:, None] & (ids != largest[:, None])
    target = target.masked_fill(losing, float("-inf"))
    if draft is not None:
        # What a draft at temperature 0 was drawn from does not matter.
        draft = torch.where(greedy[owner][:, None], torch.full_like(draft, 1 / vocab), draft).float().log()[rows[:, :width]]
    coins = torch.cat((uniforms[rows[:, :width]], following[:, None]), 1)
    result = verify(target[rows], draft, drafted[rows[:, :width]], coins, lengths=lengths)
    # The bonus token stands where a request's tokens are all accepted.
    last = lengths[:, None]
    drawn = torch.where(result.accepted[:, None] == last, bonus.to(torch.int32)[:, None], result.tokens.gather(1, last))
    return result.tokens.scatter(1, last, drawn)
