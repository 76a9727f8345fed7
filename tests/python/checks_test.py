"""Tests `check` and `check_sampler`: level, power, and planted faults."""

import numpy as np
import pytest

import speclab
from speclab import check, check_sampler, law

TARGET = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]])
DRAFT = np.array([[0.2, 0.3, 0.5], [0.4, 0.3, 0.3], [0.3, 0.6, 0.1]])


def algorithm_1(generator, *, fault=None):
    """Verification as a user would write it with NumPy."""

    def sampler(target, draft, drafted):
        out = []
        for i, x in enumerate(drafted):
            if generator.random() < min(1, target[i, x] / draft[i, x]):
                out.append(x)
                continue
            weights = target[i] if fault == "resample" else np.maximum(target[i] - draft[i], 0)
            return [*out, generator.choice(3, p=weights / weights.sum())]
        bonus = draft[-1] if fault == "bonus" else target[-1]
        return [*out, generator.choice(3, p=bonus)]

    return sampler


def test_a_correct_sampler_passes():
    """False-alarm rate 1e-6."""
    result = check_sampler(algorithm_1(np.random.default_rng(1)), TARGET, DRAFT, 2, total_variation=0.1)
    assert not result.different and result.p_value > result.level
    assert result.detectable_tv <= 0.1 and result.power == 0.99


@pytest.mark.parametrize("made", [[1.0], [2.7], np.array([1.0, 0.0]), np.float32(1), [True], [None], ["1"]], ids=str)
def test_a_sampler_that_returns_no_integers_is_refused(made):
    """Truncated, 2.7 would become token 2, and another sampler would be tested."""
    with pytest.raises(TypeError, match="sampler: returned .*expected token ids, which are integers"):
        check_sampler(lambda target, draft, drafted: made, TARGET, DRAFT, 2, samples=10)


@pytest.mark.parametrize("made", [[1], np.array([1, 0]), np.int64(1), (np.int32(1), 0), np.array([1, -1, -1])], ids=str)
def test_integers_of_any_kind_are_tokens(made):
    assert check_sampler(lambda target, draft, drafted: made, TARGET, DRAFT, 2, samples=10).samples == 10


@pytest.mark.parametrize("fault", ["resample", "bonus"])
def test_faults_are_found(fault):
    result = check_sampler(algorithm_1(np.random.default_rng(2), fault=fault), TARGET, DRAFT, 2, total_variation=0.1)
    assert result.different
    assert abs(result.worst.standard_deviations) > 5
    assert "worst" in str(result) and str(result.worst.observed)[:4] in result._repr_html_()


def test_smaller_distances_need_more_samples():
    """If only one sequence is possible, another one occurs in N samples with probability 1 - (1 - distance)^N. The number does
    not wrap around beyond 64 bits."""
    for sequences in (1, 8):
        planned = [speclab._core.samples_for(sequences, 3, distance, 1e-6, 0.9) for distance in (0.5, 1e-3, 1e-12, 1e-18, 1e-19, 1e-30, 1e-300)]
        assert planned == sorted(planned)
    assert 1 - (1 - 1e-3) ** 2302 >= 0.9 > 1 - (1 - 1e-3) ** 2301
    assert speclab._core.samples_for(1, 3, 1e-3, 1e-6, 0.9) == 2302


def test_stated_power_holds():
    """Of samplers of single tokens at exactly the requested total variation, a share of at least the stated power is found.
    200 repeats; under power = .9 fewer than 160 have probability below 1e-5."""
    distance, repeats = 0.1, 200
    generator = np.random.default_rng(3)
    moved = np.array([0.5 - distance, 0.3 + distance / 2, 0.2 + distance / 2])
    null = [0.5, 0.3, 0.2]
    n = speclab._core.samples_for(3, 1, distance, 1e-3, 0.9)
    found = sum(check(generator.choice(3, size=n, p=moved), null, level=1e-3, power=0.9).different for _ in range(repeats))
    assert found >= 160
    assert check(generator.choice(3, size=n, p=null), null, level=1e-3, power=0.9).detectable_tv <= distance


def test_level_holds():
    """Null true, level .05, 400 repeats: more than 50 have probability below 1e-9 even if the level were reached."""
    generator = np.random.default_rng(4)
    drawn = [generator.choice(3, size=(500, 2), p=[0.5, 0.3, 0.2]) for _ in range(400)]
    alarms = sum(check(samples, law([0.5, 0.3, 0.2], 2), level=0.05).different for samples in drawn)
    assert alarms <= 50


def test_impossible_samples_settle_it():
    result = check([0] * 50 + [1], [1.0, 0.0])
    assert result.different and result.p_value == 0
    assert result.worst.tokens == (1,) and result.worst.standard_deviations == float("inf")


def test_batched_samplers():
    calls = []

    def sampler(target, draft, drafted):
        calls.append(target.shape)
        return speclab.verify(target, draft, drafted, seed=len(calls)).tokens

    result = check_sampler(sampler, TARGET, DRAFT, 2, samples=5000, batch=1024)
    assert not result.different and result.samples == 5000
    assert calls[0] == (1024, 3, 3) and len(calls) == 5


def test_laws():
    found = law(TARGET, 2, context=[1])
    assert found[1, 1] == pytest.approx(0.8 * 0.8)
    assert sum(found.values()) == pytest.approx(1)
    assert speclab.prove("token", TARGET, DRAFT, 1).target_law == speclab.prove("block", TARGET, DRAFT, 1).law
    exact = speclab.prove("token", TARGET, DRAFT, 1).law
    drawn = speclab.sample(TARGET, DRAFT, 1, tokens=2, samples=20_000)
    assert not check(drawn, exact).different


def test_configs():
    config = {
        "title": "t",
        "models": {"target": {"kind": "table", "rows": TARGET.tolist()}, "draft": {"kind": "table", "rows": DRAFT.tolist()}},
        "gamma": 2,
        "check": {"samples": 5000, "tokens": 2},
    }
    assert not check(config).different
    assert check({**config, "rule": {"kind": "fault-resample-target"}}).different
    with pytest.raises(ValueError, match="check.level"):
        check(config, level=0.05)
    with pytest.raises(ValueError, match="gamma, policy, context"):
        speclab.prove(config, gamma=7)


@pytest.mark.parametrize(
    ("samples", "given", "error", "words"),
    [
        ([], [0.5, 0.5], TypeError, "samples"),
        ([0.5], [0.5, 0.5], TypeError, "samples: expected integers"),
        ([-1], [0.5, 0.5], ValueError, "samples: token -1"),
        ([[0, 1]], [0.5, 0.5], ValueError, "samples: 2 tokens per row"),
        ([0], [0.5, 0.6], ValueError, "law: "),
        ([0], {}, ValueError, "law: is empty"),
        ([0], {(0,): 0.5, (0, 1): 0.5}, ValueError, "several lengths"),
        ([0], {(0,): 0.5}, ValueError, "law: sums to 0.5"),
        ([0], {(0,): "x"}, TypeError, "law"),
        ([0], {(-1,): 1.0}, ValueError, "law: -1"),
        ([0], {"a": 1.0}, TypeError, "law"),
        ([0], {0: 0.7, (0,): 0.5, 1: 0.5}, ValueError, r"law\[\(0,\)\]: the sequence \(0,\) is given twice"),
    ],
)
def test_refused(samples, given, error, words):
    with pytest.raises(error, match=words):
        check(samples, given)


@pytest.mark.parametrize(
    ("returned", "error"),
    [([], ValueError), ([0, 0, 0, 0], ValueError), ([3], ValueError), (["a"], TypeError), (None, TypeError), ([-1], ValueError)],
)
def test_what_samplers_return_is_checked(returned, error):
    with pytest.raises(error, match="sampler: returned"):
        check_sampler(lambda *rows: returned, TARGET, DRAFT, 2, samples=10)


def test_too_many_sequences_are_refused():
    with pytest.raises(ValueError, match="gamma"):
        check_sampler(lambda *rows: [0], np.full(50, 0.02), np.full(50, 0.02), 3)
    with pytest.raises(ValueError, match="tokens"):
        law(np.full(50, 0.02), 3)


def test_one_sequence_and_all_others():
    """Beside one sequence any other is found with probability .99 if it comes with 1 - .01^(1/1000), whether the law names another or not."""
    alone, beside = check([0] * 1000, {0: 1.0}), check([0] * 1000, {0: 1.0, 1: 0.0})
    assert alone.detectable_tv == beside.detectable_tv == pytest.approx(1 - 0.01 ** (1 / 1000))
    assert alone.tests == beside.tests and str(alone) == str(beside)
