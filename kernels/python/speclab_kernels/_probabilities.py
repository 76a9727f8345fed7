"""Verification of drafted tokens from probabilities instead of logits."""
import torch

from .torch_operator import verify


def _triton():
    """Our kernels in Triton; None where it is missing."""
    try:
        from . import fused_triton
    except ImportError:
        return None
    return fused_triton


def verify_probabilities(target, draft, drafted, uniforms):
    """tokens, counts, flags for target [B, gamma + 1, V], draft [B, gamma, V], drafted [B, gamma], uniforms [B, gamma + 1]."""
    requests, gamma = drafted.shape
    fused = _triton() if target.device.type == "cuda" else None
    if fused is not None:
        ends = torch.arange(1, requests + 1, dtype=torch.int32, device=target.device) * gamma
        return fused.verify(target.reshape(-1, target.shape[2]), draft.reshape(-1, draft.shape[2]), drafted.reshape(-1), ends, gamma,
                            uniforms[:, :gamma].reshape(-1), uniforms[:, gamma].contiguous(), target_is=fused.PROBABILITIES,
                            draft_is=fused.PROBABILITIES)
    # ln p as logits: softmax gives p back.
    result = verify(target.float().log(), draft.float().log(), drafted, uniforms.contiguous())
    return result.tokens, result.counts, result.flags
