"""Replaces the function rejection_sample of vLLM's second model runner (vllm/v1/worker/gpu/spec_decode/rejection_sampler_utils.py):

    import vllm.v1.worker.gpu.spec_decode.rejection_sampler as sampler
    from speclab_kernels.vllm_model_runner import rejection_sample
    sampler.rejection_sample = rejection_sample

Arguments are vLLM's: target_logits [num_logits, V], a row for each drafted token and one more per request; draft_logits [slots, steps, V] before
division by the temperature, or None if drafts were certain; draft_sampled [num_logits], for each request the token before its drafted ones and
these, -1 where nothing was drafted; cu_num_logits [requests + 1]; pos [num_logits] int64; idx_mapping [requests], the slots; temperature and seed
int64, by slot. Results are vLLM's: tokens [requests, steps + 1] int64, padded with -1, and their counts [requests] int32. Requests at temperature
0 take the lowest id of the largest logit. After a damaged row (NaN) id 0 follows, because that model runner needs a token of every request.

With `temperature_applied=False` target logits are as the model gave them, in any format, and are divided by the temperature as they are read, so
that vLLM's copy in fp32 is not needed. Modes that are not exact (synthetic acceptance, FLy) and watermarks are refused.
"""
import torch

from .c_library import METHODS, TIES, Batch, Rows, View, dtype_of, pointer
from .torch_operator import after_damage, run


def rejection_sample(target_logits, draft_logits, draft_sampled, cu_num_logits, pos, idx_mapping, expanded_idx_mapping, expanded_local_pos,
                     temperature, seed, num_speculative_steps, synthetic_conditional_rates=None, use_fp64=False, use_block_verification=False,
                     contexts=None, watermarking=None, watermarking_skip_mask=None, watermark_key=None, fly_window_size=0,
                     fly_entropy_threshold=0.3, fly_entropy_top_k=3, *, temperature_applied=True):
    """Verifies by libspeclab_kernels.so, on a GPU or the CPU. Draws are the library's, by seed and the position of a request's first row: the same
    in any slot of any batch, but different from vLLM's."""
    if synthetic_conditional_rates is not None or fly_window_size > 0:
        raise NotImplementedError("synthetic acceptance and FLy change the output's distribution: use vLLM's own function")
    if contexts is not None:
        raise NotImplementedError("watermarks are not known here: use vLLM's own function")
    requests, steps = cu_num_logits.shape[0] - 1, num_speculative_steps
    device = target_logits.device
    # Variables keep these tensors alive until the launch.
    starts, slots, sampled = (tensor.to(torch.int32) for tensor in (cu_num_logits, idx_mapping, draft_sampled))
    positions, seeds = pos.to(torch.int64), seed.to(torch.int64)
    heat = temperature.to(torch.float32)
    target_heat = (heat != 0).float() if temperature_applied else heat
    # At temperature 0 only the target's largest logit decides; a draft row at temperature 0 would give probability 0 to any id but its own largest.
    draft_heat = torch.where(heat == 0, 1.0, heat)
    # A request ends before the first place where nothing was drafted.
    places = torch.arange(steps, device=device)
    drafted = sampled[(starts[:-1, None] + 1 + places).clamp(max=sampled.shape[0] - 1)]
    there = (places < (starts[1:] - starts[:-1] - 1)[:, None]) & (drafted >= 0)
    lengths = there.int().cumprod(1).sum(1, dtype=torch.int32)
    tokens = torch.empty(requests, steps + 1, dtype=torch.int32, device=device)
    accepted, following = (torch.empty(requests, dtype=torch.int32, device=device) for _ in range(2))

    def by_slot(tensor):
        return View(pointer(tensor), pointer(slots), tensor.stride(0), 0)
    vocab, draft = target_logits.shape[1], {}
    if draft_logits is not None:
        # Ids that the draft does not have get probability 0 in its rows.
        draft = dict(draft_vocab=min(vocab, draft_logits.shape[2]), draft_dtype=dtype_of("draft_logits", draft_logits),
                     draft=Rows(pointer(draft_logits), draft_logits.stride(0), draft_logits.stride(1)),
                     draft_index=pointer(slots), draft_temperature=by_slot(draft_heat))
    run(Batch(requests=requests, gamma=steps, vocab=vocab, method=METHODS["block" if use_block_verification else "token"], ties=TIES["lowest"],
              target_dtype=dtype_of("target_logits", target_logits),
              target=Rows(pointer(target_logits), target_logits.stride(0), target_logits.stride(0)), target_index=pointer(starts),
              target_temperature=by_slot(target_heat), lengths=pointer(lengths),
              drafted_view=View(pointer(sampled) + sampled.element_size() * sampled.stride(0), pointer(starts), sampled.stride(0),
                                sampled.stride(0)),
              seeds=by_slot(seeds), positions=View(pointer(positions), pointer(starts), positions.stride(0), 0),
              accepted=pointer(accepted), next=pointer(following), tokens=pointer(tokens), **draft), device)
    return after_damage(tokens, accepted, following).long(), accepted + 1
