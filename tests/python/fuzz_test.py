"""Makes calls with odd arguments, 20,000 in the long suite: each must return, or raise an exception of the right type with a message. A crash would
end the test."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest

import speclab

REFUSALS = (ValueError, TypeError)  # ConfigError is a ValueError


class Odd:
    """Numbers and arrays that users pass by mistake, and some valid ones."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def scalar(self):
        if self.random.random() < 0.4:
            return self.random.choice([0.5, 0.8, 0.05])
        return self.random.choice(
            [0, 1, 2, 3, -1, 0.5, 0.8, 0.05, 1.5, -0.5, math.nan, math.inf, -math.inf, 2**31, 2**63, 2**64, 10**400, None, "x", "0.5",
             b"1", True, [], [1], {}, Fraction(1, 3), np.float32(0.5), np.int64(3), np.nan, np.array(2), np.array([1, 2]), object(), 1j]
        )

    def small(self):
        return self.random.choice([0, 1, 2, 3, 4]) if self.random.random() < 0.85 else self.scalar()

    def array(self, *ndims):
        r = self.random
        if r.random() < 0.05:
            return self.scalar()
        ndim = r.choice(ndims) if r.random() < 0.92 else r.randint(0, 4)
        shape = [r.choice([1, 2, 3, 3, 3, 3, 3, 3]) for _ in range(ndim)]
        if shape and r.random() < 0.06:
            shape[r.randrange(len(shape))] = r.choice([0, 9, 2000])
        generator = np.random.default_rng(r.randrange(2**32))
        values = generator.random(shape)
        if shape and r.random() < 0.95:
            with np.errstate(all="ignore"):
                values = values / values.sum(-1, keepdims=True)
        if values.size and r.random() < 0.1:
            values.flat[r.randrange(values.size)] = r.choice([math.nan, math.inf, -1.0, 0.0, 1e300, 5e-324])
        return self.layout(values)

    def layout(self, values):
        r = self.random
        with np.errstate(all="ignore"):
            values = values.astype(r.choice(["f8", "f8", "f4", "f2", ">f8", "g", "i4", "u1", "bool", "c16", "O", "S3", "M8[s]"] if r.random() < 0.12 else ["f8", "f4"]))
        how = r.randrange(8)
        if how == 0:
            return values.tolist()
        if how == 1:
            values.flags.writeable = False
        if how == 2:
            return np.asfortranarray(values)
        if how == 3 and values.ndim:
            return np.repeat(values, 2, axis=-1)[..., ::2]
        if how == 4 and values.ndim:
            return values[::-1]
        if how == 5 and values.ndim:
            return np.broadcast_to(values, (3, *values.shape))[0]
        if how == 6 and values.dtype == np.float64:
            return np.frombuffer(b"\0" + values.tobytes(), np.uint8)[1:].view(np.float64).reshape(values.shape)
        return values

    def ids(self):
        r = self.random
        if r.random() < 0.1:
            return self.array(1, 2)
        shape = [r.choice([0, 1, 2, 3, 3]) for _ in range(r.choice([1, 2, 2, 2, 3]))]
        values = np.random.default_rng(r.randrange(2**32)).integers(-1 if r.random() < 0.2 else 0, r.choice([2, 3, 4, 2**31, 2**62]) if r.random() < 0.2 else 3, shape)
        return values.astype(r.choice(["i8", "i4", "u8", "i2"]))

    def rule(self):
        return self.random.choice(
            ["token"] * 5 + ["block", "gumbel", "recursive", "tree", "typical", "nonsense", "", {"kind": "lenient", "lenience": 0.5},
             {"kind": "lenient", "lenience": -1}, {}, {"kind": 3}, None, 3, lambda *a: (0, 0), lambda *a: None,
             lambda draw, t, d, x: (0, draw.categorical(t[0])), lambda draw: 1]
        )

    def model(self):
        return self.array(1, 2) if self.random.random() < 0.85 else (lambda tokens: self.array(1))

    def draft(self):
        r = self.random
        if r.random() < 0.9:
            return self.model()
        returned = r.choice([lambda: ([], []), lambda: self.ids(), lambda: ([0], [self.array(1)]), lambda: (self.ids(), self.array(2)), lambda: None])
        return speclab.drafter(r.choice([lambda draw, tokens, gamma: returned(), lambda draw: 1,
                                         lambda draw, tokens, gamma: ([draw.categorical([1, 1, 1])], [[Fraction(1, 3)] * 3])]))


def batch(odd):
    """Arrays whose shapes mostly fit one another."""
    r = odd.random
    if r.random() < 0.3:
        return odd.array(3), odd.array(3), odd.ids()
    requests, gamma, vocab = r.randint(1, 3), r.randint(0, 3), r.randint(1, 5)
    generator = np.random.default_rng(r.randrange(2**32))
    target = generator.dirichlet(np.ones(vocab), (requests, gamma + 1))
    draft = generator.dirichlet(np.ones(vocab), (requests, gamma))
    return odd.layout(target), odd.layout(draft), generator.integers(0, vocab + (r.random() < 0.1), (requests, gamma))


def calls(odd):
    r = odd.random
    chosen = r.randrange(12)
    if chosen == 0:
        return lambda: speclab.alpha(odd.array(1, 2, 3), odd.array(1, 2, 3))
    if chosen == 1:
        return lambda: speclab.alpha_from_logprobs(odd.array(1, 2), odd.array(1, 2))
    if chosen == 2:
        return lambda: speclab.alpha_from_drafted(odd.array(1), odd.array(1), confidence=odd.scalar())
    if chosen == 3:
        return lambda: speclab.optimal_gamma(odd.scalar(), odd.scalar())
    if chosen == 4:
        return lambda: speclab.predict(odd.scalar(), odd.scalar(), gamma=r.choice([None, odd.scalar()]))
    if chosen in (5, 6):
        target, draft, ids = batch(odd)
        uniforms = r.choice([None, odd.array(2)])
        seed = r.choice([None, 1, 1, odd.scalar()])
        return lambda: speclab.verify(target, draft, ids, uniforms=uniforms, seed=seed, rule=odd.rule(), validate=r.random() < 0.8, threads=r.choice([0, 1]))
    if chosen == 7:
        return lambda: speclab.simulate(odd.model(), odd.draft(), odd.small(), odd.rule(), seed=odd.small(), rounds=r.choice([1, 5, 70]), trials=r.choice([None, 1, odd.small()]), prompt=r.choice([(), [0], [odd.scalar()]]))
    if chosen == 8:
        return lambda: speclab.prove(odd.rule(), odd.model(), odd.draft(), odd.small(), exact=r.random() < 0.5, max_branches=2000, context=r.choice([(), [0], [odd.scalar()]]))
    if chosen == 9:
        law = r.choice([odd.array(1), {(0,): 0.5, (1,): 0.5}, {}, {(0,): odd.scalar()}, {odd.random.choice([0, (), "a", (0, 1)]): 1.0}])
        return lambda: speclab.check(odd.ids(), law, level=r.choice([1e-6, 0.01, 0.5]), power=r.choice([0.9, 0.99]))
    if chosen == 10:
        return lambda: speclab.sample(odd.model(), r.choice([None, odd.draft()]), odd.small(), odd.rule(), tokens=odd.small(), samples=odd.small(), seed=odd.small())
    return lambda: speclab.models.from_rows(odd.array(1, 2))(r.choice([[], [0], [odd.scalar()]]))


@pytest.mark.parametrize("calls_made", [6_000, pytest.param(20_000, marks=pytest.mark.slow)])
def test_fuzz(calls_made):
    answers = 0
    for number in range(calls_made):
        odd = Odd(number)
        try:
            with np.errstate(all="ignore"):
                calls(odd)()
            answers += 1
        except REFUSALS as refusal:
            assert str(refusal), f"call {number}: nothing is said"
    # Not everything is refused.
    assert calls_made / 20 < answers < calls_made
