"""Tests temperature 0: flips, rounds of one text, and the test that tells rounding from a fault.

Statistical tests have fixed seeds; a false alarm of one of them has the probability that it states."""

import decimal
import doctest
import fractions
import itertools
import math
import os
import pathlib

import numpy as np
import pytest

import speclab


def rows_of(rng, count):
    """Gaps like those of a language model: mostly large, some nearly 0."""
    return rng.gamma(1.2, 2.0, count)


def flipped(rng, gaps, noise):
    return gaps + rng.normal(0, noise, len(gaps)) < 0


def test_flips_are_counted_as_expected():
    """Null: the mean count is the expected one, seven standard errors (2.6e-12). Power: noise that is a tenth larger is refused."""
    rng = np.random.default_rng(3)
    gaps, noise, runs = rows_of(rng, 4000), 0.2, 400
    found = speclab.flips(gaps, noise)
    counts = np.array([flipped(rng, gaps, noise).sum() for _ in range(runs)])
    error = math.sqrt((found.probabilities * (1 - found.probabilities)).sum() / runs)
    assert abs(counts.mean() - 4 * found.per_1000) < 7 * error
    assert abs(counts.mean() - 4 * speclab.flips(gaps, 1.1 * noise).per_1000) > 7 * error


def test_flips_of_a_text():
    rng = np.random.default_rng(4)
    gaps, noise, length, runs = rows_of(rng, 5000), 0.3, 200, 5000
    found = speclab.flips(gaps, noise, length=length)
    first = np.array([np.argmax(np.append(rng.random(length) < found.probabilities[rng.integers(0, len(gaps), length)], True)) for _ in range(runs)])
    changed = 1 - first / length
    assert abs(changed.mean() - found.changed) < 7 * changed.std() / math.sqrt(runs)
    assert found.tokens_before == pytest.approx((1000 - found.per_1000) / found.per_1000)
    assert speclab.flips([1.0, 2.0], 0).per_1000 == 0 and speclab.flips([1.0, 2.0], 0).changed == 0
    assert speclab.flips([0.0], 1).per_1000 == 500
    tiny = speclab.flips([10.0], 1)  # where 1 - p is 1 in floating point
    assert tiny.per_1000 == pytest.approx(1000 * 7.619853e-24, rel=1e-5)


def audit(rng, *, noise, assumed, fault=0.0, texts=40, length=100, level=0.05):
    """One audit: texts that stop at their first difference, by noise or by a fault that emits the runner-up of any row."""
    lengths = [length] * texts
    gaps = rows_of(rng, texts * length)
    differ = flipped(rng, gaps, noise) | (rng.random(len(gaps)) < fault)
    first = [part[np.argmax(wrong)] for part, wrong in zip(np.split(gaps, texts), np.split(differ, texts)) if wrong.any()]
    return speclab.greedy_check(first, gaps, assumed, texts=lengths, level=level)


def test_rounding_passes_and_faults_do_not():
    """False alarms: at a level of 5% at most 5%, here of 300 audits (seven standard errors). Power: a fault in one row of 500 shows in 0.63 of
    4,000 rows, those before first flips, and at 0.85 of these is far enough: 1 - exp(-4.3) of audits find it. Noise of four times what is
    assumed is found as well."""
    rng = np.random.default_rng(7)
    runs = 300
    alarms = sum(not audit(rng, noise=0.1, assumed=0.1).rounding for _ in range(runs))
    assert alarms / runs < 0.05 + 7 * math.sqrt(0.05 * 0.95 / runs)
    assert sum(not audit(rng, noise=0.1, assumed=0.1, fault=0.002, level=1e-6).rounding for _ in range(30)) >= 27
    assert sum(not audit(rng, noise=0.4, assumed=0.1, level=1e-6).rounding for _ in range(30)) >= 27


def test_the_two_tests_find_different_faults():
    rng = np.random.default_rng(8)
    gaps = np.sort(rows_of(rng, 2000))[::-1]
    texts = [20] * 100
    far = speclab.greedy_check([gaps[np.argmax(gaps < 5)]], gaps, 0.1, texts=texts)
    assert far.p_far < 1e-9 and far.p_many > 0.5 and not far.rounding
    near = speclab.greedy_check([gaps[gaps > 0.02].min()] * 60, rng.permutation(gaps), 0.1, texts=texts)
    assert near.p_far > 0.9 and near.p_many < 1e-9 and not near.rounding
    assert near.expected < 60 == near.differences


def test_third_tokens_are_no_fault():
    """Texts of two rows in which three logits, and so two gaps, nearly tie. Level 5%, 400 audits; seven standard errors."""
    rng = np.random.default_rng(10)
    runs = 400
    alarms = 0
    for _ in range(runs):
        gaps = np.sort(rng.uniform(0, 0.3, (20, 2)), axis=1)
        moved = np.concatenate([np.zeros((20, 1)), -gaps], axis=1) + rng.normal(0, 0.1 / math.sqrt(2), (20, 3))
        emitted = moved.argmax(axis=1)
        first = [next((gaps[row, emitted[row] - 1] for row in (2 * text, 2 * text + 1) if emitted[row]), None) for text in range(10)]
        alarms += not speclab.greedy_check([gap for gap in first if gap is not None], gaps, 0.1, texts=[2] * 10, level=0.05).rounding
    assert alarms / runs < 0.05 + 7 * math.sqrt(0.05 * 0.95 / runs)
    both = np.array([[0.02, 0.1]] * 100)
    assert speclab.greedy_check([0.1], both, 0.1).rounding and not speclab.greedy_check([5.0], both, 0.1).rounding
    assert not speclab.greedy_check([9.5], both[:, 0], 0.1).rounding  # no token wins by rounding at this gap
    assert speclab.greedy_check([0.02], both[:, 0], 0.1) == speclab.greedy_check([0.02], both[:, :1], 0.1)


def test_min_noise_is_where_the_verdict_changes():
    gaps = np.append(rows_of(np.random.default_rng(9), 3000), 1.5)
    found = speclab.greedy_check([1.5], gaps, 0.05)
    assert not found.rounding and found.min_noise > 0.05
    assert speclab.greedy_check([1.5], gaps, 1.01 * found.min_noise).rounding
    assert not speclab.greedy_check([1.5], gaps, 0.99 * found.min_noise).rounding
    same = speclab.greedy_check([], gaps, 0.0)
    assert same.rounding and same.p == 1 and same.min_noise is None


def test_the_sum_of_unlike_texts_is_exact():
    """p_many by enumeration."""
    gaps, noise = [0.1, 0.3, 0.05, 2.0, 0.2, 0.4, 0.0, 1.0], 0.3
    flip = [0.5 * math.erfc(gap / noise / math.sqrt(2)) for gap in gaps]
    for texts in ([2, 2, 2, 2], [1, 3, 4], [8]):
        parts = np.split(np.array(flip), np.cumsum(texts)[:-1])
        differ = [1 - np.prod(1 - part) for part in parts]
        for count in range(len(texts) + 1):
            wanted = sum(np.prod([one if on else 1 - one for one, on in zip(differ, outcome)]) for outcome in itertools.product((0, 1), repeat=len(texts))
                         if sum(outcome) >= count)
            found = speclab.greedy_check([0.05] * count, gaps, noise, texts=texts)
            assert found.p_many == pytest.approx(wanted)
            assert found.expected == pytest.approx(sum(differ))


def test_bad_input_is_refused():
    for call, words in (
        (lambda: speclab.flips([], 0.1), "gaps: is empty"), (lambda: speclab.flips([-1.0], 0.1), "gaps: -1.0 at 0"),
        (lambda: speclab.flips([math.nan], 0.1), "gaps: nan at 0"), (lambda: speclab.flips([1.0], -1), "noise"),
        (lambda: speclab.greedy_check([1.0], [1.0, 2.0], 0.1, texts=[1]), "1 tokens in all; gaps has 2"),
        (lambda: speclab.greedy_check([1.0, 1.0], [1.0], 0.1, texts=[1]), "2 differences for 1 texts"),
        (lambda: speclab.greedy_check([1.0], [1.0], 0.1, level=0), "level"),
        (lambda: speclab.greedy_check([0.1], [0.02] * 9, 0.1), "0.1 at 0 is no row's gap"),
    ):
        with pytest.raises(ValueError, match=words):
            call()


def test_the_page_prints_what_it_says():
    page = (pathlib.Path(os.environ.get("SPECLAB_SOURCE", pathlib.Path(__file__).parents[2])) / "docs/temperature-zero.md").read_text(encoding="utf-8")
    examples = "\n\n".join(block.split("```", 1)[0] for block in page.split("```python\n")[1:])
    test = doctest.DocTestParser().get_doctest(examples, {}, "docs/temperature-zero.md", None, 0)
    result = doctest.DocTestRunner().run(test)
    assert result.attempted >= 6 and result.failed == 0


@pytest.mark.parametrize("wrong", [["0.1", "0.2"], [True, False], [1j, 0.5], np.array(["2020-01-01"], "datetime64[D]"), np.array(["0.5", "0.5"], object),
                                   np.array([True, 0.5], object), np.array([1j], object), "0.1", None])
def test_what_is_no_number_is_refused_by_name(wrong):
    for name, call in (("gaps", lambda: speclab.flips(wrong, 0.1)), ("first_gaps", lambda: speclab.greedy_check(wrong, [0.1], 0.1)),
                       ("gaps", lambda: speclab.greedy_check([], wrong, 0.1)), ("target", lambda: speclab.alpha(wrong, [0.5, 0.5]))):
        with pytest.raises(TypeError, match=f"^{name}: "):
            call()
    assert speclab.flips(np.array([decimal.Decimal("0.5"), fractions.Fraction(1, 4)], object), 1).per_1000 == speclab.flips([0.5, 0.25], 1).per_1000
    assert speclab.greedy_check([], [0.1], 0.1).rounding


def test_changed_keeps_its_digits():
    """For a small probability p it is p (length + 1) / 2; elsewhere the mean of 1 - (1 - p)^i over i, in fractions."""
    for gap in (2.0, 3.6, 4.5, 5.5, 8.5, 15.0):
        for length in (1, 2, 7, 256):
            found = speclab.flips([gap], 1, length=length)
            p = fractions.Fraction(found.probabilities[0])
            assert found.changed == pytest.approx(float(sum(1 - (1 - p) ** i for i in range(1, length + 1)) / length), rel=1e-11)
    assert found == found and found != speclab.flips([gap], 1)
