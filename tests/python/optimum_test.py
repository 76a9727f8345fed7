"""Compares the optimum of a round with another formulation of the linear program, solved by HiGHS: one constraint per complete string."""

import itertools
from fractions import Fraction

import highspy
import numpy as np
import pytest

import speclab


def row(generator, vocab):
    weights = generator.integers(0, 10, vocab)
    return (weights if weights.sum() else np.ones(vocab)) / max(weights.sum(), 1)


def probability(rows, tokens, memory):
    """The probability of the tokens, from rows [V], or from rows [V, V] by the last token, which is 0 at first."""
    product, last = 1.0, 0
    for token in tokens:
        product *= rows[last][token] if memory else rows[token]
        last = token
    return product


def drawn(draft, gamma, memory):
    """The distribution of one drafted path."""
    strings = itertools.product(range(np.shape(draft)[-1]), repeat=gamma)
    return {path: probability(draft, path, memory) for path in strings}


def by_highs(target, law, gamma, drafts, memory):
    """Maximises the emitted tokens over couplings of drafted paths, which have the given distribution, with emitted strings."""
    vocab = np.shape(target)[-1]
    outcomes = [(paths, np.prod([law[path] for path in paths])) for paths in itertools.product(law, repeat=drafts)]
    outcomes = [(paths, weight) for paths, weight in outcomes if weight > 0]
    whole = [s for s in itertools.product(range(vocab), repeat=gamma + 1) if probability(target, s, memory) > 0]
    model = highspy.Highs()
    model.silent()
    completed = {s: [] for s in whole}
    emitted = []
    for paths, weight in outcomes:
        here = []
        for emission in {path[:n] + (token,) for path in paths for n in range(len(path) + 1) for token in range(vocab)}:
            if probability(target, emission, memory) == 0:
                continue
            z = model.addVariable(lb=0)
            here.append(z)
            emitted.append(len(emission) * z)
            for s in whole:
                if s[: len(emission)] == emission:
                    completed[s].append(z * (1 / probability(target, emission, memory)))
        model.addConstr(sum(here) == weight)
    for terms in completed.values():
        model.addConstr(sum(terms) == 1)
    model.maximize(sum(emitted))
    assert model.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return model.getObjectiveValue()


@pytest.mark.parametrize("seed", range(12))
def test_another_solver_agrees(seed):
    generator = np.random.default_rng(seed)
    vocab, gamma, drafts = [(2, 1, 1), (3, 1, 2), (2, 2, 1), (2, 2, 2), (3, 2, 1), (2, 3, 1)][seed % 6]
    memory = seed >= 6
    make = (lambda: [row(generator, vocab) for _ in range(vocab)]) if memory else (lambda: row(generator, vocab))
    target, draft = make(), make()
    found = speclab.optimum(target, draft, gamma, drafts=drafts)
    assert found.proved and isinstance(found.expected_emitted, Fraction)
    assert float(found.expected_emitted) == pytest.approx(by_highs(target, drawn(draft, gamma, memory), gamma, drafts, memory), abs=1e-7)
    assert found.expected_emitted <= found.upper_bound <= found.expected_emitted + Fraction(1, 10**9)


def test_block_verification_attains_it_and_the_program_says_the_same():
    target, draft = [[.5, .3, .2], [.1, .1, .8], [1 / 3] * 3], [[.1, .3, .6], [.4, .4, .2], [.2, .3, .5]]
    for gamma in (1, 2, 3):
        best = speclab.optimum(target, draft, gamma).expected_emitted
        assert best == speclab.prove("block", target, draft, gamma).expected_emitted
        assert best >= speclab.prove("token", target, draft, gamma).expected_emitted


def test_a_function_and_a_context():
    rows = [[.5, .5], [.9, .1]]
    by_rows = speclab.optimum(rows, [.3, .7], 2, context=[1])
    by_function = speclab.optimum(lambda tokens: rows[tokens[-1] if tokens else 0], [.3, .7], 2, context=[1])
    assert by_rows.expected_emitted == by_function.expected_emitted != speclab.optimum(rows, [.3, .7], 2).expected_emitted


#: Rows by the last token: a target, and two drafts.
BY_LAST = [[.5, .3, .2], [.1, .8, .1], [.3, .3, .4]]
TWO = [[[.2, .3, .5], [.4, .3, .3], [.3, .6, .1]], [[.6, .3, .1], [.3, .6, .1], [.2, .2, .6]]]


def surer(last):
    """The row after a token, of the draft with the larger largest probability."""
    return max((draft[last] for draft in TWO), key=max)


@speclab.drafter
def of_the_surer(draw, tokens, gamma):
    drafted, rows = [], []
    for _ in range(gamma):
        row = [Fraction(str(q)) for q in surer([*tokens, *drafted][-1])]
        drafted.append(draw.categorical(row))
        rows.append(row)
    return drafted, rows


@speclab.drafter
def stops(draw, tokens, gamma):
    """Continues with probability 1/2, and always after token 0. The rows that it returns are not those it draws from."""
    drafted = []
    while len(drafted) < gamma and (drafted[-1:] == [0] or draw.bernoulli(Fraction(1, 2))):
        drafted.append(draw.categorical([Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]))
    return drafted, [[1, 0, 0]] * len(drafted)


def paths_of_stops(gamma, path=(), weight=1.0):
    going_on = 0 if len(path) == gamma else 1 if path[-1:] == (0,) else .5
    law = {path: weight * (1 - going_on)}
    for token, share in enumerate([.5, .25, .25] if going_on else []):
        law |= paths_of_stops(gamma, (*path, token), weight * going_on * share)
    return law


def test_a_drafter_is_enumerated():
    """Block verification of the same drafter attains the optimum; another solver agrees on the paths that follow from the code."""
    rows = [surer(last) for last in range(3)]
    found = speclab.optimum(BY_LAST, of_the_surer, 2, context=[0])
    assert found == speclab.optimum(BY_LAST, rows, 2, context=[0]) and found.proved
    assert found.expected_emitted == speclab.prove("block", BY_LAST, of_the_surer, 2, context=[0]).expected_emitted
    for drafts in (1, 2):
        found = speclab.optimum([.5, .3, .2], stops, 2, drafts=drafts)
        assert float(found.expected_emitted) == pytest.approx(by_highs([.5, .3, .2], paths_of_stops(2), 2, drafts, False), abs=1e-7)


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="gamma"):
        speclab.optimum([.5, .5], [.5, .5], 0)
    with pytest.raises(ValueError, match="variables.*lower gamma"):
        speclab.optimum([.1] * 10, [.1] * 10, 5)
    with pytest.raises(ValueError, match="drafts"):
        speclab.optimum([.5, .5], [.5, .5], 1, drafts=0)
