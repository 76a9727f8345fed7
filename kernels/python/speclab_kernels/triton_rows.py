"""Where the rows of requests lie, and how they are read: what the kernels of fused_triton.py and triton_cutoffs.py share.

Rows are flat: request b has lengths[b] drafted tokens, at `ends[b] - lengths[b]` and on, where `ends` are cumulative sums.
"""
import triton
import triton.language as tl

TILE = 8192
WARPS = 8
NOBODY = 2147483647  # no id
NONE, LOGITS, PROBABILITIES = 0, 1, 2
DAMAGED_ROW, DRAFT_WITHOUT_MASS, TOKEN_OUT_OF_RANGE, ZERO_RESIDUAL = 1, 2, 4, 16

LOG2_E = tl.constexpr(1.4426950408889634)


@triton.jit
def first_of(ends, request):
    """Where a request's drafted tokens begin, and how many they are."""
    end = tl.load(ends + request).to(tl.int64)
    start = tl.full([], 0, tl.int64)
    if request > 0:
        start = tl.load(ends + request - 1).to(tl.int64)
    return start, (end - start).to(tl.int32)


@triton.jit
def temperature_of(temperatures, request):
    temperature = tl.full([], 1.0, tl.float32)
    if temperatures is not None:
        temperature = tl.load(temperatures + request).to(tl.float32)
    return temperature


@triton.jit
def scale_of(temperature):
    """Temperature 0 has ids compared, not weighed; a negative temperature or NaN damages the row."""
    scale = tl.where(temperature > 0, LOG2_E / temperature, float("nan"))
    return tl.where(temperature == 0, 1.0, scale)


@triton.jit
def draft_row(draft, slots, request, start, position, SLOT_STRIDE, ROW_STRIDE):
    """A row of the draft: in the request's slot where there are slots, else flat."""
    if slots is not None:
        return draft + tl.load(slots + request).to(tl.int64) * SLOT_STRIDE + position * ROW_STRIDE
    return draft + (start + position) * ROW_STRIDE


@triton.jit
def load_tile(row, cutoffs, number, ids, vocab):
    """Logits as float32; minus infinity below the row's cut-off and behind the vocabulary."""
    logits = tl.load(row + ids, ids < vocab, -float("inf")).to(tl.float32)
    if cutoffs is not None:
        # NaN stays, for the sums to show it.
        logits = tl.where(logits < tl.load(cutoffs + number), -float("inf"), logits)
    return logits
