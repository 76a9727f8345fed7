"""Replaces transformers' function that verifies drafts (assisted generation with sampling):

    import transformers.generation.utils as utils
    from speclab_kernels.hugging_face import speculative_sampling
    utils._speculative_sampling = speculative_sampling
"""
import torch

from .torch_operator import verify


def speculative_sampling(candidate_input_ids, candidate_logits, candidate_length, new_logits, assistant_ensemble_weight=None, *,
                         is_done_candidate=None, uniforms=None):
    """Verifies one request with the arguments and results of transformers' `_speculative_sampling`: ids [1, length], whose last
    `candidate_length` are drafted; logits [1, candidate_length, V] and [1, candidate_length + 1, V]. Returns the accepted tokens and the
    next one [1, n + 1], and n as a tensor. Transformers before 5 passes `is_done_candidate` as the fifth argument, a bool: if it is set and
    all drafted tokens are accepted, the last of them ends the text and no token follows it. `uniforms` [1, candidate_length + 1]
    float64 replace torch's generator."""
    if isinstance(assistant_ensemble_weight, bool):
        is_done_candidate, assistant_ensemble_weight = assistant_ensemble_weight, None
    if candidate_logits.shape[0] != 1 or new_logits.shape[0] != 1:
        raise ValueError(f"logits are of {new_logits.shape[0]} requests: this function takes one, speclab_kernels.verify a batch")
    drafted = candidate_input_ids[:, -candidate_length:] if candidate_length else candidate_input_ids[:, :0]
    target, draft = new_logits.detach(), candidate_logits.detach()
    if assistant_ensemble_weight is not None:
        target = _ensemble(target, draft, float(assistant_ensemble_weight))
    target, draft = (logits.float() if logits.dtype == torch.float64 else logits for logits in (target, draft))
    result = verify(*(rows if rows.stride(-1) == 1 else rows.contiguous() for rows in (target, draft)), drafted, uniforms)
    count = int(result.counts)
    if int(result.flags) & 1:
        raise ValueError("logits hold NaN or infinity, or a row without probability")
    tokens = result.tokens[:, :count].to(candidate_input_ids.dtype)
    accepted = result.accepted[0].to(torch.int64)
    if is_done_candidate and count == candidate_length + 1:
        return tokens[:, :-1], accepted - 1
    return tokens, accepted


def _ensemble(target, draft, weight):
    """Returns the target against which drafts are verified with an ensemble: v = w p + (1 - w) q. After a rejection (v - q)+ = w (p - q)+, as
    without; the last row stays the target's."""
    length = draft.shape[1]
    p, q = target.double().softmax(-1), draft.double().softmax(-1)
    mixed = (weight * p[:, :length] + (1 - weight) * q).log()
    return torch.cat((mixed, p[:, length:].log()), 1).float()
