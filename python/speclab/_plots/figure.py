"""Figures as plain data, as in experiments/base/page/figure.hpp."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


class Refusal(ValueError):
    """A figure cannot be drawn; the text says why."""


@dataclass
class Series:
    """Points in the plane, in drawing order. A y that is not finite is a gap."""

    name: str = ""  #: name in the legend; empty: not listed
    style: str = "line"  #: line, points, steps; or levels, a short line across each place of an axis of names
    x: list[float] = field(default_factory=list)
    y: list[float] = field(default_factory=list)
    low: list[float] = field(default_factory=list)  #: of the interval of each point; empty: none
    high: list[float] = field(default_factory=list)
    colour_of: int | None = None  #: index of an earlier series that has the same colour


@dataclass
class HeatMap:
    """Coloured cells z[row][column]; a value that is not finite leaves a blank."""

    x: list[float]
    y: list[float]
    z: list[list[float]]
    z_label: str
    log_z: bool = False


@dataclass
class Timeline:
    """A row of blocks: start, end, kind."""

    label: str
    blocks: list[tuple[float, float, str]]


@dataclass
class Panel:
    """A figure."""

    title: str = ""
    x_label: str = ""
    y_label: str = ""
    log_x: bool = False
    log_y: bool = False
    categories: list[str] = field(default_factory=list)  #: names at x = 0, 1, 2, ...; empty: x is a number
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None
    series: list[Series] = field(default_factory=list)
    heat: HeatMap | None = None
    trace: list[Timeline] = field(default_factory=list)  #: from top to bottom

    def shared_series(self, index: int) -> bool:
        """Returns whether a series of the other kind (line or points) has this one's colour."""
        points = self.series[index].style == "points"
        return any(other.colour_of == index and other.x and (other.style == "points") != points for other in self.series)


def panel_of(data: dict[str, Any]) -> Panel:
    """Reads a figure from the program's JSON; null stands for a value that is not finite."""

    def numbers(values: Sequence[float | None]) -> list[float]:
        return [math.nan if value is None else value for value in values]

    lists = ("x", "y", "low", "high")
    series = [Series(**{key: numbers(value) if key in lists else value for key, value in one.items()}) for one in data["series"]]
    heat = data["heat"] and HeatMap(**data["heat"] | {"z": [numbers(row) for row in data["heat"]["z"]]})
    trace = [Timeline(row["label"], [tuple(block) for block in row["blocks"]]) for row in data["trace"]]
    return Panel(**data | {"series": series, "heat": heat, "trace": trace})
