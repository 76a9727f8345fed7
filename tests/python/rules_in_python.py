"""The catalogue's rules, rewritten in Python in at most 15 lines each."""

import math
from fractions import Fraction

import numpy as np

from speclab import drafter, rule


def positive(row):
    return np.maximum(row, 0)


def argmax_row(row):
    return [int(i == row.argmax()) for i in range(len(row))]


def token(draw, target, draft, drafted):
    for i, x in enumerate(drafted):
        if not draw.bernoulli(min(1, target[i][x] / draft[i][x])):
            return i, draw.categorical(positive(target[i] - draft[i]), target[i])
    return len(drafted), draw.categorical(target[-1])


def match(draw, target, draft, drafted):
    for i, x in enumerate(drafted):
        y = draw.categorical(target[i])
        if y != x:
            return i, y
    return len(drafted), draw.categorical(target[-1])


def relaxed_match(single, acc):
    def relaxed_match(draw, target, draft, drafted):
        for i, x in enumerate(drafted):
            if not draw.bernoulli(1 if target[i][x] >= single else min(1, target[i][x] / acc)):
                return i, draw.categorical([0 if y == x else p for y, p in enumerate(target[i])])
        return len(drafted), draw.categorical(target[-1])

    return relaxed_match


def gumbel_coupled(p, q, x):
    """Weights of the target's token, given that the draft drew x with the same Gumbel noise."""
    larger = lambda s: positive(p - s * q).sum() + s * q.sum()
    ratio = [p[k] / q[k] if q[k] > 0 else math.inf for k in range(len(p))]
    integral, at = {0: 0}, 0
    for r in sorted(set(ratio) - {math.inf}):
        integral[r], at = integral[at] + (r - at) / (larger(at) * larger(r)), r
    integral[math.inf] = integral[at] + 1 / (q.sum() * larger(at))
    w = [p[k] * max(integral[ratio[k]] - integral[ratio[x]], 0) for k in range(len(p))]
    w[x] = p[x] / (q[x] * larger(ratio[x]))
    return w


def gumbel(draw, target, draft, drafted):
    for i, x in enumerate(drafted):
        if (y := draw.categorical(gumbel_coupled(target[i], draft[i], x), target[i])) != x:
            return i, y
    return len(drafted), draw.categorical(target[-1])


def rejection(draw, target, draft, drafted):
    for i, x in enumerate(drafted):
        rate = min(1, *(q / p for p, q in zip(target[i], draft[i]) if p > 0))
        if not draw.bernoulli(rate * target[i][x] / draft[i][x]):
            return i, draw.categorical(target[i])
    return len(drafted), draw.categorical(target[-1])


@rule(plain=argmax_row)
def greedy_of_any_row(draw, target, draft, drafted):
    for i, x in enumerate(drafted):
        if x != target[i].argmax():
            return i, target[i].argmax()
    return len(drafted), target[-1].argmax()


def greedy(draw, target, draft, drafted):
    return greedy_of_any_row(draw, target, draft, drafted)


def block(draw, target, draft, drafted):
    prefix, accept = [1], [1]
    for i, x in enumerate(drafted):
        left = positive(prefix[i] * target[i] - draft[i]).sum()
        below = left + 1 - prefix[i]
        accept[i] = left / below if below > 0 else 1
        prefix.append(min(1, prefix[i] * target[i][x] / draft[i][x]))
        accept.append(prefix[-1])
    n = len(drafted)
    while n > 0 and not draw.bernoulli(accept[n]):
        n -= 1
    if n == len(drafted):
        return n, draw.categorical(target[n])
    return n, draw.categorical(positive(prefix[n] * target[n] - draft[n]), target[n])


def hsd(draw, target, draft, drafted):
    ratio, largest, capped, accept = Fraction(1), 1, [1], []
    for i, x in enumerate(drafted):
        difference = capped[i] * target[i] - draft[i]
        more, less = positive(difference).sum(), positive(-difference).sum()
        accept.append(more / max(more, less) if less > 0 else 1)
        ratio = ratio * target[i][x] / draft[i][x]
        largest = max(largest, ratio)
        capped.append(ratio / largest)
    n = len(drafted)
    if draw.bernoulli(min(1, ratio)):
        return n, draw.categorical(target[n])
    while not draw.bernoulli(accept[n := n - 1]):
        pass
    return n, draw.categorical(positive(capped[n] * target[n] - draft[n]), target[n])


def hsd_pseudocode(draw, target, draft, drafted):
    ratio, joint = [Fraction(1)], [Fraction(1)]
    for i, x in enumerate(drafted):
        ratio.append(ratio[i] * target[i][x] / draft[i][x])
        joint.append(joint[i] * draft[i][x])
    last = len(drafted) - 1
    if last < 0 or draw.bernoulli(min(1, ratio[-1])):
        return last + 1, draw.categorical(target[-1])
    scale = 1 if ratio[last] > max(ratio[:last], default=1) else joint[last]
    return last, draw.categorical(positive(target[last] - scale * draft[last]), target[last])


def scheduled(draw, target, draft, drafted):
    survival, n = 1, 0
    while n < len(drafted) and (survival := survival * draft[n].max()) >= Fraction(3, 10):
        n += 1
    return token(draw, target[: n + 1], draft[:n], drafted[:n])


def lenient(lenience, residual_scale):
    def rule(draw, target, draft, drafted):
        for i, x in enumerate(drafted):
            if not draw.bernoulli(min(1, target[i][x] / (lenience * draft[i][x]))):
                return i, draw.categorical(positive(target[i] - residual_scale * draft[i]), target[i])
        return len(drafted), draw.categorical(target[-1])

    return rule


def lenient_greedy(lenience, delta=1, top_k=3):
    @rule(plain=argmax_row)
    def lenient_greedy(draw, target, draft, drafted):
        for i, x in enumerate(drafted):
            best = sorted(range(len(target[i])), key=lambda y: (-target[i][y], y))
            enough = max(lenience * target[i].max(), target[i].max() - delta)
            if target[i][x] < enough or target[i][x] == 0 or x not in best[:top_k]:
                return i, target[i].argmax()
        return len(drafted), target[-1].argmax()

    return lenient_greedy


def typical(draw, target, draft, drafted):
    for i, x in enumerate(drafted):
        entropy = -sum(float(p) * math.log(p) for p in target[i] if p > 0)
        if not target[i][x] > min(0.3, 0.09 * math.exp(-entropy)):
            return i, draw.categorical(target[i])
    return len(drafted), draw.categorical(target[-1])


def cascade(draw, target, draft, drafted):
    for i, x in enumerate(drafted):
        good = target[i] >= Fraction(9, 10) * target[i].max()
        aimed = draft[i] * good + (draft[i] * ~good).sum() * target[i]
        if not draw.bernoulli(min(1, aimed[x] / draft[i][x])):
            return i, draw.categorical(positive(aimed - draft[i]), target[i])
    return len(drafted), draw.categorical(target[-1])


def deferral(draw, target, draft, drafted):
    for i, x in enumerate(drafted):
        if draft[i].max() < Fraction(4, 5) and not draw.bernoulli(min(1, target[i][x] / draft[i][x])):
            return i, draw.categorical(positive(target[i] - draft[i]), target[i])
    return len(drafted), draw.categorical(target[-1])


def ensemble(draw, target, draft, drafted):
    for i, x in enumerate(drafted):
        mixed = (7 * target[i] + 3 * draft[i]) / 10
        if not draw.bernoulli(min(1, mixed[x] / draft[i][x])):
            return i, draw.categorical(positive(mixed - draft[i]), target[i])
    return len(drafted), draw.categorical(target[-1])


def tolerant(draw, target, draft, drafted):
    for i, x in enumerate(drafted):
        if not draw.bernoulli(min(1, target[i][x] / draft[i][x] + (1 - target[i].max()) / 5)):
            return i, draw.categorical(positive(target[i] - draft[i]), target[i])
    return len(drafted), draw.categorical(target[-1])


def fuzzy(threshold):
    def fuzzy(draw, target, draft, drafted):
        for i in range(len(drafted)):
            if positive(target[i] - draft[i]).sum() > threshold:
                return i, draw.categorical(target[i])
        return len(drafted), draw.categorical(target[-1])

    return fuzzy


def fly(draw, target, draft, drafted):
    best = [row.argmax() for row in target]
    for i, x in enumerate(drafted):
        entropy = -sum(float(p) * math.log(p) for p in target[i] if p > 0) / math.log(len(target[i]))
        follows = list(drafted[i + 1 : i + 2]) == best[i + 1 : i + 2] or i + 1 == len(drafted)
        if x != best[i] and not (entropy >= 0.3 and i + 1 <= len(drafted) and follows):
            return i, draw.categorical(target[i])
    return len(drafted), draw.categorical(target[-1])


@rule(plain=argmax_row)
def mars(draw, target, draft, drafted):
    for i, x in enumerate(drafted):
        best, second = sorted(range(len(target[i])), key=lambda y: (-target[i][y], y))[:2]
        logit = lambda y: math.log(target[i][y]) + 20
        if x != best and not (x == second and target[i][x] > 0 and logit(second) / logit(best) > 0.9):
            return i, best
    return len(drafted), target[-1].argmax()


@rule(plain=argmax_row)
def bild(draw, target, draft, drafted):
    for i, x in enumerate(drafted):
        best = target[i].argmax()
        if draft[i].max() < 0.35 or (x != best and target[i][x] < math.exp(-8)):
            return i, best
    return len(drafted), target[-1].argmax()


def sigmoid(draw, target, draft, drafted):
    def weight(p):
        return 1 / (1 + math.exp(-(math.log(p) + 1000) / 2000)) if p > 0 else 0.0

    for i, x in enumerate(drafted):
        p, q = [weight(value) for value in target[i]], [weight(value) for value in draft[i]]
        if not draw.bernoulli(Fraction(min(1.0, p[x] / q[x]))):
            return i, draw.categorical([Fraction(max(a - b, 0.0)) for a, b in zip(p, q)], target[i])
    return len(drafted), draw.categorical(target[-1])


@rule(drafts=2)
def recursive(draw, target, draft, candidates):
    left = target
    for x in candidates:
        if draw.bernoulli(min(1, left[x] / draft[x])):
            return True, x
        residual = positive(left - draft)
        left = residual / residual.sum() if residual.sum() > 0 else left
    return False, draw.categorical(left, target)


@rule(drafts=2)
def k_seq(draw, target, draft, candidates):
    k, overlap = len(candidates), lambda rho: np.minimum(target / rho, draft).sum()
    lossless = lambda rho: 1 - (1 - overlap(rho)) ** k <= rho * overlap(rho)
    low, high = 1.0, float(k)
    if lossless(Fraction(1)):
        low, high = 1.0, 1.0
    while high - low > 1e-15 * high and low != (middle := low + (high - low) / 2) != high:
        low, high = (low, middle) if lossless(Fraction(middle)) else (middle, high)
    rho, beta = Fraction(high), overlap(Fraction(high))
    for x in candidates:
        if draw.bernoulli(min(1, target[x] / (rho * draft[x]))):
            return True, x
    share = (1 - (1 - beta) ** k) / beta if beta > 0 else 0
    return False, draw.categorical(positive(target - share * np.minimum(draft, target / rho)), target)


def gbv(target, draft, paths):
    """A drafter of the path that is verified, for `block`; `target(tokens)` and `draft(tokens)` are the models."""

    def highest(draw, tokens, gamma):
        drawn, chosen, rows, below, here = [()] * paths, (), [], 0, 1
        for k in range(gamma * paths):
            drawn[k % paths] += (draw.categorical(draft(tokens + drawn[k % paths])),)
        for i in range(gamma):
            p, q = np.array(target(tokens + chosen)), np.array(draft(tokens + chosen))
            order = np.array(sorted(range(len(q)), key=lambda t: (p[t] / q[t] if q[t] > 0 else math.inf, -t)))
            up_to, row = below + here * q[order].cumsum(), np.zeros(len(q), dtype=q.dtype)
            row[order] = up_to**paths - (up_to - here * q[order]) ** paths
            x = max({path[i] for path in drawn if path[:i] == chosen}, key=order.tolist().index)
            below, here = (up_to - here * q[order])[order == x][0], here * q[x]
            chosen, rows = chosen + (x,), rows + [row / row.sum()]
        return chosen, rows

    return drafter(highest)


# Planted faults.


def accepts_everything(draw, target, draft, drafted):
    return len(drafted), draw.categorical(target[-1])


def resamples_target(draw, target, draft, drafted):
    for i, x in enumerate(drafted):
        if not draw.bernoulli(min(1, target[i][x] / draft[i][x])):
            return i, draw.categorical(target[i])
    return len(drafted), draw.categorical(target[-1])


def swaps_residual(draw, target, draft, drafted):
    for i, x in enumerate(drafted):
        if not draw.bernoulli(min(1, target[i][x] / draft[i][x])):
            return i, draw.categorical(positive(draft[i] - target[i]), target[i])
    return len(drafted), draw.categorical(target[-1])


def wrong(accept=None, left=None, bonus=None):
    """`token` with another step: P(accept x), weights of its replacement, or weights of the bonus."""
    accept = accept or (lambda p, q, x: min(1, p[x] / q[x]))
    left = left or (lambda p, q, x: positive(p - q))
    bonus = bonus or (lambda target, draft: target[-1])

    def wrong(draw, target, draft, drafted):
        for i, x in enumerate(drafted):
            if not draw.bernoulli(accept(target[i], draft[i], x)):
                return i, draw.categorical(left(target[i], draft[i], x), target[i])
        return len(drafted), draw.categorical(bonus(target, draft), target[-1])

    return wrong


def best_of(row):
    return argmax_row(np.array(row)) if max(row) > 0 else row


WRONG = {
    "inverted-ratio": wrong(accept=lambda p, q, x: min(1, q[x] / p[x]) if p[x] > 0 else 1),
    "threshold": wrong(accept=lambda p, q, x: int(p[x] >= q[x])),
    "second-chance": wrong(accept=lambda p, q, x: 1 - (1 - min(1, p[x] / q[x])) * (1 - p[x])),
    "argmax-residual": wrong(left=lambda p, q, x: best_of(positive(p - q))),
    "absolute-residual": wrong(left=lambda p, q, x: abs(p - q)),
    "softmax-residual": wrong(left=lambda p, q, x: [Fraction(math.exp(float(a - b))) for a, b in zip(p, q)]),
    "other-token": wrong(left=lambda p, q, x: [0 if y == x else a for y, a in enumerate(p)]),
    "stale-bonus": wrong(bonus=lambda target, draft: target[-2]),
    "residual-bonus": wrong(bonus=lambda target, draft: positive(target[-1] - draft[-1])),
    "draft-bonus": wrong(bonus=lambda target, draft: draft[-1]),
    "argmax-bonus": wrong(bonus=lambda target, draft: argmax_row(target[-1])),
    "unwritten-bonus": wrong(bonus=lambda target, draft: [int(i == 0) for i in range(len(target[-1]))]),
    "next-context": lambda draw, target, draft, drafted: token(draw, [*target[1:], target[-1]], draft, drafted),
}


def counts(draw, target, draft, drafted):
    n = sum([draw.bernoulli(min(1, target[i][x] / draft[i][x])) for i, x in enumerate(drafted)])
    if n == len(drafted):
        return n, draw.categorical(target[-1])
    return n, draw.categorical(positive(target[n] - draft[n]), target[n])


def reuses_gumbel(draw, target, draft, drafted):
    for i, x in enumerate(drafted):
        if not draw.bernoulli(min(1, target[i][x] / draft[i][x])):
            left = positive(target[i] - draft[i])
            return i, draw.categorical(gumbel_coupled(left / left.sum(), draft[i], x), target[i])
    return len(drafted), draw.categorical(target[-1])


def filters_bonus(draw, target, draft, drafted):
    for i, x in enumerate(drafted):
        if not draw.bernoulli(min(1, target[i][x] / draft[i][x])):
            return i, draw.categorical(positive(target[i] - draft[i]), target[i])
    return len(drafted), draw.categorical([p if 2 * p >= target[-1].max() else 0 for p in target[-1]])


def anticipates(draw, target, draft, drafted):
    survival, n = 1, 0
    while n < len(drafted) and 2 * (survival := survival * draft[n][drafted[n]]) >= 1:
        n += 1
    return token(draw, target[: n + 1], draft[:n], drafted[:n])


def misses(draw, target, draft, drafted):
    if not draw.bernoulli(Fraction(1, 2)):
        return token(draw, target, draft, drafted)
    for i, x in enumerate(drafted):
        if x != target[i].argmax():
            return i, draw.categorical(target[i])
    return len(drafted), draw.categorical(target[-1])


def repeats_uniform(draw, target, draft, drafted):
    below = 1
    for i, x in enumerate(drafted):
        ratio = target[i][x] / draft[i][x]
        if not draw.bernoulli(min(1, ratio / below)):
            return i, draw.categorical(positive(target[i] - draft[i]), target[i])
        below = min(below, ratio)
    return len(drafted), draw.categorical(target[-1])


def draws_ratio(draw, target, draft, drafted):
    for i, x in enumerate(drafted):
        y = draw.categorical(target[i])
        hundredths = math.floor(100 * (draft[i][x] / target[i][y]))
        if not draw.bernoulli(min(1, Fraction(hundredths + 1, 101))):
            return i, draw.categorical(target[i + 1])
    return len(drafted), draw.categorical(target[-1])


def siblings(draw, tree):
    node = -1
    while tree.children(node):
        p, q = tree.target(node), tree.draft(node)
        for child in tree.children(node):
            x = tree.token(child)
            if draw.bernoulli(min(1, p[x] / q[x]) if q[x] > 0 else 0):
                break
            left, q = positive(p - q), without(q, x)
            p = left / left.sum() if left.sum() > 0 else p
        else:
            return node, draw.categorical(p, tree.target(node))
        node = child
    return node, draw.categorical(tree.target(node))


def without(q, x):
    q = np.where(np.arange(len(q)) == x, 0, q)
    return q / q.sum() if q.sum() > 0 else q


def traversal(draw, tree):
    def visit(node, reach):
        p, q = tree.target(node), tree.draft(node) if tree.children(node) else None
        for child in tree.children(node):
            x = tree.token(child)
            if found := visit(child, min(1, reach * p[x] / q[x]) if q[x] > 0 else 0):
                return found
            left = positive(reach * p - q)
            total, below = left.sum(), left.sum() + 1 - reach
            reach, p = total / below if below > 0 else 1, left / total if total > 0 else p
            q = without(q, x)
        return (node, draw.categorical(p, tree.target(node))) if node < 0 or draw.bernoulli(reach) else None

    return visit(-1, 1)


def settle(target, largest, flat):
    """The weight of the candidate of the largest ratio against the first, by bisection; and the choice's distribution."""
    rises = lambda w: sum(a - b for p, a, b in zip(target, largest, flat) if w * a + (1 - w) * b < p) >= 0
    low, high = (Fraction(1), Fraction(1)) if rises(Fraction(1)) else (Fraction(0), Fraction(1))
    for _ in range(10 if low < high else 0):
        middle = (low + high) / 2
        low, high = (middle, high) if rises(middle) else (low, middle)
    return low, low * largest + (1 - low) * flat


@rule(drafts=2)
def importance(draw, target, draft, candidates):
    key = [(target[t] / draft[t] if draft[t] > 0 else math.inf, -t) for t in range(len(target))]
    k, order = len(candidates), np.array(sorted(range(len(target)), key=key.__getitem__))
    up_to = np.concatenate([[0], draft[order].cumsum()])
    excess = up_to[1:] ** k - target[order].cumsum()
    split = int(excess.argmax()) + 1 if excess.max() > 0 else 0
    largest, f = up_to[1:] ** k - up_to[:-1] ** k, up_to[split]
    parts = [(order[:split], largest[:split], f ** (k - 1)), (order[split:], largest[split:], sum(f**j for j in range(k)))]
    settled = [settle(target[part], most, share * draft[part]) for part, most, share in parts]
    q = np.concatenate([row for _, row in settled])[np.argsort(order)]
    high = [x for x in candidates if x in parts[1][0]]
    pool, weight = (high, settled[1][0]) if high else (candidates, settled[0][0])
    x = max(pool, key=key.__getitem__) if k > 1 and draw.bernoulli(weight) else pool[0]
    taken = draw.bernoulli(min(1, target[x] / q[x]))
    return taken, x if taken else draw.categorical(positive(target - q), target)
