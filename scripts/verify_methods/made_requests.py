"""The batches that scripts/check_kernel.py gives to a function, in host memory, and the outcomes that the definition allows for them."""
import math
import random
from array import array
from ctypes import addressof, c_double, c_int32
from dataclasses import dataclass, replace

from speclab_kernels.c_library import PROBABILITIES, Batch, Rows, library

from .checks import softmax

# Without given uniforms, outcomes that need a uniform nearer to 0 or 1 than this count as impossible.
NEVER = 1e-12
INFINITY = math.inf
PEAK = 64.0  # a logit so far above all others that its id has all the probability


@dataclass
class Requests:
    """Dense rows [B, gamma + 1, vocab] and [B, gamma, vocab] of float32, [B, gamma] ids, and [B, gamma + 1] uniforms: multiples of 2^-24,
    which float32 has, too. Requests have `lengths` drafted tokens; ids after them are 0, and rows after them are not read."""
    gamma: int
    vocab: int
    target: array
    draft: array
    drafted: list
    uniforms: list
    lengths: list
    names: tuple = ()  # of requests that are edges
    probabilities: frozenset = frozenset()  # which of "target" and "draft" are probabilities in place of logits

    def row(self, side, request, position):
        """Returns the probabilities of a row, in double precision."""
        first = (request * (self.gamma + (side == "target")) + position) * self.vocab
        values = getattr(self, side)[first:first + self.vocab]
        return values if side in self.probabilities else softmax(values)


def with_probabilities(requests, sides):
    """Returns the requests with the softmax of the logits, rounded to float32, on these sides."""
    for side in sides:
        values, vocab = getattr(requests, side), requests.vocab
        rows = array("f")
        for first in range(0, len(values), vocab):
            rows.extend(softmax(values[first:first + vocab]))
        requests = replace(requests, **{side: rows}, probabilities=requests.probabilities | {side})
    return requests


def definition(requests, uniforms):
    """Returns accepted and next, as the C library's program in double precision decides."""
    count, gamma, vocab = len(requests.lengths), requests.gamma, requests.vocab
    accepted, following = ((c_int32 * count)() for _ in range(2))
    given = (c_double * len(uniforms))(*uniforms), (c_int32 * count)(*requests.lengths), (c_int32 * len(requests.drafted))(*requests.drafted)
    kinds = {f"{side}_kind": PROBABILITIES * (side in requests.probabilities) for side in ("target", "draft")}
    draft = Rows(requests.draft.buffer_info()[0], gamma * vocab, vocab) if gamma else Rows()
    library().on_cpu(Batch(
        requests=count, gamma=gamma, vocab=vocab, target=Rows(requests.target.buffer_info()[0], (gamma + 1) * vocab, vocab), draft=draft, **kinds,
        uniforms=addressof(given[0]), lengths=addressof(given[1]), drafted=addressof(given[2]), accepted=addressof(accepted),
        next=addressof(following)))
    return list(accepted), list(following)


def allowed(requests, band):
    """Returns for each request the least and most accepted tokens, and the ranges of the next id with either number, over all uniforms that are
    within `band` of the given ones; with band None, over all uniforms."""
    size = requests.gamma + 1

    def corner(up_accepts, up_next):
        moved = []
        for place, u in enumerate(requests.uniforms):
            up = up_next if place % size == requests.gamma else up_accepts
            u = (1 - NEVER if up else NEVER) if band is None else u + (band if up else -band)
            moved.append(min(max(u, 0.0), 1 - 2.0**-53))
        return definition(requests, moved)
    (most, low_most), (_, high_most) = corner(False, False), corner(False, True)
    (least, low_least), (_, high_least) = corner(True, False), corner(True, True)
    return [(least[i], most[i], {most[i]: (low_most[i], high_most[i]), least[i]: (low_least[i], high_least[i])}) for i in range(len(least))]


def logits_of(source, count, scale):
    """Returns random logits between -scale and scale."""
    return array("f", [z * scale / 32768 for z in array("h", source.randbytes(2 * count))])


def uniforms_of(source, count):
    return [source.getrandbits(24) / 2**24 for _ in range(count)]


def draws_of(rows, vocab, source):
    """Returns an id for each row of logits, drawn by the definition: it is the next token of a request without drafted tokens."""
    count = len(rows) // vocab
    return definition(Requests(0, vocab, rows, array("f"), [], uniforms_of(source, count), [0] * count), uniforms_of(source, count))[1]


def random_requests(count, gamma, vocab, ragged, seed):
    """Returns requests of four kinds, in turn: random rows; rows of the target with all probability on one id, the drafted one or, before the
    next token, one of the last third of the ids, which 16 bits cannot hold in a vocabulary such as Llama 3's; and rows of the target, or of the draft, without two thirds of the ids, as a grammar or top-k leaves them."""
    source = random.Random(seed)
    target = logits_of(source, count * (gamma + 1) * vocab, 6)
    draft = array("f")
    for request in range(count):
        first = request * (gamma + 1) * vocab
        rows = target[first:first + gamma * vocab]
        draft.extend(z + noise for z, noise in zip(rows, logits_of(source, len(rows), 2)))
    drafted = draws_of(draft, vocab, source)
    for row in range(count * (gamma + 1)):
        request, position = divmod(row, gamma + 1)
        first = row * vocab
        if request % 4 == 1:
            follows = position < gamma and source.random() < 0.75
            target[first + (drafted[request * gamma + position] if follows else source.randrange(vocab * 2 // 3, vocab))] = PEAK
        elif request % 4 == 2:
            for id in range(vocab):
                if id % 3 != row % 3 and id != row % vocab:
                    target[first + id] = -INFINITY
        elif request % 4 == 3 and position < gamma:
            place = request * gamma + position
            for id in range(vocab):
                if id % 3 != row % 3 and id != drafted[place]:
                    draft[place * vocab + id] = -INFINITY
    lengths = [source.randint(0, gamma) if ragged else gamma for _ in range(count)]
    for request, length in enumerate(lengths):
        drafted[request * gamma + length:(request + 1) * gamma] = [0] * (gamma - length)
    return Requests(gamma, vocab, target, draft, drafted, uniforms_of(source, count * (gamma + 1)), lengths)


def edge_requests(gamma, vocab, seed):
    """Returns requests whose outcome follows from one thing each, which is their name."""
    base = random_requests(1, gamma, vocab, False, seed)
    edges, rows = [], gamma + 1

    def add(name, uniforms, change):
        target = base.target[:]
        change(target)
        edges.append((name, target, uniforms))

    def peaked_until(rejected):
        def change(target):
            for position in range(rows):
                kept = position < rejected and position < gamma
                id = base.drafted[position] if kept else (base.drafted[min(position, gamma - 1)] + 1) % vocab
                target[position * vocab + id] = PEAK
        return change

    def without(ids):
        def change(target):
            for id in ids:
                target[id] = -INFINITY
        return change

    def like_the_draft(target):
        target[:gamma * vocab] = base.draft

    def equal(target):
        target[:] = array("f", [1.0] * len(target))
    for position in range(gamma):
        add(f"the first rejection at position {position}", [0.5] * rows, peaked_until(position))
    add("all accepted, and the bonus token has its own row", [0.5] * rows, peaked_until(gamma))
    add("target and draft are equal", [1 - 2.0**-10] * rows, like_the_draft)
    first = base.drafted[0]
    add("a drafted token of target probability 0, at uniform 0", [0.0] * rows, without([first]))
    add("only one id has probability, at uniform 0", [0.0] * rows, without(set(range(vocab)) - {(first + 1) % vocab}))
    add("the first ids have no probability, at uniform 0", [1 - 2.0**-24] * gamma + [0.0], without({*range(vocab // 2), first}))
    add("the last ids have no probability, just below uniform 1", [1 - 2.0**-24] * rows, without({*range(vocab // 2, vocab), first}))
    add("all ids of the target are equally likely", [0.999] * gamma + [0.5], equal)
    target, uniforms = array("f"), []
    for _, values, of_edge in edges:
        target.extend(values)
        uniforms += of_edge
    return Requests(gamma, vocab, target, base.draft * len(edges), base.drafted * len(edges), uniforms, [gamma] * len(edges),
                    tuple(name for name, _, _ in edges))
