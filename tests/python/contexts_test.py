"""Tests that rules that read the row of another position are refuted by default, even on rows that are equal in every context."""

from fractions import Fraction

import numpy as np
import pytest

import rules_in_python as py
import speclab
from speclab import check_sampler, compare_rules, drafter, models, prove

TARGET, DRAFT = [0.5, 0.3, 0.2], [0.1, 0.3, 0.6]


def reading(*, bonus, residual):
    """The token rule, which draws the bonus from the target's row bonus(gamma) and the residual from row residual(i)."""

    def rule(draw, target, draft, drafted):
        for i, x in enumerate(drafted):
            if not draw.bernoulli(min(1, target[i][x] / draft[i][x])):
                left = [max(p - q, 0) for p, q in zip(target[residual(i)], draft[i])]
                return i, draw.categorical(left, otherwise=target[i])
        return len(drafted), draw.categorical(target[bonus(len(drafted))])

    return rule


def right(position):
    return position


def first(position):
    return 0


PLANTED = {
    "bonus of the first row": reading(bonus=first, residual=right),
    "residual of the first row": reading(bonus=right, residual=first),
}


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("name", PLANTED)
def test_planted_rules_are_refuted_by_default(name, exact):
    proof = prove(PLANTED[name], TARGET, DRAFT, 2, exact=exact)
    assert not proof.lossless and proof.rows == "made by context" and proof.tv > 0
    # The result contains the rows of the proof, and a proof on them gives the same.
    assert proof.target[0] == pytest.approx(TARGET) and len(proof.target) == 3
    again = prove(PLANTED[name], proof.target, proof.draft, 2, exact=exact)
    assert again.rows == "given" and again.tv == pytest.approx(proof.tv, abs=0 if exact else 1e-12)
    if exact:
        assert again.counterexample == proof.counterexample
    assert "which prove made from them" in str(proof)


def test_made_rows_are_those_of_the_recipe():
    proof = prove(PLANTED["bonus of the first row"], TARGET, DRAFT, 1)
    # After token 1: weights .5, .6, .6, shifted by one id.
    assert proof.target[1] == (Fraction(6, 17), Fraction(5, 17), Fraction(6, 17))
    assert proof.target[2] == (Fraction(6, 17), Fraction(6, 17), Fraction(5, 17))
    # With one drafted token the draft has only one row, so none is made for it.
    assert proof.draft == ((Fraction(1, 10), Fraction(3, 10), Fraction(3, 5)),)


@pytest.mark.parametrize("rows", [[0.5, 0.3, 0.2], [1 / 3, 1 / 3, 1 / 3], [0.5, 0.5, 0], [0, 1, 0], [1e-9, 0.4, 0.599999999]])
@pytest.mark.parametrize("name", ["token", "block", "gumbel", "match", {"kind": "recursive", "drafts": 2}])
def test_lossless_rules_are_proved_on_both(rows, name):
    proof = prove(name, rows, DRAFT, 2)
    assert proof.lossless and proof.rows == "also made by context"
    assert sum(proof.target[0]) == 1 and len(proof.target) == len(proof.draft) == 1
    assert prove(name, rows, rows, 2).lossless


def test_rules_in_python_are_proved_on_both():
    for rule in (py.token, py.block, reading(bonus=right, residual=right)):
        proof = prove(rule, TARGET, DRAFT, 2)
        assert proof.lossless and proof.rows == "also made by context"


def test_rows_that_differ_are_taken_as_they_are():
    chain = [[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]]
    assert prove("token", chain, chain, 2).rows == "given"
    # Rows are made only for the model whose rows do not depend on the context.
    refuted = prove(reading(bonus=right, residual=right), chain, DRAFT, 2)
    assert refuted.lossless and refuted.rows == "also made by context"
    assert prove(PLANTED["bonus of the first row"], chain, DRAFT, 1).rows == "given"


def test_functions_that_ignore_their_context_are_found_out_as_rows_are():
    proof = prove(PLANTED["bonus of the first row"], lambda tokens: TARGET, lambda tokens: DRAFT, 1)
    assert not proof.lossless and proof.rows == "made by context"
    assert prove("token", lambda tokens: TARGET, lambda tokens: DRAFT, 2).target is None


def test_drafters_keep_their_rows():
    @drafter
    def drafts(draw, tokens, gamma):
        return [draw.categorical([Fraction(1, 10), Fraction(3, 10), Fraction(6, 10)]) for _ in range(gamma)], [[Fraction(1, 10), Fraction(3, 10), Fraction(6, 10)]] * gamma

    assert prove("token", TARGET, drafts, 2).rows == "also made by context"
    assert not prove(PLANTED["bonus of the first row"], TARGET, drafts, 2).lossless


def test_what_rows_cannot_show_is_said():
    """A point at token 0 stays there in made rows."""
    proof = prove(PLANTED["bonus of the first row"], [1, 0, 0], DRAFT, 1)
    assert proof.rows == "alike in all contexts" and "cannot reveal a rule" in str(proof)
    assert prove("token", TARGET, DRAFT, 0).rows == "given"


def as_sampler(generator, *, bonus, residual):
    def sampler(target, draft, drafted):
        for i, x in enumerate(drafted):
            if generator.random() >= min(1, target[i, x] / draft[i, x]):
                left = np.maximum(target[residual(i)] - draft[i], 0)
                left = left if left.sum() > 0 else target[i]
                return [*drafted[:i], generator.choice(3, p=left / left.sum())]
        return [*drafted, generator.choice(3, p=target[bonus(len(drafted))])]

    return sampler


def test_samplers_that_read_another_row_are_found():
    """The false-alarm rate for the correct sampler is 1e-6; the faults, at the distances computed by enumeration, are found with
    probability .99 or more."""
    good = check_sampler(as_sampler(np.random.default_rng(1), bonus=right, residual=right), TARGET, DRAFT, 2, total_variation=0.1)
    assert not good.different and "made to differ by the last token" in str(good)
    for gamma, wrong in ((1, {"bonus": first, "residual": right}), (2, {"bonus": right, "residual": first})):
        distance = float(prove(reading(**wrong), TARGET, DRAFT, gamma).tv)
        result = check_sampler(as_sampler(np.random.default_rng(2), **wrong), TARGET, DRAFT, gamma, total_variation=distance)
        assert result.different


def test_samplers_are_given_rows_that_differ_as_they_are():
    chain = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]])
    seen = []

    def sampler(target, draft, drafted):
        seen.append((target.copy(), drafted.copy()))
        return [0]

    result = check_sampler(sampler, chain, models.from_rows(chain), 2, samples=10)
    assert "made" not in str(result)
    assert all((target[1] == chain[drafted[0]]).all() for target, drafted in seen)


LATE = np.array([[0.5, 0.5], [0.5, 0.5], [0.5, 0.5], [0.9, 0.1]])  # only the row after (1, 1) differs


@pytest.mark.parametrize(
    ("target", "draft", "gamma", "context", "made"),
    [
        (LATE, LATE, 2, [], "rows of draft made"),  # whose row after two tokens is not read
        (LATE, LATE, 2, [1], ""),
        (LATE, LATE, 1, [], "rows of target made"),
        (LATE, LATE, 1, [1], ""),
        (lambda tokens: [0.5, 0.5] if len(tokens) < 2 else [0.9, 0.1], LATE, 2, [], "rows of draft made"),
        (lambda tokens: [0.5, 0.5] if len(tokens) < 3 else [0.9, 0.1], [0.5, 0.5], 2, [], "rows of target and draft made"),
        (TARGET, DRAFT, 2, [2], "rows of target and draft made"),
        ([0.5, 0.5, 0], [[0.4, 0.6, 0], [0.4, 0.6, 0], [0, 0, 1]], 2, [], "rows of target and draft made"),  # token 2 is never emitted
    ],
)
def test_prove_and_check_sampler_take_the_same_rows(target, draft, gamma, context, made):
    result = check_sampler(lambda *rows: [0], target, draft, gamma, context=context, samples=10)
    assert made in str(result) and ("rows of" in str(result)) == bool(made)
    assert (prove("token", target, draft, gamma, context=context).rows != "given") == bool(made)


def test_a_fault_in_a_late_row_is_found():
    """The sampler takes no probability above .8. False alarms: 1e-6."""
    generator = np.random.default_rng(3)

    def clipped(target, draft, drafted):
        return [*drafted, generator.choice(2, p=[min(target[-1, 0], 0.8), max(target[-1, 1], 0.2)])]

    assert check_sampler(clipped, LATE, LATE, 2, samples=20_000).different


def test_contexts_are_read_once():
    """A context may be an iterator, such as one over tokens that arrive."""
    chain = [[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]]
    for call in (
        lambda context: check_sampler(as_sampler(np.random.default_rng(1), bonus=right, residual=right), chain, chain, 1, context=context, samples=500).p_value,
        lambda context: [proof.acceptance for proof in compare_rules(["token", "token"], chain, DRAFT, context=context).proofs],
        lambda context: compare_rules(["token"], chain, DRAFT, context=context, rounds=64).tokens,
        lambda context: prove("token", chain, DRAFT, context=context).acceptance,
        lambda context: speclab.law(chain, 2, context=context),
        lambda context: speclab.optimum(chain, DRAFT, context=context).expected_emitted,
        lambda context: speclab.sample(chain, None, tokens=3, samples=5, prompt=context).tolist(),
        lambda context: speclab.simulate(chain, DRAFT, 1, rounds=64, prompt=context).counts,
        lambda context: models.from_rows(chain)(context).tolist(),
    ):
        assert call(iter([1])) == call([1])


@pytest.mark.parametrize(
    ("context", "error", "words"),
    [(2**40, TypeError, "not int"), ([2**40], ValueError, "1099511627776; expected 0 to 2"), ([0.5], TypeError, "not float"),
     ("01", TypeError, "not str"), ([True], TypeError, "not True"), (None, TypeError, "not NoneType")],
)
def test_contexts_that_are_none_are_refused(context, error, words):
    model = models.from_rows(TARGET)
    calls = (model, lambda ids: prove("token", model, DRAFT, context=ids), lambda ids: compare_rules(["token"], TARGET, DRAFT, context=ids),
             lambda ids: check_sampler(lambda *rows: [0], model, DRAFT, 1, context=ids), lambda ids: speclab.law(model, 2, context=ids))
    for call in calls:
        with pytest.raises(error, match=f"^context: .*{words}"):
            call(context)


TABLE_TARGET, TABLE_DRAFT = [[0.5, 0.5], [0.9, 0.1]], [[0.5, 0.5], [0.1, 0.9]]
LENIENT = {"kind": "lenient", "lenience": 0.5}


def test_rows_of_a_table_are_examined_from_every_context():
    proof = prove(LENIENT, TABLE_TARGET, TABLE_DRAFT, 1)
    assert not proof.lossless and proof.context == (1,) and "a round after 1 shows this" in str(proof)
    assert proof.tv == prove(LENIENT, TABLE_TARGET, TABLE_DRAFT, 1, context=[1]).tv
    own = prove(PLANTED["bonus of the first row"], [[0.5, 0.5], [0.9, 0.1]], [0.2, 0.8], 1)
    assert not own.lossless and own.context == ()
    passed = prove(py.token, TABLE_TARGET, TABLE_DRAFT, 1, exact=False)
    assert passed.lossless and (passed.contexts, passed.all_contexts) == (2, True)
    assert not prove("token", lambda tokens: [0.5, 0.5], TABLE_DRAFT, 1).all_contexts
    sampled = check_sampler(lambda target, draft, drafted: [*drafted, 0], TABLE_TARGET, TABLE_DRAFT, 1, samples=100, context=[1])
    assert "rounds after the context [1] alone" in str(sampled)


def test_a_comparison_has_the_numbers_of_the_given_rows():
    compared = compare_rules(["token", PLANTED["bonus of the first row"]], TARGET, DRAFT, 2, rounds=1000)
    right, late = compared.records()
    assert not late["lossless"] and late["refuted"] == "on made rows" and right["refuted"] == ""
    for key in ("tv", "acceptance", "optimal_acceptance", "expected_emitted"):
        assert late[key] == right[key]
    assert compared.proofs[1].tv > 0
    assert compare_rules(["token", LENIENT], TABLE_TARGET, TABLE_DRAFT).records()[1]["refuted"] == "after [1]"
    assert "refuted" not in compare_rules(["token", "block"], TARGET, DRAFT, 2).records()[0]
