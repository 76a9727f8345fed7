"""Tests drafters and policies written in Python, enumerated and sampled together with a rule."""

import random
from fractions import Fraction

import numpy as np
import pytest

import rules_in_python as py
import speclab
from speclab import drafter, prove

HALF = Fraction(1, 2)
TARGET = [HALF, Fraction(1, 4), Fraction(1, 4)]
DRAFT = [Fraction(1, 8), Fraction(1, 4), Fraction(5, 8)]
OTHER = [Fraction(3, 4), Fraction(1, 8), Fraction(1, 8)]
RULES = ["token", "block", py.token, py.block]


@drafter
def by_rows(draw, tokens, gamma):
    return [draw.categorical(DRAFT) for _ in range(gamma)], [DRAFT] * gamma


@drafter
def one_of_two(draw, tokens, gamma):
    """Chooses a model for the round and reports its rows."""
    row = DRAFT if draw.bernoulli(HALF) else OTHER
    return [draw.categorical(row) for _ in range(gamma)], [row] * gamma


@drafter
def stops(draw, tokens, gamma):
    """Continues with probability 1/2, and always after token 0."""
    drafted = []
    while len(drafted) < gamma and (draw.bernoulli(HALF) or drafted[-1:] == [0]):
        drafted.append(draw.categorical(OTHER))
    return drafted, [OTHER] * len(drafted)


@drafter
def claims_the_mean(draw, tokens, gamma):
    """Reports the mean of two models for each token, which is right only for a single token."""
    row = DRAFT if draw.bernoulli(HALF) else OTHER
    mean = [(p + q) / 2 for p, q in zip(DRAFT, OTHER)]
    return [draw.categorical(row) for _ in range(gamma)], [mean] * gamma


@drafter
def argmax(draw, tokens, gamma):
    """Drafts the most probable token but reports the distribution: a fault that serving engines have had."""
    return [2] * gamma, [DRAFT] * gamma


@drafter
def drops_the_unlikely(draw, tokens, gamma):
    """Stops before an unlikely token that it has drawn already, so that the reported rows are wrong."""
    drafted = []
    for _ in range(gamma):
        token = draw.categorical(DRAFT)
        if token == 0:
            break
        drafted.append(token)
    return drafted, [DRAFT] * len(drafted)


@pytest.mark.parametrize("rule", RULES)
def test_what_drafts_by_rows_is_a_draft(rule):
    """Both have the same distribution, in fractions, and the same counts with the same random numbers."""
    mine, theirs = prove(rule, TARGET, by_rows, 2), prove(rule, TARGET, DRAFT, 2)
    assert (mine.law, mine.acceptance, mine.expected_emitted, mine.rejection) == (theirs.law, theirs.acceptance, theirs.expected_emitted, theirs.rejection)
    assert mine.lossless and mine.optimal_acceptance is None
    # "token" on rows would be decoded by the fast engine, with other random numbers.
    slow = speclab.models.from_function(lambda tokens: [float(q) for q in DRAFT], vocab=3)
    made = [speclab.simulate([float(p) for p in TARGET], draft, 2, rule, seed=5, rounds=640) for draft in (by_rows, slow)]
    assert made[0].counts == made[1].counts and made[0].engine == "plain"
    assert made[0].estimates["alpha_overlap"] is None and made[0].estimates["alpha_examined"] is not None
    with pytest.raises(ValueError, match="alpha_overlap"):
        made[0].alpha


def slow(*values):
    return pytest.param(*values, marks=pytest.mark.slow)


@pytest.mark.parametrize(("rule", "draft"), [
    ("token", one_of_two), ("block", stops), (py.token, stops), (py.block, one_of_two),
    slow("token", stops), slow("block", one_of_two), slow(py.token, one_of_two), slow(py.block, stops),
])
def test_drafters_are_proved(rule, draft):
    """Proofs in fractions and in doubles; the sampled mean is the proof's (confidence 1 - 1e-9), and sequences have the target's
    distribution (false-alarm rate 1e-9)."""
    proof = prove(rule, TARGET, draft, 3)
    assert proof.lossless and sum(proof.law.values()) == 1
    rows = [float(p) for p in TARGET]
    assert float(prove(rule, rows, draft, 3, exact=False).expected_emitted) == pytest.approx(float(proof.expected_emitted), abs=1e-12)
    made = speclab.simulate(rows, draft, 3, rule, rounds=6400, confidence=1 - 1e-9)
    assert float(proof.expected_emitted) in made.tokens_per_target_step
    one, two = (speclab.sample(rows, draft, 3, rule, tokens=3, samples=4000, threads=threads) for threads in (1, 2))
    assert (one == two).all()
    assert not speclab.check(one, speclab.law(rows, 3), level=1e-9).different


@pytest.mark.parametrize(("draft", "gamma"), [(claims_the_mean, 2), (argmax, 1), (drops_the_unlikely, 1)], ids=lambda value: getattr(value, "name", value))
def test_faults_are_refuted(draft, gamma):
    proof = prove("token", TARGET, draft, gamma)
    assert not proof.lossless
    worst = proof.counterexample
    assert proof.law.get(worst.tokens, 0) == worst.probability != worst.target_probability
    # And by sampling, at a false-alarm rate of 1e-9.
    drawn = speclab.sample([float(p) for p in TARGET], draft, gamma, tokens=gamma + 1, samples=20_000)
    assert speclab.check(drawn, speclab.law([float(p) for p in TARGET], gamma + 1), level=1e-9).different


def test_the_mean_is_right_for_one_token():
    assert prove("token", TARGET, claims_the_mean, 1).lossless


def test_drafters_and_policies_side_by_side():
    table = speclab.compare_rules(["token", py.block], TARGET, stops, 3)
    assert [proof.lossless for proof in table.proofs] == [True, True]
    assert table.records()[0]["optimal_acceptance"] is None and "None" in str(table)
    rows = [float(p) for p in TARGET], [float(q) for q in DRAFT]
    table = speclab.compare_rules(["token", "block"], *rows, 3, policy=lambda drafted, row: len(drafted) < 2, rounds=640)
    assert [proof.expected_emitted for proof in table.proofs] == [prove(rule, *rows, 2).expected_emitted for rule in ("token", "block")]
    assert all(tokens.value <= 3 for tokens in table.tokens)


def test_context_is_seen():
    seen = set()

    @drafter
    def looks(draw, tokens, gamma):
        seen.add((tokens, gamma))
        return [], []

    assert prove("token", TARGET, looks, 2, context=[1, 2]).expected_emitted == 1
    assert seen == {((1, 2), 2)}


def test_randomness_from_elsewhere_is_refused():
    generator = random.Random(3)

    @drafter
    def asks_otherwise(draw, tokens, gamma):
        return [draw.categorical([generator.randint(1, 50), 1, 1])], [DRAFT]

    @drafter
    def returns_otherwise(draw, tokens, gamma):
        token = draw.categorical(DRAFT)
        return [(token + generator.randint(0, 1)) % 3], [DRAFT]

    for draft in (asks_otherwise, returns_otherwise):
        with pytest.raises(ValueError, match="not a function of its arguments and draws"):
            prove("token", TARGET, draft, 1)


@pytest.mark.parametrize(
    ("returned", "error", "words"),
    [
        (None, TypeError, "odd: returned None"),
        (([0],), TypeError, "a drafter returns"),
        ((0, DRAFT), TypeError, "a drafter returns"),
        (([0.0], [DRAFT]), TypeError, "a drafter returns"),
        (([2**80], [DRAFT]), TypeError, "a drafter returns"),
        (([3], [DRAFT]), ValueError, "a drafter returns"),
        (([-1], [DRAFT]), ValueError, "a drafter returns"),
        (([0], []), ValueError, "a drafter returns"),
        (([0, 0], [DRAFT, DRAFT]), ValueError, "at most 1 ids"),
        (([0], [[1, 0]]), ValueError, "odd: row 0: 2 weights"),
        (([0], [[1, 1, 0]]), ValueError, "of sum 2"),
        (([0], [[2, -1, 0]]), ValueError, "below 0"),
        (([0], [[0.5, 0.3, 0.2]]), TypeError, "exact arithmetic"),
    ],
)
def test_what_it_returns_is_checked(returned, error, words):
    odd = drafter(lambda draw, tokens, gamma: returned)
    odd.name = "odd"
    with pytest.raises(error, match=words):
        prove("token", TARGET, odd, 1)


def test_arguments_are_checked():
    with pytest.raises(ValueError, match='draft: works with .* "gumbel"'):
        prove("gumbel", TARGET, by_rows, 1)
    with pytest.raises(ValueError, match="policy: not allowed with a drafter"):
        prove("token", TARGET, by_rows, 1, policy=lambda drafted, row: True)
    with pytest.raises(ValueError, match="max_branches"):
        prove("token", TARGET, by_rows, 3, max_branches=5)
    with pytest.raises(TypeError, match="drafter"):
        drafter(3)
    with pytest.raises(ZeroDivisionError):
        speclab.simulate(np.array([0.5, 0.5]), drafter(lambda draw, tokens, gamma: 1 / 0), 1, rounds=10)


@pytest.mark.parametrize(
    "call",
    [
        lambda: speclab.alpha(TARGET, by_rows),
        lambda: speclab.law(by_rows, 2),
        lambda: speclab.models.from_function(by_rows),
        lambda: speclab.models.from_config({"kind": "mixture", "alpha": 0.5, "other": {"kind": "uniform"}}, target=by_rows),
        lambda: speclab.check_sampler(lambda p, q, x: [0], TARGET, by_rows, 2),
        lambda: speclab.verify([[TARGET, TARGET]], by_rows, [[0]], seed=1),
        lambda: speclab.optimum(by_rows, DRAFT, 1),
        lambda: speclab.prove("token", by_rows, DRAFT, 1),
        lambda: speclab.simulate(by_rows, DRAFT, 1),
        lambda: speclab.sample(by_rows, None, tokens=1, samples=1),
        lambda: prove(by_rows, TARGET, DRAFT, 1),
    ],
)
def test_where_rows_are_asked_for_it_is_refused_by_name(call):
    with pytest.raises(TypeError, match="drafter by_rows|not Drafter"):
        call()


def test_a_rule_is_no_model():
    with pytest.raises(TypeError, match="draft: expected rows.*rule mine"):
        prove("token", TARGET, speclab.rule(name="mine")(py.token), 1)


def unsure(drafted, row):
    """Drafts on after likely tokens."""
    return not drafted or row[drafted[-1]] >= Fraction(1, 4)


@pytest.mark.parametrize("rule", ["block", py.token, slow("token"), slow(py.block)])
def test_policies_keep_rules_lossless(rule):
    target, draft = TARGET, DRAFT
    proof = prove(rule, target, draft, 3, policy=unsure)
    fixed = prove(rule, target, draft, 3)
    assert proof.lossless and proof.expected_emitted < fixed.expected_emitted
    assert prove(rule, target, draft, 3, policy=lambda drafted, row: True).law == fixed.law
    assert prove(rule, target, draft, 3, policy=lambda drafted, row: len(drafted) < 2).expected_emitted == prove(rule, target, draft, 2).expected_emitted
    assert prove(rule, target, draft, 3, policy=lambda drafted, row: False).expected_emitted == 1
    # Sampled, the mean is that of the proof: confidence 1 - 1e-9.
    rows = [float(p) for p in target], [float(q) for q in draft]
    made = speclab.simulate(*rows, 3, rule, policy=unsure, rounds=6400, confidence=1 - 1e-9)
    assert float(proof.expected_emitted) in made.tokens_per_target_step
    drawn = speclab.sample(*rows, 3, rule, policy=unsure, tokens=3, samples=4000)
    assert not speclab.check(drawn, speclab.law(rows[0], 3), level=1e-9).different


def test_a_policy_that_looks_at_the_verdict_would_be_refuted():
    """A rule that drops drafted tokens after verification is refuted."""

    def drops(draw, target, draft, drafted):
        return py.token(draw, target[:2], draft[:1], drafted[:1]) if drafted[0] == 0 else (0, draw.categorical(draft[0]))

    assert not prove(drops, [0.5, 0.25, 0.25], [0.125, 0.25, 0.625], 2).lossless


def test_policies_are_checked():
    with pytest.raises(ValueError, match="policy: works with"):
        prove("gumbel", [0.5, 0.5], [0.25, 0.75], 2, policy=unsure)
    with pytest.raises(TypeError, match="policy"):
        prove("token", [0.5, 0.5], [0.25, 0.75], 2, policy=3)
    answers = iter([True, False, False] * 100)
    with pytest.raises(ValueError, match="policy: with the same tokens"):
        prove("token", [0.5, 0.5], [0.25, 0.75], 2, policy=lambda drafted, row: next(answers))


@pytest.mark.parametrize("answer", [None, "no", 0.5, 1, np.array([True]), np.zeros(2)])
def test_a_policy_that_returns_no_bool_is_refused(answer):
    rows = [0.5, 0.5], [0.25, 0.75]
    for call in (lambda policy: prove("token", *rows, 2, policy=policy), lambda policy: speclab.simulate(*rows, 2, policy=policy, rounds=64)):
        with pytest.raises(TypeError, match="policy: returned .*; expected True or False"):
            call(lambda drafted, row: answer)
        assert call(lambda drafted, row: np.bool_(len(drafted) < 1))
