"""Finds and reads the rows of requests, for the kernels of fused_triton.py and triton_cutoffs.py.

Rows are flat: request b has lengths[b] drafted tokens, from `ends[b] - lengths[b]` on, where `ends` are cumulative sums of lengths.
"""
import triton
import triton.language as tl

TILE = 8192
WARPS = 8
NOBODY = 2147483647  # stands for no id
NONE, LOGITS, PROBABILITIES = 0, 1, 2
DAMAGED_ROW, DRAFT_WITHOUT_MASS, TOKEN_OUT_OF_RANGE, ZERO_RESIDUAL = 1, 2, 4, 16

LOG2_E = tl.constexpr(1.4426950408889634)


@triton.jit
def first_of(ends, request):
    """Returns where a request's drafted tokens begin, and their number."""
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
def state_of(slots, request, RUNNER: tl.constexpr):
    """Returns the index of a request's temperature and seed: in the layout of vLLM's second model runner it is the slot, as for draft rows."""
    if RUNNER:
        return tl.load(slots + request).to(tl.int64)
    else:
        return request


@triton.jit
def span_of(ends, request, RUNNER: tl.constexpr):
    """Returns `first_of`, and where a request's ids begin. vLLM's second model runner counts rows, one more than drafted tokens, and has as many
    ids, among them the one before the drafted tokens."""
    start, length = first_of(ends, request)
    ids = start
    if RUNNER:
        ids = start + 1
        start -= request
        length -= 1
    return start, length, ids


@triton.jit
def scale_of(temperature):
    """Returns the scale of logits. At temperature 0 ids are compared, not weighed; a negative temperature or NaN damages the row."""
    scale = tl.where(temperature > 0, LOG2_E / temperature, float("nan"))
    return tl.where(temperature == 0, 1.0, scale)


@triton.jit
def draft_row(draft, slots, request, start, position, SLOT_STRIDE, ROW_STRIDE):
    """Returns the address of a draft row: in the request's slot if there are slots, else flat."""
    if slots is not None:
        return draft + tl.load(slots + request).to(tl.int64) * SLOT_STRIDE + position * ROW_STRIDE
    return draft + (start + position) * ROW_STRIDE


@triton.jit
def load_tile(row, cutoffs, number, ids, vocab):
    """Returns logits as float32; minus infinity below the row's cut-off and beyond the vocabulary."""
    logits = tl.load(row + ids, ids < vocab, -float("inf")).to(tl.float32)
    if cutoffs is not None:
        # NaN stays, so that the sums show it.
        logits = tl.where(logits < tl.load(cutoffs + number), -float("inf"), logits)
    return logits


@triton.jit
def scales_of(temperature, SCALED: tl.constexpr):
    """Returns the scales of the target's and the draft's logits, in powers of two. SCALED: the target's are divided by the temperature already."""
    scale = scale_of(temperature)
    if SCALED:
        return tl.where(temperature > 0, LOG2_E, scale), scale
    else:
        return scale, scale


@triton.jit
def coin_of(uniforms, seeds, steps, state, place, row, RUNNER: tl.constexpr):
    """Returns the uniform of an acceptance draw, in float64. With seeds it is vLLM's own, so that a seed gives the same accepted tokens as in vLLM:
    31 bits from Philox at (seed, position), at least 2^-31."""
    if RUNNER:
        return tl.maximum(tl.rand(tl.load(seeds + state), tl.load(steps + row)), 4.6566127342e-10).to(tl.float64)
    else:
        return tl.load(uniforms + place).to(tl.float64)


@triton.jit
def next_uniform_of(next_uniforms, seeds, steps, state, request, row, RUNNER: tl.constexpr):
    """Returns the uniform of the token after the accepted ones, in float64. With seeds it has 53 bits from Philox at (seed, position), with a third
    word of the counter that acceptance draws do not use."""
    if RUNNER:
        step = tl.load(steps + row).to(tl.int64)
        low, high = (step & 0xFFFFFFFF).to(tl.uint32), (step >> 32).to(tl.uint32)
        first, second, _, _ = tl.philox(tl.load(seeds + state), low, high, low * 0 + 1, low * 0)
        bits = ((first.to(tl.uint64) << 32) | second.to(tl.uint64)) >> 11
        return bits.to(tl.float64) * 1.1102230246251565e-16
    else:
        return tl.load(next_uniforms + request).to(tl.float64)


@triton.jit
def has_residual(drafted, first_id, kept, length, RUNNER: tl.constexpr):
    """Returns whether the draft is subtracted from the next token's distribution. vLLM's second model runner has -1 where nothing was drafted: the
    token there is drawn from the target's distribution."""
    residual = kept < length
    if RUNNER:
        residual = residual & (tl.load(drafted + first_id + kept, residual, 0) >= 0)
    return residual
