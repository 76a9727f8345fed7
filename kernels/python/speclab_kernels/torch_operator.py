"""Verification as an operator of torch: torch.ops.speclab.verify, with `verify` before it, which takes options by name.

On CUDA tensors it launches kernels on the current stream and waits for nothing; on CPU tensors the program that defines the
answer runs, in double precision. torch.compile takes it as one node: its fake implementation says shapes.
"""
from typing import NamedTuple, Optional, Tuple

import torch
from torch import Tensor

from .c_library import METHODS, RESIDUALS, SpeclabError, batch_of, library


class Verified(NamedTuple):
    """int32 on the device of the logits, for B requests of up to gamma drafted tokens."""
    tokens: Tensor  # [B, gamma + 1] the accepted tokens, the next one, and -1 behind them
    counts: Tensor  # [B] how many of them are tokens
    accepted: Tensor  # [B] how many of the drafted ones
    next: Tensor  # [B] the token after them; -2 where a row that matters is damaged
    flags: Tensor  # [B] bits of speclab_verify_batch.flags


def addresses(seed, trials, round=0):
    """Addresses of random numbers, [B, 2] int64, from a seed and an integer tensor [B] that tells requests apart, such as
    their ids; `round` is the decoding step, a number or a tensor [B]. The same address gives the same tokens, wherever in a
    batch. Numbers of 0 to 2^32 - 1; seeds of 64 bits."""
    trials = torch.as_tensor(trials).to(torch.int64)
    seed = seed - (1 << 64) if isinstance(seed, int) and seed >= 1 << 63 else seed
    # Both halves lie in one word, the trial in the lower one.
    return torch.stack((torch.as_tensor(seed, dtype=torch.int64, device=trials.device).expand_as(trials),
                        trials + torch.as_tensor(round, dtype=torch.int64, device=trials.device) * (1 << 32)), 1)


_workspaces = {}


def _workspace(size, device, stream):
    """Scratch that calls on one stream share: they follow one another. It grows, and is never given back. A graph that is being
    captured gets its own, which lives in the graph's memory."""
    if torch.cuda.is_current_stream_capturing():
        return torch.empty(size, dtype=torch.uint8, device=device)
    kept = _workspaces.get((device, stream))
    if kept is None or kept.numel() < size:
        kept = _workspaces[device, stream] = torch.empty(size, dtype=torch.uint8, device=device)
    return kept


def _outputs(target, drafted):
    requests, gamma = drafted.shape
    made = [torch.empty(shape, dtype=torch.int32, device=target.device)
            for shape in ((requests, gamma + 1), (requests,), (requests,), (requests,), (requests,))]
    return tuple(made)


@torch.library.custom_op("speclab::verify", mutates_args=())
def _verify(target: Tensor, draft: Optional[Tensor], drafted: Tensor, uniforms: Optional[Tensor],
            addresses: Optional[Tensor], lengths: Optional[Tensor], target_temperature: Optional[Tensor],
            target_cutoff: Optional[Tensor], target_log_sum_exp: Optional[Tensor], draft_temperature: Optional[Tensor],
            draft_cutoff: Optional[Tensor], draft_log_sum_exp: Optional[Tensor], method: str, lenience: float,
            residual: str, implementation: str) -> Tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    options = [dict(zip(("temperature", "cutoff", "log_sum_exp"), side))
               for side in ((target_temperature, target_cutoff, target_log_sum_exp), (draft_temperature, draft_cutoff, draft_log_sum_exp))]
    outputs = tokens, counts, accepted, following, flags = _outputs(target, drafted)
    batch = batch_of(target, draft, drafted, accepted, following, flags=flags, uniforms=uniforms, addresses=addresses,
                     lengths=lengths, method=method, lenience=lenience, residual=residual,
                     implementation=library().number_of(implementation or "fused"), target_options=options[0],
                     draft_options=options[1], tokens=tokens, counts=counts)
    run(batch, target.device, emulate=implementation != "")
    return outputs


def run(batch, device, emulate=False):
    """Verifies a Batch on the device where its arrays are."""
    kernels = library()
    if device.type == "cpu":
        kernels.on_cpu(batch, emulate)
    elif device.type == "cuda":
        with torch.cuda.device(device):
            stream = torch.cuda.current_stream().cuda_stream
            workspace = _workspace(kernels.workspace_bytes(batch), device, stream)
            kernels.launch(batch, workspace.data_ptr(), workspace.numel(), stream)
    else:
        raise SpeclabError(f"target is on {device}: a CUDA device or the CPU is needed")


@_verify.register_fake
def _(target, draft, drafted, *others):
    return _outputs(target, drafted)


def verify(target: Tensor, draft: Optional[Tensor], drafted: Tensor, uniforms: Optional[Tensor] = None, *,
           addresses: Optional[Tensor] = None, lengths: Optional[Tensor] = None, target_temperature=None, target_cutoff=None,
           target_log_sum_exp=None, draft_temperature=None, draft_cutoff=None, draft_log_sum_exp=None, method="token",
           lenience=1.0, residual="target_minus_draft", implementation="") -> Verified:
    """Verifies the drafted tokens of a batch.

    target      [B, gamma + 1, V] logits in float32, bfloat16 or float16, the last dimension dense
    draft       [B, gamma, V] in any of them; None where drafts were certain (look-up of n-grams)
    drafted     [B, gamma] integers; an id outside of the vocabulary, such as -1, is rejected
    uniforms    [B, gamma + 1] float64 in [0, 1): for each position, then for the next token; or
    addresses   [B, 2] where random numbers are (`addresses`); without either uniforms come from torch's generator
    lengths     [B] drafted tokens of each request, up to gamma
    *_temperature, *_cutoff, *_log_sum_exp
                [B, gamma + 1] of the target, [B, gamma] of the draft, float32; temperature also a number or [B]. Logits below
                the cut-off have no probability; log_sum_exp, of logits / temperature that are kept, saves a reading of the rows
    method      token (exact), block (exact: Sun et al. 2024) or lenient (not exact), with `lenience` and `residual`
    implementation
                which kernels: `library().implementations()`; named on the CPU, their source runs in an emulator, thread by
                thread, in milliseconds a request

    Raises SpeclabError with the library's sentence for what does not fit."""
    requests, positions = target.shape[:2] if target.dim() == 3 else (0, 0)
    if target.dim() != 3 or drafted.dim() != 2 or positions != drafted.shape[1] + 1:
        raise SpeclabError(f"target is {tuple(target.shape)} and drafted {tuple(drafted.shape)}: "
                           "[B, gamma + 1, V] and [B, gamma] are needed")
    for name, tensor in (("draft", draft), ("drafted", drafted), ("uniforms", uniforms), ("addresses", addresses),
                         ("lengths", lengths)):
        if tensor is not None and tensor.device != target.device:
            raise SpeclabError(f"{name} is on {tensor.device} and target on {target.device}: one device is needed")
    for name, value, known in (("method", method, METHODS), ("residual", residual, RESIDUALS)):
        if value not in known:
            raise SpeclabError(f"{name} is {value!r}: one of {', '.join(known)} is needed")
    if uniforms is None and addresses is None:
        uniforms = torch.rand(requests, positions, dtype=torch.float64, device=target.device)

    def of_rows(value, count):
        if value is None:
            return None
        value = torch.as_tensor(value, dtype=torch.float32, device=target.device)
        return (value[:, None] if value.dim() == 1 else value).expand(requests, count).contiguous()

    return Verified(*_verify(
        target, draft, drafted.to(torch.int32).contiguous(), uniforms, addresses,
        None if lengths is None else lengths.to(torch.int32), of_rows(target_temperature, positions),
        of_rows(target_cutoff, positions), of_rows(target_log_sum_exp, positions),
        of_rows(draft_temperature, positions - 1), of_rows(draft_cutoff, positions - 1),
        of_rows(draft_log_sum_exp, positions - 1), method, float(lenience), residual, implementation))
