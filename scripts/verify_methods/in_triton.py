"""The shapes in which serving engines verify, written anew in Triton from descriptions of what they launch.

recover-all: vLLM's first engine. fp32 softmaxes; at every position a program looks for the token that would replace a
    rejected one, by an exponential race over the residual; then one program a request flips coins.
tiles: vLLM's second engine. (maximum, sum) of every tile; coins in log space; a Gumbel race over the tiles of one row;
    the best of the tiles.
chain: FlashInfer's chain sampling. fp32 softmaxes; one program a request flips coins, and reads the rejected row pair
    twice, for its sum and for the token.
"""
import torch
import triton
import triton.language as tl

from .in_torch import Method

TILE = 4096
NOBODY = tl.constexpr(2147483647)


@triton.jit
def flip_coins(p, q, drafted, uniforms, request, vocab, GAMMA: tl.constexpr):
    """Tokens kept of a request, by probabilities [B, gamma + 1, V] and [B, gamma, V]."""
    kept = 0
    going = 1
    for i in range(GAMMA):
        token = tl.load(drafted + request * GAMMA + i)
        u = tl.load(uniforms + request * (GAMMA + 1) + i)
        target = tl.load(p + (request * (GAMMA + 1) + i) * vocab + token)
        draft = tl.load(q + (request * GAMMA + i) * vocab + token)
        going = tl.where(u * draft < target, going, 0)
        kept += going
    return kept


@triton.jit
def recover(p, q, noise, recovered, vocab, GAMMA: tl.constexpr, BLOCK: tl.constexpr):
    request = tl.program_id(0).to(tl.int64)
    position = tl.program_id(1)
    p_row = p + (request * (GAMMA + 1) + position) * vocab
    q_row = q + (request * GAMMA + position) * vocab
    best = -1.0
    choice = 0
    for start in range(0, vocab, BLOCK):
        ids = start + tl.arange(0, BLOCK)
        inside = ids < vocab
        residual = tl.load(p_row + ids, inside, 0.0) - tl.load(q_row + ids, inside, 0.0)
        score = tl.where(inside, tl.maximum(residual, 0.0) / tl.load(noise + request * vocab + ids, inside, 1.0), -1.0)
        largest = tl.max(score, 0)
        choice = tl.where(largest > best, start + tl.argmax(score, 0), choice)
        best = tl.maximum(largest, best)
    tl.store(recovered + request * GAMMA + position, choice)


@triton.jit
def accept_recovered(p, q, drafted, uniforms, recovered, bonus, accepted, following, vocab, GAMMA: tl.constexpr):
    request = tl.program_id(0).to(tl.int64)
    kept = flip_coins(p, q, drafted, uniforms, request, vocab, GAMMA)
    rejects = kept < GAMMA
    replacement = tl.load(recovered + request * GAMMA + kept, rejects, 0)
    tl.store(accepted + request, kept)
    tl.store(following + request, tl.where(rejects, replacement, tl.load(bonus + request)))


def recover_all(case):
    requests, gamma = case.drafted.shape
    vocab = case.target.shape[2]
    recovered = torch.empty_like(case.drafted)
    accepted, following = (torch.empty(requests, dtype=torch.int64, device=recovered.device) for _ in range(2))

    def run():
        p = case.target.softmax(-1, dtype=torch.float32)
        q = case.draft.softmax(-1, dtype=torch.float32)
        noise = torch.empty(requests, vocab, device=p.device).exponential_()
        bonus = (p[:, gamma] / torch.empty_like(noise).exponential_()).argmax(1)
        recover[(requests, gamma)](p, q, noise, recovered, vocab, gamma, TILE)
        accept_recovered[(requests,)](p, q, case.drafted, case.uniforms, recovered, bonus, accepted, following, vocab,
                                      gamma)
        return accepted, following
    return run


@triton.jit
def tile_sums(logits, maxima, sums, vocab, tiles, ROWS: tl.constexpr, GAMMA: tl.constexpr, BLOCK: tl.constexpr):
    """Of the first GAMMA of each request's ROWS rows."""
    row = tl.program_id(0).to(tl.int64)
    tile = tl.program_id(1)
    ids = tile * BLOCK + tl.arange(0, BLOCK)
    data = logits + (row // GAMMA * ROWS + row % GAMMA) * vocab
    z = tl.load(data + ids, ids < vocab, -float("inf")).to(tl.float32)
    largest = tl.max(z, 0)
    tl.store(maxima + row * tiles + tile, largest)
    tl.store(sums + row * tiles + tile, tl.sum(tl.exp(z - largest), 0))


@triton.jit
def log_sum(maxima, sums, row, tiles, TILES: tl.constexpr):
    places = tl.arange(0, TILES)
    m = tl.load(maxima + row * tiles + places, places < tiles, -float("inf"))
    largest = tl.max(m, 0)
    return largest + tl.log(tl.sum(tl.load(sums + row * tiles + places, places < tiles, 0.0) * tl.exp(m - largest), 0))


@triton.jit
def accept_by_logs(target, draft, target_maxima, target_sums, draft_maxima, draft_sums, drafted, uniforms, accepted,
                   row_sums, vocab, tiles, GAMMA: tl.constexpr, TILES: tl.constexpr):
    request = tl.program_id(0).to(tl.int64)
    kept = 0
    going = 1
    for i in range(GAMMA):
        row = request * GAMMA + i
        token = tl.load(drafted + row)
        target_sum = log_sum(target_maxima, target_sums, row, tiles, TILES)
        draft_sum = log_sum(draft_maxima, draft_sums, row, tiles, TILES)
        p = tl.load(target + (request * (GAMMA + 1) + i) * vocab + token).to(tl.float32) - target_sum
        q = tl.load(draft + row * vocab + token).to(tl.float32) - draft_sum
        u = tl.load(uniforms + request * (GAMMA + 1) + i).to(tl.float32)
        # The sums of the first rejected row stay behind for the resampling.
        tl.store(row_sums + request * 2, target_sum, going == 1)
        tl.store(row_sums + request * 2 + 1, draft_sum, going == 1)
        going = tl.where(tl.log(u) < p - q, going, 0)
        kept += going
    tl.store(accepted + request, kept)


@triton.jit
def race(target, draft, accepted, row_sums, scores, choices, vocab, tiles, seed, GAMMA: tl.constexpr,
         BLOCK: tl.constexpr):
    request = tl.program_id(0).to(tl.int64)
    tile = tl.program_id(1)
    kept = tl.load(accepted + request)
    ids = tile * BLOCK + tl.arange(0, BLOCK)
    inside = ids < vocab
    z = tl.load(target + (request * (GAMMA + 1) + kept) * vocab + ids, inside, -float("inf")).to(tl.float32)
    if kept < GAMMA:
        other = tl.load(draft + (request * GAMMA + kept) * vocab + ids, inside, -float("inf")).to(tl.float32)
        residual = tl.exp(z - tl.load(row_sums + request * 2)) - tl.exp(other - tl.load(row_sums + request * 2 + 1))
        z = tl.where(residual > 0, tl.log(tl.maximum(residual, 1e-38)), -float("inf")).to(tl.float32)
    u = tl.maximum(tl.rand(seed, (request * vocab + ids).to(tl.int32)), 1e-10)
    score = z - tl.log(-tl.log(u))
    tl.store(scores + request * tiles + tile, tl.max(score, 0))
    tl.store(choices + request * tiles + tile, tile * BLOCK + tl.argmax(score, 0))


@triton.jit
def best_of_tiles(scores, choices, following, tiles, TILES: tl.constexpr):
    request = tl.program_id(0).to(tl.int64)
    places = tl.arange(0, TILES)
    score = tl.load(scores + request * tiles + places, places < tiles, -float("inf"))
    tl.store(following + request, tl.load(choices + request * tiles + tl.argmax(score, 0)))


def by_tiles(case):
    requests, gamma = case.drafted.shape
    vocab = case.target.shape[2]
    tiles = triton.cdiv(vocab, TILE)
    padded = triton.next_power_of_2(tiles)
    device = case.drafted.device
    parts = [torch.empty(requests * gamma, tiles, device=device) for _ in range(4)]
    row_sums = torch.empty(requests, 2, device=device)
    scores = torch.empty(requests, tiles, device=device)
    choices = torch.empty(requests, tiles, dtype=torch.int64, device=device)
    accepted, following = (torch.empty(requests, dtype=torch.int64, device=device) for _ in range(2))
    calls = [0]

    def run():
        calls[0] += 1
        rows = (requests * gamma, tiles)
        tile_sums[rows](case.target, parts[0], parts[1], vocab, tiles, gamma + 1, gamma, TILE)
        tile_sums[rows](case.draft, parts[2], parts[3], vocab, tiles, gamma, gamma, TILE)
        accept_by_logs[(requests,)](case.target, case.draft, *parts, case.drafted, case.uniforms, accepted, row_sums,
                                    vocab, tiles, gamma, padded)
        race[(requests, tiles)](case.target, case.draft, accepted, row_sums, scores, choices, vocab, tiles, calls[0],
                                gamma, TILE)
        best_of_tiles[(requests,)](scores, choices, following, tiles, padded)
        return accepted, following
    return run


@triton.jit
def residual_tile(p_row, q_row, ids, vocab, subtracted):
    """Of a bonus row nothing is subtracted."""
    p = tl.load(p_row + ids, ids < vocab, 0.0)
    return tl.maximum(p - tl.load(q_row + ids, ids < subtracted, 0.0), 0.0)


@triton.jit
def chain(p, q, drafted, uniforms, accepted, following, vocab, GAMMA: tl.constexpr, BLOCK: tl.constexpr):
    request = tl.program_id(0).to(tl.int64)
    kept = flip_coins(p, q, drafted, uniforms, request, vocab, GAMMA)
    rejects = kept < GAMMA
    p_row = p + (request * (GAMMA + 1) + kept) * vocab
    q_row = q + (request * GAMMA + tl.where(rejects, kept, 0)) * vocab
    subtracted = tl.where(rejects, vocab, 0)
    total = 0.0
    for start in range(0, vocab, BLOCK):
        total += tl.sum(residual_tile(p_row, q_row, start + tl.arange(0, BLOCK), vocab, subtracted), 0)
    goal = tl.load(uniforms + request * (GAMMA + 1) + GAMMA).to(tl.float32) * total
    found = NOBODY
    below = 0.0
    start = 0
    while (start < vocab) & (found == NOBODY):
        ids = start + tl.arange(0, BLOCK)
        weights = residual_tile(p_row, q_row, ids, vocab, subtracted)
        beyond = (below + tl.cumsum(weights, 0) > goal) & (weights > 0)
        found = tl.min(tl.where(beyond, ids, NOBODY), 0)
        below += tl.sum(weights, 0)
        start += BLOCK
    tl.store(accepted + request, kept)
    tl.store(following + request, found)


def by_chain(case):
    requests, gamma = case.drafted.shape
    accepted, following = (torch.empty(requests, dtype=torch.int64, device=case.drafted.device) for _ in range(2))

    def run():
        p = case.target.softmax(-1, dtype=torch.float32)
        q = case.draft.softmax(-1, dtype=torch.float32)
        chain[(requests,)](p, q, case.drafted, case.uniforms, accepted, following, case.target.shape[2], gamma, TILE)
        return accepted, following
    return run


def methods():
    return [
        Method("triton-recover-all", "shape of vLLM's first engine, ours in Triton", recover_all, injected=False),
        Method("triton-tiles", "shape of vLLM's second engine, ours in Triton", by_tiles, injected=False),
        Method("triton-chain", "shape of FlashInfer's chain sampling, ours in Triton", by_chain, injected=True),
    ]
