"""Tests closed forms and acceptance rates of rows."""

import math

import numpy as np
import pytest

import speclab
from speclab import alpha, alpha_from_drafted, alpha_from_logprobs


def rows(seed, *shape):
    weights = np.random.default_rng(seed).random(shape) ** 4
    return weights / weights.sum(-1, keepdims=True)


@pytest.mark.parametrize("shape", [(3,), (5, 7), (2, 3, 1000), (4, 40_000)])
def test_alpha(shape):
    p, q = rows(1, *shape), rows(2, *shape)
    wanted = np.minimum(p, q).sum(-1)
    assert alpha(p, q) == pytest.approx(wanted, abs=1e-12)
    assert alpha(p.astype(np.float32), q.astype(np.float32)) == pytest.approx(wanted, abs=1e-4)
    assert alpha_from_logprobs(np.log(p), np.log(q)) == pytest.approx(wanted, abs=1e-12)
    assert np.shape(alpha(p, q)) == shape[:-1]
    assert alpha(p, p) == pytest.approx(1)


def test_alpha_divides_rows_by_their_sums():
    p = rows(6, 50, 3).astype(np.float16)
    assert alpha(p, p) == pytest.approx(1, abs=1e-15)
    assert alpha([0.5, 0.5005], [0.1, 0.9]) == float(speclab.prove("token", [0.5, 0.5005], [0.1, 0.9]).acceptance)
    sums = np.log([[0.5004, 0.5004], [0.1, 0.9005]])
    assert alpha_from_logprobs(sums, sums[::-1]) == pytest.approx(alpha(np.exp(sums), np.exp(sums[::-1])), abs=1e-12)
    assert alpha_from_logprobs(sums, sums) == pytest.approx(1, abs=1e-12)


def test_alpha_is_the_acceptance_of_a_proof():
    p, q = [0.5, 0.25, 0.25], [0.125, 0.25, 0.625]
    assert alpha(p, q) == float(speclab.prove("token", p, q).acceptance)


def test_alpha_from_drafted():
    """Tokens drawn from q: the interval at confidence 1 - 1e-9 holds sum min(p, q)."""
    p, q = rows(3, 20), rows(4, 20)
    drawn = np.random.default_rng(5).choice(20, size=5000, p=q)
    found = alpha_from_drafted(np.log(p[drawn]), np.log(q[drawn]), confidence=1 - 1e-9)
    assert alpha(p, q) in found and found.high - found.low < 0.1
    assert alpha_from_drafted([-1.0, -1.0], [-1.0, -1.0]).value == 1


def test_alpha_from_drafted_covers_with_ten_tokens():
    """Null: 95% intervals of ten tokens hold sum min(p, q) in .95 of 1,000 samples or more; 7 sigma are .048. The mean and
    two standard errors, the planted fault, do so far less often."""
    rng = np.random.default_rng(54)
    for p, q in (([0.5, 0.3, 0.2], [0.1, 0.3, 0.6]), ([0.98, 0.02, 0.0], [0.9, 0.0, 0.1]), ([0.99, 0.01], [0.05, 0.95])):
        p, q = np.array(p), np.array(q)
        covered = by_errors = 0
        with np.errstate(divide="ignore"):
            logs = np.log(p), np.log(q)
        for _ in range(1000):
            drawn = rng.choice(len(q), size=10, p=q)
            found = alpha_from_drafted(logs[0][drawn], logs[1][drawn])
            covered += alpha(p, q) in found
            ratios = np.minimum(1, p[drawn] / q[drawn])
            by_errors += abs(ratios.mean() - alpha(p, q)) <= 1.96 * ratios.std(ddof=1) / 10**0.5
        assert covered >= 902 and by_errors < 950


def test_minus_infinity_is_a_probability_of_zero():
    assert alpha_from_logprobs([0, -math.inf], [math.log(0.25), math.log(0.75)]) == pytest.approx(0.25)
    assert alpha_from_drafted([-math.inf, 0.0], [-1.0, -1.0]).value == 0.5


def test_optimal_gamma_is_a_maximum():
    for a in (0.1, 0.5, 0.8, 0.95):
        for c in (0.01, 0.05, 0.3):
            best = speclab.optimal_gamma(a, c)
            speeds = [speclab.speedup(a, gamma, c) for gamma in range(200)]
            assert best.speedup == pytest.approx(max(speeds)) and best.gamma == speeds.index(max(speeds))
    assert speclab.optimal_gamma(1, 0.1).gamma is None
    assert speclab.optimal_gamma(0.5, 0.9).gamma == 0


def test_predict_is_the_closed_forms():
    found = speclab.predict(0.8, 0.05, gamma=5)
    assert found.tokens_per_target_step == speclab.expected_tokens(0.8, 5)
    assert found["speedup"] == speclab.speedup(0.8, 5, 0.05)
    assert found.optimal_gamma == 8 and "optimal γ" in str(found) and "speedup" in dir(found)
    with pytest.raises(AttributeError, match="speedup"):
        found.sped_up


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: alpha([0.5, 0.5], [1.0]), ValueError, "draft: "),
        (lambda: alpha([0.5, 0.6], [0.5, 0.5]), ValueError, "target: the row sums to 1.1"),
        (lambda: alpha([], []), ValueError, "target: is empty"),
        (lambda: alpha(0.5, 0.5), ValueError, "target: expected shape"),
        (lambda: alpha([True, False], [True, False]), TypeError, "target"),
        (lambda: alpha([1j, 0], [1, 0]), TypeError, "target"),
        (lambda: alpha(np.ma.masked_array([0.5, 0.5], [0, 1]), [0.5, 0.5]), TypeError, "masked"),
        (lambda: alpha([[0.5], [0.5, 0.5]], [[1]]), (ValueError, TypeError), "target"),
        (lambda: alpha_from_logprobs([0.5, 0.5], [0.5, 0.5]), ValueError, "above 0"),
        (lambda: alpha_from_logprobs([-1.0, -1.0], [-1.0, -1.0]), ValueError, "complete rows"),
        (lambda: alpha_from_logprobs([math.nan, 0], [0, -math.inf]), ValueError, "NaN"),
        (lambda: alpha_from_drafted([-1.0], [-1.0]), ValueError, "two or more"),
        (lambda: alpha_from_drafted([-1.0, 0], [-1.0, -math.inf]), ValueError, "probability 0"),
        (lambda: speclab.optimal_gamma(1.5, 0.1), ValueError, "alpha: 1.5"),
        (lambda: speclab.optimal_gamma(math.nan, 0.1), ValueError, "alpha: nan"),
        (lambda: speclab.optimal_gamma("0.5", 0.1), TypeError, "alpha"),
        (lambda: speclab.expected_tokens(0.5, -1), ValueError, "gamma: -1"),
        (lambda: speclab.speedup(0.5, 1, -0.1), ValueError, "c: -0.1"),
        (lambda: speclab.predict(0.5, gamma=2.0), TypeError, "gamma"),
    ],
)
def test_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()
