"""Fused verification in Triton: makes the decisions of kernels/verify/fused.hpp on the layouts and options of serving engines.

It makes three launches, stores no softmaxed rows and does not wait for the host. `sum_tiles` writes a maximum and a sum of each tile of
each row. `weigh_tiles` makes a request's acceptance draws, again in each of its programs, and sums the weights of a tile of the
row (pair) that the next token is drawn from. `draw` chooses a tile and an id in it, by one uniform in float64. `find_cutoffs`
(triton_cutoffs.py) is launched before them if there are top-k, top-p or min-p: it writes one number per row, below which logits have no
probability. triton_rows.py describes how rows lie.
"""
import torch
import triton
import triton.language as tl

from .triton_cutoffs import HUGGING_FACE, cutoffs
from .triton_rows import (DAMAGED_ROW, DRAFT_WITHOUT_MASS, LOGITS, NOBODY, NONE, PROBABILITIES, TILE, TOKEN_OUT_OF_RANGE, WARPS, ZERO_RESIDUAL,
                          coin_of, draft_row, has_residual, load_tile, next_uniform_of, scales_of, span_of, state_of, temperature_of)

_NONE = tl.constexpr(NONE)
_LOGITS = tl.constexpr(LOGITS)
_PROBABILITIES = tl.constexpr(PROBABILITIES)
_DAMAGED_ROW = tl.constexpr(DAMAGED_ROW)
_DRAFT_WITHOUT_MASS = tl.constexpr(DRAFT_WITHOUT_MASS)
_TOKEN_OUT_OF_RANGE = tl.constexpr(TOKEN_OUT_OF_RANGE)
_ZERO_RESIDUAL = tl.constexpr(ZERO_RESIDUAL)
_NOBODY = tl.constexpr(NOBODY)
_INFINITY = tl.constexpr(float("inf"))


@triton.jit
def rejected(target, draft, slots, drafted, request, start, first_id, kept, residual, SLOT_STRIDE, ROW_STRIDE, DRAFT: tl.constexpr):
    """Returns the draft's row and the drafted token at the position where the request was rejected. If there was no rejection, or drafts are
    certain, returns a row that is not read."""
    q_row = target
    token = tl.full([], -1, tl.int32)
    if residual:
        token = tl.load(drafted + first_id + kept).to(tl.int32)
        if DRAFT != _NONE:
            q_row = draft_row(draft, slots, request, start, kept, SLOT_STRIDE, ROW_STRIDE)
    return q_row, token


@triton.jit
def store_sum(logits, scale, place):
    reference = tl.max(logits, 0) * scale
    safe = tl.where(reference == -float("inf"), 0.0, reference)
    tl.store(place, reference)
    tl.store(place + 1, tl.sum(tl.exp2(logits * scale - safe), 0))


@triton.jit
def sum_tiles(target, draft, slots, ends, temperatures, target_cutoffs, draft_cutoffs, parts, places, vocab, tiles,
              TARGET_STRIDE, SLOT_STRIDE, ROW_STRIDE, POSITIONS, BONUS_ROWS: tl.constexpr, TARGET: tl.constexpr,
              DRAFT: tl.constexpr, RUNNER: tl.constexpr, SCALED: tl.constexpr, BLOCK: tl.constexpr):
    """Sums tiles. Programs: [requests * POSITIONS, tiles, sides]. parts [requests * POSITIONS, 2 sides, tiles, 2]: maximum and sum of a tile, in
    powers of two. places [requests * POSITIONS, tiles]: the id of the largest logit, for requests at temperature 0."""
    at = tl.program_id(0).to(tl.int64)
    tile = tl.program_id(1)
    request = at // POSITIONS
    position = (at % POSITIONS).to(tl.int32)
    start, length, _ = span_of(ends, request, RUNNER)
    temperature = temperature_of(temperatures, state_of(slots, request, RUNNER))
    greedy = temperature == 0
    # The bonus token's row is read here only for its largest id; otherwise `weigh_tiles` weighs it.
    if (position > length) | ((position == length) & (not greedy)):
        return
    if greedy & (tl.program_id(2) == 1):
        return
    ids = tile * BLOCK + tl.arange(0, BLOCK)
    scale, draft_scale = scales_of(temperature, SCALED)
    if tl.program_id(2) == 0:
        number = start + request * BONUS_ROWS + position
        logits = load_tile(target + number * TARGET_STRIDE, target_cutoffs, number, ids, vocab)
        if greedy:
            largest = tl.max(logits, 0)
            tl.store(places + at * tiles + tile, tl.min(tl.where(logits == largest, ids, _NOBODY), 0))
        store_sum(logits, scale, parts + (at * 2 * tiles + tile) * 2)
    elif DRAFT == _LOGITS:
        row = draft_row(draft, slots, request, start, position, SLOT_STRIDE, ROW_STRIDE)
        store_sum(load_tile(row, draft_cutoffs, start + position, ids, vocab), draft_scale, parts + ((at * 2 + 1) * tiles + tile) * 2)


@triton.jit
def merged(parts, at, side, tiles, TILES: tl.constexpr):
    """Returns a row's maximum, and log2 of its sum relative to it, in float64; NaN for a damaged row."""
    numbers = tl.arange(0, TILES)
    place = parts + ((at * 2 + side) * tiles + numbers) * 2
    references = tl.load(place, numbers < tiles, -float("inf"))
    sums = tl.load(place + 1, numbers < tiles, 0.0)
    reference = tl.max(references, 0)
    used = sums != 0
    terms = tl.where(used, sums.to(tl.float64) * tl.exp2(tl.where(used, references - reference, 0.0).to(tl.float64)), 0.0)
    total = tl.sum(terms, 0)
    log_sum = tl.log2(tl.where((total > 0) & (total < _INFINITY) & (reference < _INFINITY), total, float("nan")))
    return reference, log_sum


@triton.jit
def largest_of(parts, places, at, tiles, TILES: tl.constexpr):
    """Returns the lowest id of a row's largest logit; _NOBODY for a damaged row."""
    numbers = tl.arange(0, TILES)
    place = parts + (at * 2 * tiles + numbers) * 2
    references = tl.load(place, numbers < tiles, -float("inf"))
    sums = tl.load(place + 1, numbers < tiles, 0.0)
    damaged = tl.max(((sums != sums) | (references == _INFINITY)).to(tl.int32), 0)
    reference = tl.max(references, 0)
    ids = tl.load(places + at * tiles + numbers, numbers < tiles, _NOBODY)
    found = tl.min(tl.where((references == reference) & (numbers < tiles), ids, _NOBODY), 0)
    return tl.where((damaged != 0) | (reference == -float("inf")), _NOBODY, found)


@triton.jit
def probability_of(row, token, cutoffs, number, scale, reference, log_sum, IS: tl.constexpr):
    """Returns a token's probability in float64."""
    value = tl.load(row + token).to(tl.float32)
    if IS == _PROBABILITIES:
        return value.to(tl.float64)
    logit = value.to(tl.float64)
    log = logit * scale.to(tl.float64) - reference.to(tl.float64) - log_sum
    if cutoffs is not None:
        log = tl.where(value < tl.load(cutoffs + number), -float("inf"), log)
    return tl.exp2(log)


@triton.jit
def difference(p, q):
    """Returns (p - q)+, and NaN if one of them is NaN."""
    left = p - q
    return tl.where(left < 0, 0.0, left)


@triton.jit
def one_minus_power(t):
    """Returns (1 - 2^t)+ without cancellation where 2^t is close to 1 (kernels/verify/row_distribution.hpp)."""
    polynomial = -t * ((0.0532980189 * t + 0.240097567) * t + 0.69314605)
    share = tl.where(t < -0.15625, 1.0 - tl.exp2(t), polynomial)
    return tl.minimum(tl.maximum(share, 0.0), 1.0)


@triton.jit
def weights_of(target, target_number, target_stride, target_cutoffs, q_row, draft_number, draft_cutoffs, drafted, residual, scale,
               draft_scale, target_reference, target_log_sum, draft_reference, draft_log_sum, ids, vocab, TARGET: tl.constexpr,
               DRAFT: tl.constexpr):
    """Returns the weights of a tile of the next token's distribution, and the power of two that they are relative to: a residual's weights are
    relative to the row's reference, the target's alone to the tile's own."""
    logits = load_tile(target + target_number * target_stride, target_cutoffs, target_number, ids, vocab)
    if TARGET == _PROBABILITIES:
        reference = tl.full([], 0.0, tl.float32)
        log_target = logits
        weights = tl.where(ids < vocab, logits, 0.0)
    else:
        log_target = logits * scale
        reference = tl.where(residual, target_reference, tl.max(log_target, 0))
        log_target = log_target - tl.where(reference == -float("inf"), 0.0, reference)
        weights = tl.exp2(log_target)
    if residual:
        if DRAFT == _NONE:
            weights = tl.where(ids == drafted, 0.0, weights)
        elif DRAFT == _PROBABILITIES:
            q = tl.load(q_row + ids, ids < vocab, 0.0).to(tl.float32)
            if TARGET == _LOGITS:
                # Both are in units of 2^reference.
                weights = difference(weights, q * tl.exp2(target_log_sum).to(tl.float32))
            else:
                weights = difference(weights, q)
        else:
            other = load_tile(q_row, draft_cutoffs, draft_number, ids, vocab)
            log_draft = other * draft_scale - draft_reference
            if TARGET == _LOGITS:
                # An id without target probability has weight 0, whatever the draft gives it.
                log_ratio = log_draft - log_target + (target_log_sum - draft_log_sum).to(tl.float32)
                share = one_minus_power(tl.where(weights > 0, log_ratio, 0.0))
                weights = tl.where(other == other, weights * share, float("nan"))
            else:
                weights = difference(weights, tl.exp2(log_draft - draft_log_sum.to(tl.float32)))
    return weights, reference


@triton.jit
def decide(target, draft, slots, ends, drafted, uniforms, seeds, steps, temperatures, target_cutoffs, draft_cutoffs, parts, places, request,
           vocab, tiles, TARGET_STRIDE, SLOT_STRIDE, ROW_STRIDE, POSITIONS, BONUS_ROWS: tl.constexpr, TARGET: tl.constexpr,
           DRAFT: tl.constexpr, RUNNER: tl.constexpr, SCALED: tl.constexpr, TILES: tl.constexpr):
    """Returns the number of accepted tokens of a request, its flags, and the sums of the row pair at the rejection."""
    start, length, first_id = span_of(ends, request, RUNNER)
    state = state_of(slots, request, RUNNER)
    temperature = temperature_of(temperatures, state)
    greedy = temperature == 0
    scale, draft_scale = scales_of(temperature, SCALED)
    kept = 0
    flags = 0
    going = 1
    target_reference = tl.full([], 0.0, tl.float32)
    draft_reference = tl.full([], 0.0, tl.float32)
    target_log_sum = tl.full([], 0.0, tl.float64)
    draft_log_sum = tl.full([], 0.0, tl.float64)
    for position in range(length):
        if going == 1:
            at = request * POSITIONS + position
            token = tl.load(drafted + first_id + position).to(tl.int32)
            inside = (token >= 0) & (token < vocab)
            flags = tl.where(inside, 0, _TOKEN_OUT_OF_RANGE)
            token = tl.where(inside, token, 0)
            if greedy:
                going = (inside & (token == largest_of(parts, places, at, tiles, TILES))).to(tl.int32)
            else:
                if TARGET == _LOGITS:
                    target_reference, target_log_sum = merged(parts, at, 0, tiles, TILES)
                if DRAFT == _LOGITS:
                    draft_reference, draft_log_sum = merged(parts, at, 1, tiles, TILES)
                number = start + request * BONUS_ROWS + position
                p = probability_of(target + number * TARGET_STRIDE, token, target_cutoffs, number, scale, target_reference,
                                   target_log_sum, TARGET)
                q = tl.full([], 1.0, tl.float64)
                if DRAFT != _NONE:
                    q = probability_of(draft_row(draft, slots, request, start, position, SLOT_STRIDE, ROW_STRIDE), token,
                                       draft_cutoffs, start + position, draft_scale, draft_reference, draft_log_sum, DRAFT)
                flags = tl.where(inside & (q == 0), _DRAFT_WITHOUT_MASS, flags)
                u = coin_of(uniforms, seeds, steps, state, start + position, number, RUNNER)
                going = (inside & (q > 0) & (u * q < p)).to(tl.int32)
            kept += going
    flags = tl.where(kept == length, 0, flags)
    residual = has_residual(drafted, first_id, kept, length, RUNNER)
    return start, first_id, kept, residual, flags, greedy, scale, draft_scale, target_reference, target_log_sum, draft_reference, draft_log_sum


@triton.jit
def weigh_tiles(target, draft, slots, ends, drafted, uniforms, seeds, steps, temperatures, target_cutoffs, draft_cutoffs, parts, places,
                weights, decisions, log_sums, vocab, tiles, TARGET_STRIDE, SLOT_STRIDE, ROW_STRIDE, POSITIONS, BONUS_ROWS: tl.constexpr,
                TARGET: tl.constexpr, DRAFT: tl.constexpr, RUNNER: tl.constexpr, SCALED: tl.constexpr, TILES: tl.constexpr, BLOCK: tl.constexpr):
    """Weighs tiles. Programs: [requests, tiles]. weights [requests, tiles, 2] float64: the sum of a tile's weights and its reference. decisions
    [requests, 2]: accepted, flags. log_sums [requests, 4] float64: of the rejected row pair."""
    request = tl.program_id(0).to(tl.int64)
    tile = tl.program_id(1)
    (start, first_id, kept, residual, flags, greedy, scale, draft_scale, target_reference, target_log_sum, draft_reference,
     draft_log_sum) = decide(
        target, draft, slots, ends, drafted, uniforms, seeds, steps, temperatures, target_cutoffs, draft_cutoffs, parts, places, request,
        vocab, tiles, TARGET_STRIDE, SLOT_STRIDE, ROW_STRIDE, POSITIONS, BONUS_ROWS, TARGET, DRAFT, RUNNER, SCALED, TILES)
    if tile == 0:
        tl.store(decisions + request * 2, kept)
        tl.store(decisions + request * 2 + 1, flags)
        tl.store(log_sums + request * 4, target_reference.to(tl.float64))
        tl.store(log_sums + request * 4 + 1, target_log_sum)
        tl.store(log_sums + request * 4 + 2, draft_reference.to(tl.float64))
        tl.store(log_sums + request * 4 + 3, draft_log_sum)
    # A given bonus token need not be drawn, nor the largest id at temperature 0.
    if greedy | ((not residual) & (BONUS_ROWS == 0)):
        return
    number = start + request * BONUS_ROWS + kept
    q_row, token = rejected(target, draft, slots, drafted, request, start, first_id, kept, residual, SLOT_STRIDE, ROW_STRIDE, DRAFT)
    ids = tile * BLOCK + tl.arange(0, BLOCK)
    found, reference = weights_of(target, number, TARGET_STRIDE, target_cutoffs, q_row, start + kept, draft_cutoffs, token, residual,
                                  scale, draft_scale, target_reference, target_log_sum, draft_reference, draft_log_sum, ids, vocab, TARGET,
                                  DRAFT)
    place = weights + (request * tiles + tile) * 2
    tl.store(place, tl.sum(found, 0).to(tl.float64))
    tl.store(place + 1, tl.where(residual, 0.0, reference).to(tl.float64))


@triton.jit
def place_of(weights, numbers, goal):
    """Returns the place where the running sum passes the goal: the first that does, or, if none does because of roundings, the last place of
    positive weight; -1 if all weights are 0."""
    passing = (tl.cumsum(weights, 0) > goal) & (weights > 0)
    first = tl.min(tl.where(passing, numbers, _NOBODY), 0)
    return tl.where(first == _NOBODY, tl.max(tl.where(weights > 0, numbers, -1), 0), first)


@triton.jit
def draw(target, draft, slots, ends, drafted, next_uniforms, seeds, steps, bonus, temperatures, target_cutoffs, draft_cutoffs, parts, places, weights,
         decisions, log_sums, tokens, counts, flags_out, vocab, tiles, TARGET_STRIDE, SLOT_STRIDE, ROW_STRIDE, POSITIONS, WIDTH,
         BONUS_ROWS: tl.constexpr, TARGET: tl.constexpr, DRAFT: tl.constexpr, RUNNER: tl.constexpr, SCALED: tl.constexpr,
         TILES: tl.constexpr, BLOCK: tl.constexpr, PADDED_WIDTH: tl.constexpr):
    """Draws the next tokens. Programs: [requests]. tokens [requests, WIDTH], counts and flags [requests]."""
    request = tl.program_id(0).to(tl.int64)
    start, length, first_id = span_of(ends, request, RUNNER)
    state = state_of(slots, request, RUNNER)
    temperature = temperature_of(temperatures, state)
    kept = tl.load(decisions + request * 2)
    flags = tl.load(decisions + request * 2 + 1)
    residual = has_residual(drafted, first_id, kept, length, RUNNER)
    next_token = tl.full([], -1, tl.int32)
    wanted = kept <= length
    if BONUS_ROWS == 0:
        wanted = residual
        if kept == length:
            next_token = tl.load(bonus + request).to(tl.int32)
    if wanted & (temperature == 0):
        found = largest_of(parts, places, request * POSITIONS + kept, tiles, TILES)
        next_token = tl.where(found == _NOBODY, -1, found)
    elif wanted:
        scale, draft_scale = scales_of(temperature, SCALED)
        target_reference = tl.load(log_sums + request * 4).to(tl.float32)
        target_log_sum = tl.load(log_sums + request * 4 + 1)
        draft_reference = tl.load(log_sums + request * 4 + 2).to(tl.float32)
        draft_log_sum = tl.load(log_sums + request * 4 + 3)
        number = start + request * BONUS_ROWS + kept
        q_row, token = rejected(target, draft, slots, drafted, request, start, first_id, kept, residual, SLOT_STRIDE, ROW_STRIDE, DRAFT)
        numbers = tl.arange(0, TILES)
        place = weights + (request * tiles + numbers) * 2
        sums = tl.load(place, numbers < tiles, 0.0)
        references = tl.load(place + 1, numbers < tiles, -float("inf"))
        damaged = residual & ((target_log_sum != target_log_sum) | (draft_log_sum != draft_log_sum))
        if residual & (not damaged) & (tl.sum(sums, 0) == 0):
            # If there is no residual, which rounding can cause, the target is sampled. This is so rare that one program may weigh the row.
            residual = kept < 0
            flags = flags | _ZERO_RESIDUAL
            for tile in range(tiles):
                found, reference = weights_of(target, number, TARGET_STRIDE, target_cutoffs, q_row, start + kept, draft_cutoffs, token,
                                              residual, scale, draft_scale, target_reference, target_log_sum, draft_reference, draft_log_sum,
                                              tile * BLOCK + tl.arange(0, BLOCK), vocab, TARGET, DRAFT)
                sums = tl.where(numbers == tile, tl.sum(found, 0).to(tl.float64), sums)
                references = tl.where(numbers == tile, reference.to(tl.float64), references)
        largest = tl.max(references, 0)
        factors = tl.where((sums != 0) & (references < largest), tl.exp2(references - largest), 1.0)
        sums = sums * factors
        total = tl.sum(sums, 0)
        if (not damaged) & (total > 0) & (total < _INFINITY):
            goal = next_uniform_of(next_uniforms, seeds, steps, state, request, number, RUNNER) * total
            tile = place_of(sums, numbers, goal)
            below = tl.sum(tl.where(numbers < tile, sums, 0.0), 0)
            factor = tl.sum(tl.where(numbers == tile, factors, 0.0), 0)
            ids = tile * BLOCK + tl.arange(0, BLOCK)
            found, reference = weights_of(target, number, TARGET_STRIDE, target_cutoffs, q_row, start + kept, draft_cutoffs, token,
                                          residual, scale, draft_scale, target_reference, target_log_sum, draft_reference, draft_log_sum, ids,
                                          vocab, TARGET, DRAFT)
            next_token = place_of(found.to(tl.float64), ids, (goal - below) / factor)
    drawn = next_token >= 0
    if RUNNER:
        # vLLM's second model runner needs a token of every request.
        flags = tl.where(drawn, flags, flags | _DAMAGED_ROW)
        next_token = tl.maximum(next_token, 0)
        drawn = next_token >= 0
    tl.store(counts + request, kept + drawn.to(tl.int32))
    tl.store(flags_out + request, tl.where(drawn, flags, flags | _DAMAGED_ROW))
    places_out = tl.arange(0, PADDED_WIDTH)
    values = tl.load(drafted + first_id + places_out, places_out < kept, -1).to(tl.int32)
    tl.store(tokens + request * WIDTH + places_out, tl.where(places_out == kept, next_token, values), places_out < WIDTH)


def verify(target, draft, drafted, ends, max_length, uniforms, next_uniforms, bonus=None, *, temperature=None, top_k=None, top_p=None,
           min_p=None, order=HUGGING_FACE, draft_cutoffs=None, slots=None, target_is=LOGITS, draft_is=LOGITS, seeds=None, steps=None, scaled=False,
           tile=TILE):
    """Returns tokens [B, max_length + 1] padded with -1, counts [B] and flags [B], int32, for B requests.

    target      [rows, V]: for each request one row per drafted token and, unless bonus tokens are given, one more
    draft       [drafted tokens, V]; [slots, max_length, V] with `slots` [B]; None if drafts were certain
    drafted     [drafted tokens]; ids out of the vocabulary are rejected
    ends        [B] cumulative numbers of drafted tokens
    uniforms    [drafted tokens] and next_uniforms [B], float64
    bonus       [B] tokens that follow if all drafted tokens are accepted; None: drawn from the last row
    temperature, top_k, top_p, min_p
                [B], for logits. Temperature 0 takes the lowest id of the largest logit. The draft's logits are divided by the same
                temperature; cut-offs of its rows come from `cutoffs`
    order       of the three: HUGGING_FACE or VLLM (triton_cutoffs.py)
    seeds       int64 by slot, and steps [rows], instead of uniforms: with them everything is laid out as in vLLM's second model runner
                (vllm_model_runner.py), tokens are int64, temperatures are by slot, and max_length is the largest number of drafted tokens
    scaled      whether the target's logits are divided by the temperature already
"""
    requests, vocab = ends.shape[0], target.shape[1]
    device = target.device
    bonus_rows = int(bonus is None)
    tokens = torch.empty(requests, max_length + 1, dtype=torch.int32 if seeds is None else torch.int64, device=device)
    counts, flags = (torch.empty(requests, dtype=torch.int32, device=device) for _ in range(2))
    if requests == 0:
        return tokens, counts, flags
    dense = dict(target=target, draft=draft, drafted=drafted, ends=ends, uniforms=uniforms, next_uniforms=next_uniforms, bonus=bonus, slots=slots,
                 temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p, draft_cutoffs=draft_cutoffs, seeds=seeds, steps=steps)
    for name, tensor in dense.items():
        if tensor is not None and tensor.shape[-1] > 1 and tensor.stride(-1) != 1:
            raise ValueError(f"the last stride of {name} is {tensor.stride(-1)}: 1 is needed")
    if seeds is not None and not (top_k is top_p is min_p is None):
        raise ValueError("top_k, top_p and min_p are not known with seeds: their caller applies them, and sets scaled")
    target_cutoffs = cutoffs(target, ends, max_length, temperature, top_k, top_p, min_p, bonus is None, order, tile)
    tiles = triton.cdiv(vocab, tile)
    positions = max_length + bonus_rows
    draft_is = NONE if draft is None else draft_is
    slot_stride, row_stride = (0, 0) if draft is None else (draft.stride(0) if draft.dim() == 3 else 0, draft.stride(-2))
    parts = torch.empty(requests * positions * 2 * tiles * 2, dtype=torch.float32, device=device)
    places = torch.empty(requests * positions * tiles if temperature is not None else 1, dtype=torch.int32, device=device)
    weights = torch.empty(requests * tiles * 2, dtype=torch.float64, device=device)
    decisions = torch.empty(requests * 2, dtype=torch.int32, device=device)
    log_sums = torch.empty(requests * 4, dtype=torch.float64, device=device)
    options = dict(BONUS_ROWS=bonus_rows, TARGET=target_is, DRAFT=draft_is, RUNNER=seeds is not None, SCALED=scaled, BLOCK=tile, num_warps=WARPS)
    padded = triton.next_power_of_2(tiles)
    strides = (target.stride(0), slot_stride, row_stride, positions)
    if positions and (target_is == LOGITS or draft_is == LOGITS or temperature is not None):
        sum_tiles[(requests * positions, tiles, 2 if draft_is == LOGITS else 1)](
            target, draft, slots, ends, temperature, target_cutoffs, draft_cutoffs, parts, places, vocab, tiles, *strides, **options)
    weigh_tiles[(requests, tiles)](
        target, draft, slots, ends, drafted, uniforms, seeds, steps, temperature, target_cutoffs, draft_cutoffs, parts, places, weights,
        decisions, log_sums, vocab, tiles, *strides, TILES=padded, **options)
    draw[(requests,)](
        target, draft, slots, ends, drafted, next_uniforms, seeds, steps, bonus, temperature, target_cutoffs, draft_cutoffs, parts, places, weights,
        decisions, log_sums, tokens, counts, flags, vocab, tiles, *strides, max_length + 1, TILES=padded,
        PADDED_WIDTH=triton.next_power_of_2(max_length + 1), **options)
    return tokens, counts, flags
