"""Calls libspeclab_kernels.so through ctypes. kernels/speclab_kernels.h explains each field.

A tensor here is anything with torch's data_ptr(), shape, stride(), dtype and is_contiguous(): torch itself is not imported.
"""
import ctypes
import os
from ctypes import POINTER, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint32, c_void_p
from functools import cache
from pathlib import Path

DTYPES = {"torch.float32": 0, "torch.bfloat16": 1, "torch.float16": 2}
TIES = {"shared": 0, "lowest": 1}
SIBLINGS = {"without_replacement": 0, "independent": 1}
TREE_METHODS = {"recursive_rejection": 0, "traversal": 1}
METHODS = {"token": 0, "lenient": 1, "block": 2}
OLDEST = 200  # the first SPECLAB_KERNELS_VERSION with all fields below
RESIDUALS = {"target_minus_draft": 0, "literal": 1, "target": 2}


class SpeclabError(RuntimeError):
    """An error with the sentence of speclab_last_error."""


class Rows(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("request_stride", c_int64), ("row_stride", c_int64)]


class RowOptions(ctypes.Structure):
    _fields_ = [("temperature", c_void_p), ("cutoff", c_void_p), ("log_sum_exp", c_void_p)]


class View(ctypes.Structure):
    """The structure speclab_view: entries of requests and positions in an array."""
    _fields_ = [("data", c_void_p), ("index", c_void_p), ("request_stride", c_int64), ("row_stride", c_int64)]


class Batch(ctypes.Structure):
    """The structure speclab_verify_batch."""
    _fields_ = ([("struct_size", c_size_t)]
                + [(name, c_int32) for name in ("implementation", "requests", "gamma", "vocab", "target_dtype",
                                                "draft_dtype", "method", "residual")]
                + [(name, c_double) for name in ("lenience", "sigmoid_alpha", "sigmoid_beta")]
                + [("target", Rows), ("draft", Rows), ("target_options", RowOptions), ("draft_options", RowOptions)]
                + [(name, c_void_p) for name in ("drafted", "lengths", "addresses", "uniforms", "accepted", "next",
                                                 "flags", "tokens", "counts", "target_index", "draft_index")]
                + [(name, c_int32) for name in ("target_kind", "draft_kind", "ties", "draft_vocab")]
                + [("draft_place", c_void_p), ("mask", View), ("cumulative", c_void_p),
                   ("cumulative_extra", c_int32), ("reserved", c_int32), ("seeds", View), ("positions", View)]
                + [(name, c_void_p) for name in ("bonus", "log_probabilities", "log_sum_exps")]
                + [(name, View) for name in ("drafted_view", "target_temperature", "target_cutoff",
                                             "target_log_sum_exp", "draft_temperature", "draft_cutoff",
                                             "draft_log_sum_exp", "top_k", "top_p", "min_p")])

    def __init__(self, **fields):
        super().__init__(struct_size=ctypes.sizeof(Batch), **fields)


class TreeBatch(ctypes.Structure):
    """The structure speclab_tree_batch."""
    _fields_ = [("struct_size", c_size_t), ("batch", POINTER(Batch)), ("parents", View), ("siblings", c_int32), ("draft_rows", c_int32),
                ("draft_row", View), ("path", c_void_p), ("tree_method", c_int32), ("reserved", c_int32),
                ("workspace", c_void_p), ("workspace_bytes", c_size_t)]

    def __init__(self, batch, **fields):
        super().__init__(struct_size=ctypes.sizeof(TreeBatch), batch=ctypes.pointer(batch), **fields)


def pointer(tensor):
    """Returns the address of a tensor whose memory holds its numbers. torch's negative bit leaves them unnegated there."""
    if getattr(tensor, "is_neg", bool)():
        raise SpeclabError("a tensor has torch's negative bit, and the library would read its numbers without their signs: pass its resolve_neg()")
    return tensor.data_ptr()


def need_dense_rows(name, tensor):
    """Raises SpeclabError if there are gaps between the numbers of a row. Strides of NumPy's empty arrays are 0."""
    if tensor.shape[-1] > 1 and tensor.stride(-1) != 1 and 0 not in tensor.shape:
        raise SpeclabError(f"the last stride of {name} is {tensor.stride(-1)}: 1 is needed, so call contiguous()")


def rows(tensor):
    """Returns logits [requests, positions, vocab] as Rows."""
    return Rows() if tensor is None else Rows(pointer(tensor), tensor.stride(0), tensor.stride(1))


def dense(name, tensor, shape, dtype):
    """Returns the tensor's pointer; null for None."""
    if tensor is None:
        return None
    if tuple(tensor.shape) != shape or str(tensor.dtype) != dtype or not tensor.is_contiguous():
        raise SpeclabError(f"{name} is {tuple(tensor.shape)} {tensor.dtype}: {shape} {dtype}, contiguous, is needed")
    return pointer(tensor)


def dense_fields(requests, gamma, **tensors):
    """Returns fields of a Batch by name, as `dense` does: of int32 [requests], unless the field has a form of its own."""
    forms = {"drafted": ((requests, gamma), "torch.int32"), "tokens": ((requests, gamma + 1), "torch.int32"),
             "uniforms": ((requests, gamma + 1), "torch.float64"), "addresses": ((requests, 2), "torch.int64")}
    return {name: dense(name, tensor, *forms.get(name, ((requests,), "torch.int32"))) for name, tensor in tensors.items()}


def view(name, tensor, shape, dtype):
    """Returns a tensor as a View: an entry for each request [B], for each request and position [B, n], or rows [B, n, words] whose words are
    adjacent. Strides are free, and 0 for an expanded tensor. Returns an empty View for None."""
    if tensor is None:
        return View()
    if tuple(tensor.shape) != shape or str(tensor.dtype) != dtype:
        raise SpeclabError(f"{name} is {tuple(tensor.shape)} {tensor.dtype}: {shape} {dtype} is needed")
    if len(shape) > 2:
        need_dense_rows(name, tensor)
    return View(pointer(tensor), None, tensor.stride(0), tensor.stride(1) if len(shape) > 1 else 0)


def batch_of(target, draft, drafted, accepted, next, flags=None, uniforms=None, addresses=None, lengths=None,
             method="token", lenience=1.0, residual="target_minus_draft", sigmoid=(-1000.0, 1000.0),
             implementation=0, target_options=None, draft_options=None, tokens=None, counts=None, draft_rows=None, **fields):
    """Returns a Batch of tensors: target [B, gamma + 1, V]; draft [B, gamma, V], or None if drafts were certain; drafted
    [B, gamma], accepted and next [B] int32; uniforms [B, gamma + 1] float64, or addresses [B, 2] int64 with the seed
    and trial + 2^32 round. tokens [B, gamma + 1] int32 receives the accepted tokens, the next one, and -1 after them, counts [B] int32
    their number. draft_rows: for trees, the number of draft rows per request, if it is not gamma. Options are dictionaries with
    temperature, cutoff, log_sum_exp, each float32 per row. fields: further fields of the header, unchanged: Views and addresses. The
    caller keeps the tensors alive until the work is done."""
    requests, positions, vocab = target.shape
    gamma = positions - 1

    def options(name, given, count):
        return RowOptions(**{key: dense(f"{name}.{key}", value, (requests, count), "torch.float32")
                             for key, value in (given or {}).items()})

    of_draft = (requests, gamma if draft_rows is None else draft_rows, vocab)
    if draft is not None and tuple(draft.shape) != of_draft:
        raise SpeclabError(f"draft is {tuple(draft.shape)}: {of_draft} is needed")
    return Batch(
        implementation=implementation, requests=requests, gamma=gamma, vocab=vocab,
        target_dtype=dtype_of("target", target), draft_dtype=dtype_of("draft", draft),
        method=METHODS[method], residual=RESIDUALS[residual], lenience=lenience,
        sigmoid_alpha=sigmoid[0], sigmoid_beta=sigmoid[1], target=rows(target), draft=rows(draft),
        target_options=options("target_options", target_options, gamma + 1),
        draft_options=options("draft_options", draft_options, gamma),
        **dense_fields(requests, gamma, drafted=drafted, lengths=lengths, addresses=addresses, uniforms=uniforms, accepted=accepted,
                       next=next, flags=flags, tokens=tokens, counts=counts), **fields)


def dtype_of(name, tensor):
    """Returns the number of the format of dense rows; 0 for None."""
    if tensor is None:
        return 0
    if str(tensor.dtype) not in DTYPES:
        raise SpeclabError(f"{name} is {tensor.dtype}: one of {', '.join(DTYPES)} is needed")
    need_dense_rows(name, tensor)
    return DTYPES[str(tensor.dtype)]


PROBABILITIES = 1  # speclab_probabilities


def flat_batch_of(target, draft, drafted, starts, gamma, uniforms, accepted, next, tokens, bonus, temperature):
    """Returns a Batch of rows as serving engines store them, without a copy: target [rows, V] logits and draft [rows, V] probabilities (or None), with a
    row for each drafted token; drafted [rows]; starts [B + 1] cumulative counts, with up to gamma tokens per request; uniforms
    [B, gamma + 1] float64; bonus and temperature [B]; ids are int32. Temperature 0 takes the lowest id of the largest logit."""
    requests, vocab = starts.shape[0] - 1, target.shape[1]
    index = dense("starts", starts, (requests + 1,), "torch.int32")

    def flat(tensor):
        return Rows() if tensor is None else Rows(pointer(tensor), tensor.stride(0), tensor.stride(0))
    return Batch(
        requests=requests, gamma=gamma, vocab=vocab, target_dtype=dtype_of("target", target), target=flat(target), target_index=index,
        draft_dtype=dtype_of("draft", draft), draft=flat(draft), draft_index=None if draft is None else index,
        draft_kind=0 if draft is None else PROBABILITIES, ties=TIES["lowest"], cumulative=index,
        drafted_view=View(dense("drafted", drafted, (target.shape[0],), "torch.int32"), index, 1, 1),
        target_temperature=View(dense("temperature", temperature, (requests,), "torch.float32"), None, 1, 0),
        **dense_fields(requests, gamma, uniforms=uniforms, bonus=bonus, accepted=accepted, next=next, tokens=tokens))


class Library:
    """The shared library. Its functions raise SpeclabError with the library's own sentence."""

    def __init__(self, path):
        self.c = ctypes.CDLL(str(path))
        self._numbers = None
        self.c.speclab_kernels_version.restype = c_uint32
        if (version := self.c.speclab_kernels_version()) < OLDEST:
            raise SpeclabError(f"{path} has version {version} of the interface: {OLDEST} or later is needed")
        for name in ("speclab_last_error", "speclab_device_name", "speclab_implementation_name"):
            getattr(self.c, name).restype = c_char_p
        self.c.speclab_implementation_name.argtypes = [c_int32]
        self.c.speclab_verify_workspace_bytes.argtypes = [POINTER(Batch), POINTER(c_size_t)]
        self.c.speclab_verify.argtypes = [POINTER(Batch), c_void_p, c_size_t, c_void_p]
        self.c.speclab_verify_on_cpu.argtypes = [POINTER(Batch), c_int32]
        self.c.speclab_verify_tree_workspace_bytes.argtypes = [POINTER(TreeBatch), POINTER(c_size_t)]
        self.c.speclab_verify_tree.argtypes = [POINTER(TreeBatch), c_void_p]
        self.c.speclab_verify_tree_on_cpu.argtypes = [POINTER(TreeBatch), c_int32]

    def _check(self, status):
        if status != 0:
            raise SpeclabError(self.c.speclab_last_error().decode())

    def implementations(self):
        """Returns the names of the implementations; a name's place is its number."""
        names = []
        while (name := self.c.speclab_implementation_name(len(names))) is not None:
            names.append(name.decode())
        return names

    def number_of(self, implementation):
        """Returns the number of an implementation's name."""
        if self._numbers is None:
            self._numbers = {name: number for number, name in enumerate(self.implementations())}
        if implementation not in self._numbers:
            raise SpeclabError(f"implementation is {implementation!r}: one of {', '.join(self._numbers)} is needed")
        return self._numbers[implementation]

    def device_name(self):
        """Returns the name of the current device; None if there is no device."""
        name = self.c.speclab_device_name()
        return None if name is None else name.decode()

    def workspace_bytes(self, batch):
        size = c_size_t()
        self._check(self.c.speclab_verify_workspace_bytes(ctypes.byref(batch), ctypes.byref(size)))
        return size.value

    def launch(self, batch, workspace, workspace_bytes, stream):
        """Calls speclab_verify with numbers: the workspace's address and a cudaStream_t."""
        self._check(self.c.speclab_verify(ctypes.byref(batch), workspace, workspace_bytes, stream))

    def on_cpu(self, batch, emulate=False):
        """Calls speclab_verify_on_cpu, which runs the definition, or the kernels in the emulator."""
        self._check(self.c.speclab_verify_on_cpu(ctypes.byref(batch), emulate))

    def tree_workspace_bytes(self, tree):
        size = c_size_t()
        self._check(self.c.speclab_verify_tree_workspace_bytes(ctypes.byref(tree), ctypes.byref(size)))
        return size.value

    def launch_tree(self, tree, stream):
        """Calls speclab_verify_tree on a cudaStream_t."""
        self._check(self.c.speclab_verify_tree(ctypes.byref(tree), stream))

    def tree_on_cpu(self, tree, emulate=False):
        """Calls speclab_verify_tree_on_cpu, which runs the definition, or the kernel in the emulator."""
        self._check(self.c.speclab_verify_tree_on_cpu(ctypes.byref(tree), emulate))


@cache
def library():
    """Returns the library that came with this package, or the one that the environment variable SPECLAB_KERNELS_LIBRARY names."""
    beside = Path(__file__).with_name("libspeclab_kernels.so")
    path = Path(os.environ.get("SPECLAB_KERNELS_LIBRARY") or beside)
    if not path.is_file():
        raise SpeclabError(f"{path} is missing: pip install kernels/python builds it, or SPECLAB_KERNELS_LIBRARY names it")
    return Library(path)
