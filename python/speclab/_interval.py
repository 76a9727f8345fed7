"""An estimate with bounds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Interval:
    """An estimate and the bounds of its confidence interval; bounds are infinite if the error is unknown.

    >>> 0.5 in Interval(0.4, 0.3, 0.6)
    True
    """

    value: float
    low: float
    high: float

    def __float__(self) -> float:
        return self.value

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __str__(self) -> str:
        return f"{self.value:.5g} [{self.low:.5g}, {self.high:.5g}]"
