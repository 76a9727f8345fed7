"""Finds the cut-off logits of top-k, top-p and min-p for each row, as kernels/verify/cutoffs.hpp does, in one launch.

A row is read twice, for min-p alone once. The first reading finds its largest logit, and divides the ids into 256 groups to find each group's
largest logit and the least of those. At least 256 ids are at or above that least one; in rows of random order about 256 ln 256 = 1,600 are. The
second reading puts these ids into scratch, adds up all weights if top-p needs their sum without top-k, and thresholds are found among these ids.
Only if they do not suffice (larger top-k, top-p of flat rows) do the rounds read the row itself: at most two for each of top-k and top-p in
2-byte formats, four in float32.

A threshold is found in rounds: ids are counted, or their weights summed, in 1,024 bins of the keys that the threshold may still have, and the
bin in which the sum from above reaches the goal is the next round's range. Keys are the floats' bits in their order. Sums are of whole
numbers, whose order does not matter, so that a cut-off has the same bits in any order of threads and in any batch. Scratch per row: 24 KiB.
"""
import torch
import triton
import triton.language as tl

from .triton_rows import LOG2_E, TILE, first_of, temperature_of

WARPS = 16  # with 8, each thread would need 207 registers
NEAR = 4096  # number of a row's logits that the scratch holds
BINS = 1024
# Orders of the three filters. Each applies to the ids that those before it keep; min-p is a share of the largest in either order.
HUGGING_FACE = "top-k, top-p, min-p"
VLLM = "min-p, top-k, top-p"

_INFINITY = tl.constexpr(float("inf"))
# The number that a weight of 1 counts, so that 2^21 of them are below 2^63. Ids lighter than 2^-40 of the likeliest count 0.
_UNIT = tl.constexpr(2.0**40)


@triton.jit
def key_of(logits, UNUSED: tl.constexpr):
    """Returns whole numbers in the order of the logits, without the `UNUSED` low bits that the format lacks. Both zeros have one number; NaN has
    none."""
    bits = logits.to(tl.uint32, bitcast=True)
    return tl.where(logits < 0, ~bits, bits | 0x80000000) >> UNUSED


@triton.jit
def logit_of(key, UNUSED: tl.constexpr):
    bits = key << UNUSED
    negative = ~(bits | ((1 << UNUSED) - 1))
    return tl.where((bits & 0x80000000) != 0, bits & 0x7FFFFFFF, negative).to(tl.float32, bitcast=True)


@triton.jit
def units_of(logits, reference, scale):
    """Returns weights in whole units; an id without a probability gets 0, also at an infinite temperature."""
    power = tl.where(logits > -_INFINITY, (logits - reference) * scale, -_INFINITY)
    return (tl.exp2(power) * _UNIT).to(tl.int64)


@triton.jit
def threshold(values, count, floor, least, most, reference, scale, weighs, amount, total, bins, UNUSED: tl.constexpr, BLOCK: tl.constexpr,
              BINS: tl.constexpr):
    """Returns the largest key from which on the ids of `values` are `amount` many or, if `weighs`, have the share `amount` of the weight
    `total`; a total of 0 stands for their own weight. Only values of at least `floor` count, with keys from `least` to `most`, the largest
    logit's key. The second result is whether all of these ids reach the amount; if not, the first is `least`."""
    index = tl.arange(0, BINS)
    lowest = least
    above = tl.full([], 0, tl.int64)
    wanted = tl.full([], 0, tl.int64)
    found = tl.full([], 1, tl.int32)
    going = tl.full([], 1, tl.int32)
    while going == 1:
        shift = tl.full([], 0, tl.uint32)
        while ((most - least) >> shift) >= BINS:
            shift += 1
        for first in range(0, count, BLOCK):
            ids = first + tl.arange(0, BLOCK)
            logits = tl.load(values + ids, ids < count, -_INFINITY).to(tl.float32)
            keys = key_of(logits, UNUSED)
            inside = (logits > -_INFINITY) & (logits >= floor) & (keys >= least) & (keys <= most)
            amounts = tl.where(weighs, units_of(logits, reference, scale), 1)
            tl.atomic_add(bins + ((most - keys) >> shift).to(tl.int32), amounts, inside, sem="relaxed")
        tl.debug_barrier()
        # The exchange sets the bins to 0 for the next round.
        sums = tl.atomic_xchg(bins + index, tl.zeros([BINS], tl.int64), sem="relaxed")
        tl.debug_barrier()
        if wanted == 0:
            all_of_it = tl.sum(sums, 0)
            whole = tl.where(total == 0, all_of_it, total)
            share = tl.minimum(tl.ceil(amount * whole.to(tl.float64)).to(tl.int64), whole)
            # The goal is at least 1, so that one id is kept.
            wanted = tl.maximum(tl.where(weighs, share, amount.to(tl.int64)), 1)
            found = (all_of_it >= wanted).to(tl.int32)
        chosen = tl.min(tl.where(above + tl.cumsum(sums, 0) >= wanted, index, BINS), 0)
        above += tl.sum(tl.where(index < chosen, sums, 0), 0)
        here = tl.sum(tl.where(index == chosen, sums, 0), 0)
        if found == 1:
            most = most - (chosen.to(tl.uint32) << shift)
            others = (tl.full([], 1, tl.uint32) << shift) - 1
            if most - least > others:
                least = most - others
        going = ((found == 1) & (least < most) & (above + here != wanted)).to(tl.int32)
    return tl.where(found == 1, least, lowest), found


@triton.jit
def peaks_of(row, vocab, BLOCK: tl.constexpr, GROUPS: tl.constexpr):
    """Returns the largest logit, the least of the groups' largest logits, and whether the row holds NaN or plus infinity. This is the first
    reading."""
    largest = tl.full([BLOCK], -_INFINITY, tl.float32)
    invalid = tl.zeros([BLOCK], tl.int32)
    for first in range(0, vocab, BLOCK):
        ids = first + tl.arange(0, BLOCK)
        logits = tl.load(row + ids, ids < vocab, -_INFINITY).to(tl.float32)
        invalid = tl.where(logits < _INFINITY, invalid, 1)
        largest = tl.maximum(largest, logits)
    of_groups = tl.max(tl.reshape(largest, [GROUPS, BLOCK // GROUPS]), 1)
    return tl.max(of_groups, 0), tl.min(of_groups, 0), tl.max(invalid, 0)


@triton.jit
def keep_near(row, near, bound, floor, reference, scale, weighs, vocab, NEAR: tl.constexpr, BLOCK: tl.constexpr):
    """Writes logits of at least `bound` and `floor` to `near`, as many as it holds. Returns their number and, if `weighs`, the weight of all ids of
    at least `floor`. This is the second reading."""
    count = tl.full([], 0, tl.int32)
    total = tl.full([], 0, tl.int64)
    for first in range(0, vocab, BLOCK):
        ids = first + tl.arange(0, BLOCK)
        logits = tl.load(row + ids, ids < vocab, -_INFINITY).to(tl.float32)
        wanted = (logits > -_INFINITY) & (logits >= floor)
        if weighs:
            total += tl.sum(tl.where(wanted, units_of(logits, reference, scale), 0), 0)
        kept = (wanted & (logits >= bound)).to(tl.int32)
        places = count + tl.cumsum(kept, 0) - 1
        tl.store(near + places, logits, (kept == 1) & (places < NEAR))
        count += tl.sum(kept, 0)
    # Other threads of this program read `near`.
    tl.debug_barrier()
    return count, total


@triton.jit
def find_cutoffs(rows, ends, temperatures, top_k, top_p, min_p, near, bins, cutoffs, vocab, STRIDE, POSITIONS, BONUS_ROWS: tl.constexpr,
                 MIN_P_FIRST: tl.constexpr, UNUSED: tl.constexpr, NEAR: tl.constexpr, BINS: tl.constexpr, BLOCK: tl.constexpr,
                 GROUPS: tl.constexpr):
    """Finds cut-offs. Programs: [requests * POSITIONS]. Each writes its row's cut-off, or minus infinity; plus infinity if a share is out of range,
    which damages the row. near [programs, NEAR] and bins [programs, BINS] are scratch with any contents."""
    # Whole numbers of 64 bits take more registers.
    SMALLER_BLOCK: tl.constexpr = BLOCK // 4
    at = tl.program_id(0).to(tl.int64)
    request = at // POSITIONS
    position = (at % POSITIONS).to(tl.int32)
    start, length = first_of(ends, request)
    if position >= length + BONUS_ROWS:
        return
    number = start + request * BONUS_ROWS + position
    row = rows + number * STRIDE
    near += at * NEAR
    bins += at * BINS
    temperature = temperature_of(temperatures, request)
    max_kept = tl.full([], 0, tl.int32)
    share = tl.full([], 1.0, tl.float64)
    share_of_largest = tl.full([], 0.0, tl.float64)
    if top_k is not None:
        max_kept = tl.load(top_k + request).to(tl.int32)
    if top_p is not None:
        share = tl.load(top_p + request).to(tl.float64)
    if min_p is not None:
        share_of_largest = tl.load(min_p + request).to(tl.float64)
    cutoff = tl.full([], -float("inf"), tl.float32)
    valid = (share >= 0) & (share <= 1) & (share_of_largest >= 0) & (share_of_largest <= 1)
    if not valid:
        cutoff = tl.full([], float("inf"), tl.float32)
    elif temperature > 0:
        scale = LOG2_E / temperature
        reference, bound, invalid = peaks_of(row, vocab, BLOCK, GROUPS)
        # An invalid row stays invalid.
        if (invalid == 0) & (reference > -_INFINITY):
            floor = tl.full([], -float("inf"), tl.float32)
            if share_of_largest > 0:
                floor = (reference.to(tl.float64) + tl.log(share_of_largest) * temperature.to(tl.float64)).to(tl.float32)
            # At an infinite temperature the line above gives NaN if the share is 1.
            floor = tl.where(share_of_largest == 1, reference, floor)
            counts = (max_kept > 0) & (max_kept < vocab)
            if counts | (share < 1):
                before = tl.full([], -float("inf"), tl.float32)
                if MIN_P_FIRST:
                    before = floor
                count, total = keep_near(row, near, bound, before, reference, scale, (share < 1) & (not counts), vocab, NEAR, BLOCK)
                tl.store(bins + tl.arange(0, BINS), tl.zeros([BINS], tl.int64))
                tl.debug_barrier()
                # True if `near` contains all ids.
                whole = bound <= before
                suffices = (count <= NEAR).to(tl.int32)
                least = tl.full([], 0, tl.uint32)
                most = key_of(reference, UNUSED)
                # The first iteration applies top-k, the second top-p.
                for turn in range(2):
                    weighs = turn == 1
                    amount = tl.where(weighs, share, max_kept.to(tl.float64))
                    if tl.where(weighs, share < 1, counts):
                        if suffices == 1:
                            least, found = threshold(near, count, before, least, most, reference, scale, weighs, amount, total, bins, UNUSED,
                                                     NEAR, BINS)
                            suffices = (whole | (found == 1)).to(tl.int32)
                        if suffices == 0:
                            least, found = threshold(row, vocab, before, least, most, reference, scale, weighs, amount, total, bins, UNUSED,
                                                     SMALLER_BLOCK, BINS)
                if least > 0:
                    cutoff = logit_of(least, UNUSED)
            cutoff = tl.maximum(cutoff, floor)
    tl.store(cutoffs + number, cutoff)


def cutoffs(rows, ends, max_length, temperature=None, top_k=None, top_p=None, min_p=None, bonus_rows=False, order=HUGGING_FACE, tile=TILE,
            near=NEAR):
    """Returns a cut-off for each row of logits [rows, V], as `fused_triton.verify` takes them; None if there is no option. Options are arrays
    over requests. top_k: 0, or at least the vocabulary's size, keeps all; top_p: in [0, 1], where 0 keeps the largest; min_p: in [0, 1]. A
    share out of range damages its rows. Ids that tie with the last one kept are kept. `order`: HUGGING_FACE or VLLM."""
    if order not in (HUGGING_FACE, VLLM):
        raise ValueError(f"order is {order!r}: {HUGGING_FACE!r} and {VLLM!r} are known")
    if top_k is None and top_p is None and min_p is None:
        return None
    found = torch.empty(rows.shape[0], dtype=torch.float32, device=rows.device)
    positions = max_length + bonus_rows
    programs = ends.shape[0] * positions
    if programs:
        thresholds = top_k is not None or top_p is not None
        logits = torch.empty(programs * near if thresholds else 1, dtype=torch.float32, device=rows.device)
        bins = torch.empty(programs * BINS if thresholds else 1, dtype=torch.int64, device=rows.device)
        find_cutoffs[(programs,)](
            rows, ends, temperature, top_k, top_p, min_p, logits, bins, found, rows.shape[1], rows.stride(0), positions,
            BONUS_ROWS=int(bonus_rows), MIN_P_FIRST=order == VLLM, UNUSED=unused_bits(rows.dtype), NEAR=near, BINS=BINS, BLOCK=tile,
            GROUPS=min(256, tile), num_warps=WARPS)
    return found


def unused_bits(dtype):
    """Returns the number of low bits of a float32 that logits of this format do not have."""
    return {torch.bfloat16: 16, torch.float16: 13}.get(dtype, 0)
