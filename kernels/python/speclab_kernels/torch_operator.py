"""Offers verification as an operator of torch: torch.ops.speclab.verify, and `verify`, which calls it and takes options by name.

On CUDA tensors it launches kernels on the current stream and does not wait; on CPU tensors the program that defines the
answer runs, in double precision. torch.compile treats it as one node: its fake implementation returns shapes.
"""
import inspect
import math
from typing import NamedTuple, Optional, Tuple

import torch
from torch import Tensor

from .c_library import METHODS, RESIDUALS, TIES, SpeclabError, batch_of, library, view


class Verified(NamedTuple):
    """Results for B requests of up to gamma drafted tokens; int32 on the device of the logits."""
    tokens: Tensor  # [B, gamma + 1] the accepted tokens, the next one, and -1 after them
    counts: Tensor  # [B] number of tokens among them
    accepted: Tensor  # [B] number of accepted drafted tokens
    next: Tensor  # [B] the token after them; -2 if a row that matters is damaged (NaN, +inf, sum 0, an option out of range)
    flags: Tensor  # [B] bits of speclab_verify_batch.flags
    # With logs=True, float32 [B, gamma + 1]: ln of each token's probability under the target after cut-offs, which add up to ln of the probability
    # of all that was emitted, and ln of the sum that divides its row (at temperature 0 the largest logit); 0 after the tokens.
    log_probabilities: Optional[Tensor] = None
    log_sum_exps: Optional[Tensor] = None


def addresses(seed, trials, round=0):
    """Returns addresses of random numbers, [B, 2] int64, from a seed and an integer tensor [B] that distinguishes requests, such as
    their ids; `round` is the decoding step, a number or a tensor [B]. The same address gives the same tokens anywhere in a
    batch. Trials and rounds are 0 to 2^32 - 1 (those on a GPU are not checked); seeds have 64 bits. Raises SpeclabError for other numbers."""
    trials = _integers("trials", trials, 0, 1 << 32)
    if isinstance(seed, int) and 1 << 63 <= seed < 1 << 64:
        seed -= 1 << 64
    seed, round = (_integers(name, value, *ends).to(trials.device) for name, value, ends in
                   (("seed", seed, (-1 << 63, 1 << 63)), ("round", round, (0, 1 << 32))))
    # One word holds both, the trial in the lower half.
    return torch.stack((seed.expand_as(trials), trials + round * (1 << 32)), 1)


def _integers(name, value, least, end):
    """Returns integers as int64. Raises SpeclabError for others, and on the CPU for numbers out of range."""
    try:
        made = torch.as_tensor(value)
    except (OverflowError, RuntimeError, TypeError, ValueError):
        made = None
    if made is None or (made.dtype not in INTEGERS and made.numel() > 0):
        raise SpeclabError(f"{name} is {value}: integers are needed")
    made = made.to(torch.int64)
    if made.device.type == "cpu" and not bool(((made >= least) & (made <= end - 1)).all()):
        raise SpeclabError(f"{name} is {value}: integers from {least} to {end - 1} are needed")
    return made


INTEGERS = (torch.int32, torch.int64, torch.int16, torch.int8, torch.uint8)


def as_int32(name, value):
    """Returns a tensor of integers as int32. Those that do not fit become the nearest that do, which are as far out of range."""
    if value.dtype not in INTEGERS:
        raise SpeclabError(f"{name} is {value.dtype}: integers are needed, in {' or '.join(map(str, INTEGERS[:2]))}")
    return (value.clamp(-1 << 31, (1 << 31) - 1) if value.dtype == torch.int64 else value).to(torch.int32)


_workspaces = {}


def workspace_of(size, device, stream):
    """Returns scratch that calls on one stream share, since they follow one another. It grows and is never freed. A graph that is being captured
    gets scratch of its own, which lives in the graph's memory."""
    if torch.cuda.is_current_stream_capturing():
        return torch.empty(size, dtype=torch.uint8, device=device)
    kept = _workspaces.get((device, stream))
    if kept is None or kept.numel() < size:
        kept = _workspaces[device, stream] = torch.empty(size, dtype=torch.uint8, device=device)
    return kept


def _outputs(target, drafted, logs):
    """Returns tensors for the fields of Verified. Logarithms that were not asked for are empty, because an operator has a fixed number of
    results."""
    requests, gamma = drafted.shape
    shapes = [(torch.int32, (requests, gamma + 1)), *4 * [(torch.int32, (requests,))],
              *2 * [(torch.float32, (requests, gamma + 1) if logs else (0,))]]
    return tuple(torch.empty(shape, dtype=dtype, device=target.device) for dtype, shape in shapes)


@torch.library.custom_op("speclab::verify", mutates_args=())
def _verify(target: Tensor, draft: Optional[Tensor], drafted: Tensor, uniforms: Optional[Tensor], addresses: Optional[Tensor],
            seeds: Optional[Tensor], positions: Optional[Tensor], lengths: Optional[Tensor], mask: Optional[Tensor],
            top_k: Optional[Tensor], top_p: Optional[Tensor], min_p: Optional[Tensor], target_temperature: Optional[Tensor],
            target_cutoff: Optional[Tensor], target_log_sum_exp: Optional[Tensor], draft_temperature: Optional[Tensor],
            draft_cutoff: Optional[Tensor], draft_log_sum_exp: Optional[Tensor], method: str, lenience: float, residual: str,
            ties: str, logs: bool, implementation: str) -> Tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    outputs = _outputs(target, drafted, logs)
    run(_filled(**locals()), target.device, emulate=implementation != "")
    return outputs


def _filled(outputs, target, draft, drafted, uniforms, addresses, lengths, method, lenience, residual, ties, logs, implementation, **options):
    """Returns the Batch of a call whose results are `_outputs`."""
    tokens, counts, accepted, following, flags, *of_tokens = outputs
    views = option_views(target, drafted.shape[1], **options)
    if logs:
        views["log_probabilities"], views["log_sum_exps"] = (tensor.data_ptr() for tensor in of_tokens)
    return batch_of(target, draft, drafted, accepted, following, flags=flags, uniforms=uniforms, addresses=addresses,
                    lengths=lengths, method=method, lenience=lenience, residual=residual, tokens=tokens, counts=counts,
                    implementation=library().number_of(implementation or "fused"), ties=TIES[ties], **views)


def run(batch, device, emulate=False, workspace=None):
    """Verifies a Batch on the device that holds its arrays, with scratch that calls share, or a workspace of its own."""
    kernels = library()

    def launch(stream):
        scratch = workspace_of(kernels.workspace_bytes(batch), device, stream) if workspace is None else workspace
        kernels.launch(batch, scratch.data_ptr(), scratch.numel(), stream)

    run_on(device, lambda: kernels.on_cpu(batch, emulate), launch)


def after_damage(tokens, accepted, following):
    """Returns tokens with id 0 where a damaged row left no next token: engines need a token of every request."""
    return torch.where((following == -2)[:, None] & (torch.arange(tokens.shape[1], device=tokens.device) == accepted[:, None]), 0, tokens)


def run_on(device, on_cpu, launch):
    """Calls on_cpu(), or launch(stream) with the current stream of a CUDA device."""
    if device.type == "cpu":
        on_cpu()
    elif device.type == "cuda":
        with torch.cuda.device(device):
            launch(torch.cuda.current_stream().cuda_stream)
    else:
        raise SpeclabError(f"target is on {device}: a CUDA device or the CPU is needed")


@_verify.register_fake
def _(target, draft, drafted, *others):
    return _outputs(target, drafted, others[-2])


def need_one_device(target, **tensors):
    for name, tensor in {"target": target, **tensors}.items():
        if not isinstance(tensor, (Tensor, type(None))):
            raise SpeclabError(f"{name} is a {type(tensor).__name__}: a tensor is needed")
        if tensor is not None and tensor.device != target.device:
            raise SpeclabError(f"{name} is on {tensor.device} and target on {target.device}: one device is needed")


def need_known(**words):
    for name, (value, known) in words.items():
        if value not in known:
            raise SpeclabError(f"{name} is {value!r}: one of {', '.join(known)} is needed")


# The allowed numbers of options. Numbers in tensors are checked on the device: if out of range, their rows count as damaged.
_ALLOWED = {"seeds": (lambda value: -1 << 63 <= value < 1 << 64 and value == int(value), "an integer of 64 bits"),
            "positions": (lambda value: 0 <= value < 1 << 63 and value == int(value), "an integer of 64 bits, 0 or more,"),
            "top_k": (lambda value: 0 <= value < math.inf and value == int(value), "a whole number, 0 or more,"),
            "cutoff": (lambda value: value == value, "a number"),
            "top_p": (lambda value: 2.0**-150 < value <= 1, "a number above 0 and at most 1, in float32,"),
            "min_p": (lambda value: 0 <= value <= 1, "a number from 0 to 1"),
            "temperature": (lambda value: 0 <= value < math.inf, "a finite number, 0 or more,")}


def _form_of(name, target, draft_rows):
    """Returns the shape and dtype of an option of rows, of seeds or of positions, for a target [B, n, V] and `draft_rows` rows of a draft."""
    requests, positions, vocab = target.shape
    if name in ("seeds", "positions"):
        return (requests,), torch.int64
    if name == "mask":
        return (requests, positions, -(-vocab // 32)), torch.int32
    return (requests, draft_rows if name.startswith("draft_") else positions), torch.int32 if name == "top_k" else torch.float32


def option_views(target, draft_rows, **tensors):
    """Returns a Batch's option fields from tensors in the form that the kernels read, or None."""
    forms = {name: _form_of(name, target, draft_rows) for name in tensors}
    return {name: view(name, tensor, forms[name][0], str(forms[name][1])) for name, tensor in tensors.items()}


def spread_options(target, draft_rows, **values):
    """Returns options as tensors in the form that the kernels read, from the forms that a caller may give."""
    return {name: mask_of(value, *target.shape) if name == "mask" else spread_over(name, value, *_form_of(name, target, draft_rows), target.device)
            for name, value in values.items()}


def _number(name, value):
    if isinstance(value, str) or not hasattr(value, "__float__"):
        raise SpeclabError(f"{name} is {value!r}: a number is needed")
    return float(value)


def spread_over(name, value, shape, dtype, device):
    """Returns a number, a tensor of requests or one of `shape` as a tensor of `shape`, [B] or [B, n]; a tensor that has the dtype becomes a
    view."""
    if value is None:
        return None
    if not isinstance(value, Tensor) and not hasattr(value, "__len__"):
        _number(name, value)
        allowed, what = _ALLOWED.get(name.removeprefix("target_").removeprefix("draft_"), (None, None))
        if allowed is not None and not allowed(value):
            raise SpeclabError(f"{name} is {value}: {what} is needed")
        if dtype == torch.int64 and value >= 1 << 63:  # a seed of 64 bits
            value -= 1 << 64
        value = min(value, (1 << 31) - 1) if dtype == torch.int32 else value
        # It is filled on the device, so that nothing waits and a graph may capture it.
        try:
            return torch.full((1,) * len(shape), value, dtype=dtype, device=device).expand(shape)
        except RuntimeError as error:
            raise SpeclabError(f"{name} is {value}: {error}") from error
    try:
        value = torch.as_tensor(value, device=device)
    except (OverflowError, RuntimeError, TypeError, ValueError):
        raise SpeclabError(f"{name} is {value!r}: a number, or numbers in a tensor, are needed") from None
    if value.is_complex() or (not dtype.is_floating_point and value.is_floating_point()):
        raise SpeclabError(f"{name} is {value.dtype}: {'numbers' if dtype.is_floating_point else 'integers'} are needed")
    requests = value[:, None] if len(shape) == 2 and value.dim() == 1 else value
    if requests.dim() > len(shape) or any(size not in (1, full) for size, full in zip(requests.shape[::-1], shape[::-1])):
        wanted = " or ".join(str(list(shape[:end])) for end in range(1, len(shape) + 1))
        raise SpeclabError(f"{name} is {list(value.shape)}: a number, {wanted} is needed")
    return (as_int32(name, requests) if dtype == torch.int32 else requests.to(dtype)).expand(shape)


def mask_of(mask, requests, positions, vocab):
    """Returns the mask as [B, gamma + 1, words]."""
    if mask is None:
        return None
    words = -(-vocab // 32)
    whole = mask[:, None] if mask.dim() == 2 else mask
    if mask.dtype != torch.int32 or tuple(whole.shape) not in ((requests, positions, words), (requests, 1, words)):
        raise SpeclabError(f"mask is {list(mask.shape)} {mask.dtype}: [{requests}, {words}] or [{requests}, {positions}, {words}] torch.int32 is "
                           "needed, bit x % 32 of word x // 32 for id x")
    return whole.expand(requests, positions, words)


def verify(target: Tensor, draft: Optional[Tensor], drafted: Tensor, uniforms: Optional[Tensor] = None, *,
           addresses: Optional[Tensor] = None, seeds=None, positions=None, lengths: Optional[Tensor] = None,
           mask: Optional[Tensor] = None, top_k=None, top_p=None, min_p=None, target_temperature=None, target_cutoff=None,
           target_log_sum_exp=None, draft_temperature=None, draft_cutoff=None, draft_log_sum_exp=None, method="token",
           lenience=1.0, residual="target_minus_draft", ties="shared", logs=False, implementation="") -> Verified:
    """Verifies the drafted tokens of a batch.

    target      [B, gamma + 1, V] logits in float32, bfloat16 or float16, the last dimension dense
    draft       [B, gamma, V] in any of these formats; None if drafts were certain (look-up of n-grams)
    drafted     [B, gamma] integers; an id outside the vocabulary, such as -1, is rejected
    uniforms    [B, gamma + 1] float64 in [0, 1): one for each position, then one for the next token; or
    addresses   [B, 2] addresses of random numbers (from `addresses`); or
    seeds, positions
                a number or [B] integers each; no two requests may share both: an engine's seeds of requests, and the places of
                their tokens. If none of the three is given, uniforms come from torch's generator
    lengths     [B] drafted tokens of each request, up to gamma
    mask        ids that a grammar allows the target: int32 [B, words] or [B, gamma + 1, words], bit x % 32 of word x // 32 for id x
    top_k, top_p, min_p
                for the target, in this order after temperature, mask and cut-off: a number, [B] or [B, gamma + 1]; 0, 1 and 0 keep all.
                Ids as likely as the last one kept are kept. The draft has none: pass its cut-off
    *_temperature, *_cutoff, *_log_sum_exp
                for the target and the draft: a number, [B], or [B, gamma + 1] and [B, gamma]. Logits below the cut-off have no
                probability; log_sum_exp, over logits / temperature that are kept, saves a reading of the rows
    method      token (exact), block (exact: Sun et al. 2024) or lenient (not exact), with `lenience` and `residual`
    ties        how probability at temperature 0 is shared: among the largest logits, or all to the lowest id (argmax)
    logs        whether to compute log_probabilities and log_sum_exps
    implementation
                the kernels to use, of `library().implementations()`. If named on the CPU, their source runs in an emulator, thread by
                thread, in milliseconds per request, if SPECLAB_KERNELS_LIBRARY names a library that has one (a whole build's)

    Raises SpeclabError with the library's sentence if arguments do not fit."""
    return _named(_verify(**_arguments(**locals())), logs)


def _named(outputs, logs):
    *found, log_probabilities, log_sum_exps = outputs
    return Verified(*found, *((log_probabilities, log_sum_exps) if logs else ()))


def _arguments(target, draft, drafted, uniforms, addresses, lengths, method, lenience, residual, ties, logs, implementation, **options):
    """Returns the operator's arguments, by name, from all of `verify`."""
    need_one_device(target, draft=draft, drafted=drafted, uniforms=uniforms, addresses=addresses, lengths=lengths, mask=options["mask"])
    if target.dim() != 3 or drafted.dim() != 2 or target.shape[1] != drafted.shape[1] + 1:
        raise SpeclabError(f"target is {tuple(target.shape)} and drafted {tuple(drafted.shape)}: "
                           "[B, gamma + 1, V] and [B, gamma] are needed")
    requests, rows, _ = target.shape
    need_known(method=(method, METHODS), residual=(residual, RESIDUALS), ties=(ties, TIES))
    if uniforms is None and addresses is None and options["seeds"] is None and options["positions"] is None:
        uniforms = torch.rand(requests, rows, dtype=torch.float64, device=target.device)
    return {"target": target, "draft": draft, "drafted": as_int32("drafted", drafted).contiguous(), "uniforms": uniforms, "addresses": addresses,
            "lengths": None if lengths is None else as_int32("lengths", lengths), "method": method, "lenience": _number("lenience", lenience), "residual": residual,
            "ties": ties, "logs": bool(logs), "implementation": str(implementation), **spread_options(target, rows - 1, **options)}


class Prepared:
    """A call of `verify` on tensors that stay where they are: each call reads their current contents and overwrites `results`."""

    def __init__(self, arguments, outputs):
        self.results = _named(outputs, arguments["logs"])
        self._kept = arguments, outputs  # keeps them alive as long as their addresses are used
        self._batch = _filled(outputs, **arguments)
        self._device = arguments["target"].device
        self._emulate = arguments["implementation"] != ""
        self._workspace = torch.empty(library().workspace_bytes(self._batch) if self._device.type == "cuda" else 0, dtype=torch.uint8,
                                      device=self._device)

    def __call__(self):
        """Returns `results`. On CUDA tensors it launches on the current stream, does not wait, and makes no tensor. Calls of one Prepared must
        follow one another on one stream, because they share scratch."""
        run(self._batch, self._device, self._emulate, self._workspace)
        return self.results


def prepare(target: Tensor, draft: Optional[Tensor], drafted: Tensor, uniforms: Optional[Tensor] = None, **options) -> Prepared:
    """Returns an object that calls `verify` with these arguments again and again, without the time that Python and torch spend on each call.

    Arguments are those of `verify`, which has no others. Each call reads tensors in place, so they must have the formats that the kernels read: int32
    for drafted tokens, lengths and top_k, int64 for seeds and positions, float32 for other options. Numbers keep their values. Randomness must
    change between calls: give uniforms, addresses or positions in a tensor.

    Raises SpeclabError as `verify` does, and if a tensor would have to be copied."""
    if uniforms is None and options.get("addresses") is None and not isinstance(options.get("positions"), Tensor):
        raise SpeclabError("uniforms, addresses or positions in a tensor are needed: without them every call would draw the same numbers")
    arguments = inspect.signature(verify).bind(target, draft, drafted, uniforms, **options)
    arguments.apply_defaults()
    arguments = _arguments(**arguments.arguments)
    for name, given in {"drafted": drafted, **options}.items():
        if hasattr(given, "__len__") and not isinstance(given, (Tensor, str)):
            raise SpeclabError(f"{name} is a {type(given).__name__}: a tensor is needed, whose contents each call reads")
        if isinstance(given, Tensor) and arguments[name].data_ptr() != given.data_ptr():
            raise SpeclabError(f"{name} is {given.dtype} with strides {tuple(given.stride())}, and would have to be copied at each call: "
                               f"{arguments[name].dtype} is needed, as verify reads it")
    return Prepared(arguments, _outputs(target, arguments["drafted"], arguments["logs"]))
