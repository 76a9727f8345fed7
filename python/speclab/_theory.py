"""Closed forms of Leviathan, Kalman and Matias 2023, and acceptance rates of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import TOLERANCE, ArrayLike, floats, integer, number, probability_rows
from ._interval import Interval
from ._results import Findings

MOST_C = 1e6


@dataclass(frozen=True)
class OptimalGamma:
    """The best number of drafted tokens per round."""

    gamma: int | None  #: None if more is always better; 0: do not speculate
    speedup: float | None  #: at `gamma`, or its limit as gamma grows; None if there is no limit
    reason: str


def _pair(target: ArrayLike, draft: ArrayLike, read: Callable[..., npt.NDArray[Any]]) -> tuple[npt.NDArray[Any], npt.NDArray[Any], tuple[int, ...]]:
    p, q = (read(rows, name, "[..., V]", range(1, 33)) for rows, name in ((target, "target"), (draft, "draft")))
    if p.shape != q.shape:
        raise ValueError(f"draft: {list(q.shape)}; target is {list(p.shape)}")
    if p.dtype != q.dtype:
        p, q = p.astype(np.float64), q.astype(np.float64)
    vocab = p.shape[-1]
    return np.ascontiguousarray(p).reshape(-1, vocab), np.ascontiguousarray(q).reshape(-1, vocab), p.shape[:-1]


def alpha(target: ArrayLike, draft: ArrayLike) -> float | npt.NDArray[np.float64]:
    """The probability that a token drafted from one row is accepted for the other, sum min(target, draft)
    (Thm 3.5; 1 - total variation).

    Args:
        target, draft: probabilities [..., V], each row summing to 1 within 1e-3; it is divided by its sum.

    Returns:
        float64 [...]; a float for single rows. Its mean over contexts that the target generates is the alpha of
        Cor. 3.6.

    >>> round(alpha([.5, .3, .2], [.1, .3, .6]), 9)
    0.6
    >>> alpha([[.5, .5], [1, 0]], [[.5, .5], [0, 1]])
    array([1., 0.])
    """
    p, q, shape = _pair(target, draft, probability_rows)
    out = np.empty(len(p))
    _core.overlaps(p, q, out)
    return out.reshape(shape) if shape else float(out[0])


def alpha_from_logprobs(target: ArrayLike, draft: ArrayLike) -> float | npt.NDArray[np.float64]:
    """`alpha` from complete rows of log-probabilities.

    Args:
        target, draft: natural logarithms of probabilities [..., V]; -inf for 0. The probabilities of each row must sum to 1
            within 1e-3, so the few largest that a server returns are not enough.

    Returns:
        float64 [...]; a float for single rows.

    >>> round(alpha_from_logprobs(np.log([.5, .3, .2]), np.log([.1, .3, .6])), 9)
    0.6
    """
    p, q, shape = _pair(target, draft, floats)
    out = np.empty(len(p))
    normalised = []
    for name, rows in (("target", p), ("draft", q)):
        if np.isnan(rows).any():
            raise ValueError(f"{name}: holds NaN")
        if rows.max() > TOLERANCE:
            raise ValueError(f"{name}: holds {rows.max():g}, above 0; natural logarithms of probabilities are expected")
        _core.log_overlaps(rows, rows, out)
        if not (np.abs(out - 1) <= TOLERANCE).all():
            wrong = float(out[np.argmax(np.abs(out - 1))])
            raise ValueError(f"{name}: the probabilities of a row sum to {wrong:g}, not 1; complete rows are expected")
        normalised.append(rows - np.log(out)[:, None].astype(rows.dtype))
    _core.log_overlaps(*normalised, out)
    return out.reshape(shape) if shape else float(out[0])


def alpha_from_drafted(target: ArrayLike, draft: ArrayLike, *, confidence: float = 0.95) -> Interval:
    """Alpha from the log-probabilities of drafted tokens alone, as servers log them: the mean of min(1, p(x)/q(x)) over
    tokens x drawn from the draft.

    Args:
        target, draft: natural logarithms [n] of the probability of each drafted token under either model, n >= 2. Pass all
            drafted tokens, not only the accepted ones.
        confidence: confidence of the interval, which treats tokens as independent. It is Student's t or, if fewer than 100
            tokens differ from the most frequent ratio, Stringer's bound, which is wide but never too narrow.

    >>> estimate = alpha_from_drafted(np.log([.5, .3, .2, .2]), np.log([.1, .3, .6, .6]))
    >>> round(estimate.value, 3)
    0.667
    """
    p = floats(target, "target", "[n]", (1,)).astype(np.float64)
    q = floats(draft, "draft", "[n]", (1,)).astype(np.float64)
    if p.shape != q.shape:
        raise ValueError(f"draft: {list(q.shape)}; target is {list(p.shape)}")
    if len(p) < 2:
        raise ValueError("target: one token; two or more are expected")
    for name, values in (("target", p), ("draft", q)):
        if np.isnan(values).any() or values.max() > TOLERANCE:
            raise ValueError(f"{name}: natural logarithms of probabilities are expected, none above 0")
    if np.isneginf(q).any():
        raise ValueError("draft: a drafted token has probability 0")
    confidence = number(confidence, "confidence", 0, 1, open_ends=True)
    return Interval(*_core.mean_interval(np.exp(np.minimum(p - q, 0)), confidence))


def optimal_gamma(alpha: float, c: float) -> OptimalGamma:
    """The number of drafted tokens that maximises the speedup of Thm 3.8.

    Args:
        alpha: acceptance rate, 0 to 1.
        c: time of a draft run divided by that of a target run.

    >>> optimal_gamma(.8, .05).gamma
    8
    """
    return OptimalGamma(*_core.optimal_gamma(number(alpha, "alpha", 0, 1), number(c, "c", 0, MOST_C)))


def expected_tokens(alpha: float, gamma: int) -> float:
    """Tokens per round for independent acceptances, (1 - alpha^(gamma + 1)) / (1 - alpha) (Eq. 1).

    Args:
        alpha: acceptance rate, 0 to 1.
        gamma: drafted tokens per round, 0 to 10^6.

    >>> round(expected_tokens(.8, 5), 4)
    3.6893
    """
    return _core.expected_tokens(number(alpha, "alpha", 0, 1), integer(gamma, "gamma", 0, 10**6))


def speedup(alpha: float, gamma: int, c: float) -> float:
    """Speedup over decoding without a draft, for independent acceptances (Thm 3.8).

    Args:
        alpha: acceptance rate, 0 to 1.
        gamma: drafted tokens per round, 0 to 10^6.
        c: time of a draft run divided by that of a target run.

    >>> round(speedup(.8, 5, .05), 4)
    2.9514
    """
    return _core.speedup(number(alpha, "alpha", 0, 1), integer(gamma, "gamma", 0, 10**6), number(c, "c", 0, MOST_C))


def predict(alpha: float, c: float = 0.0, *, c_hat: float = 0.0, gamma: int | None = None) -> Findings:
    """All closed forms at one acceptance rate, as `speclab predict` prints them.

    Args:
        alpha: acceptance rate, 0 to 1.
        c, c_hat: time and arithmetic operations of a draft run, divided by those of a target run, 0 to 1000.
        gamma: drafted tokens per round; default: the optimum.

    Returns:
        alpha, gamma, c, c_hat, tokens_per_target_step, speedup, operations, optimal_gamma, best_speedup, ..., without those
        that are infinite.

    >>> predict(.8, .05).optimal_gamma
    8
    """
    asked = None if gamma is None else integer(gamma, "gamma", 0, 10**6)
    return Findings(*_core.predict(number(alpha, "alpha", 0, 1), number(c, "c", 0, 1000), number(c_hat, "c_hat", 0, 1000), asked))
