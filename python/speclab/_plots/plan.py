"""From rows to panels: which columns are axes, values, colours and panels, as asked for, the rest chosen from the table."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from . import columns as names
from .columns import Value, axis_name, shown_value, value_label
from .figure import Boxes, HeatMap, Panel, Series
from .table import Refusal, Table

KINDS = ("line", "heat", "box", "ecdf")
#: In one panel: more cannot be told apart.
MAX_SERIES = 12
MAX_PANELS = 12
MAX_BOXES = 60
FORMULA_AND_SIMULATION = "points: simulated, lines: formula"


@dataclass
class Request:
    """What was asked for; what was not is chosen. A column is named in full or by its last part ("gamma" for
    "models_draft_gamma"); a value also without "simulated_" or "formula_", which then are drawn both."""

    x: str | None = None
    y: str | None = None  #: the value; of a heat map the vertical axis
    color: list[str] = field(default_factory=list)  #: one series for each combination; of a heat map the value
    facet: list[str] = field(default_factory=list)  #: one panel for each combination
    where: list[tuple[str, str]] = field(default_factory=list)
    kind: str | None = None
    log: set[str] = field(default_factory=set)  #: of x, y, color


@dataclass
class Plan:
    """A request with its columns found, and what was left open chosen."""

    kind: str
    rows: list[int]
    value: str
    values: list[Value]
    x: str = ""
    up: str = ""  #: the vertical axis of a heat map
    color: list[str] = field(default_factory=list)
    facet: list[str] = field(default_factory=list)

    def measured(self) -> Value:
        return next((value for value in self.values if value.role == "simulated"), self.values[0])


def plan_of(table: Table, request: Request, labels: Mapping[str, str], *, one_panel: bool = False) -> Plan:
    """`labels`: what metrics are called. `one_panel`: what differs and was not named makes series, not panels."""
    kind = request.kind or "line"
    heat = kind == "heat"
    rows = names.rows_where(table, request.where)
    if heat and len(request.color) > 1:
        raise Refusal("--color: a heat map has one value")
    option = "--color" if heat else "--y"
    value = (request.color[0] if request.color else None) if heat else request.y
    value = value or names.default_value(table, rows)
    plan = Plan(kind, rows, value, names.values_of(table, option, value))
    for one in plan.values:
        names.require_numbers(table, option, rows, one.column)
    if not heat:
        plan.color = [names.known(table, "--color", name) for name in request.color]
    plan.facet = [names.known(table, "--facet", name) for name in request.facet]
    if request.x:
        plan.x = names.known(table, "--x", request.x)
    if heat and request.y:
        plan.up = names.known(table, "--y", request.y)
    taken = {plan.x, plan.up, *plan.color, *plan.facet, *(one.column for one in plan.values)}
    left = [column for column in names.set_columns(table, rows, plan.values, labels) if column not in taken]
    # The longest axis of numbers first.
    left.sort(key=lambda column: (table.numeric(rows, column), len(table.values(rows, column))), reverse=True)

    def first_left(axis: str) -> str:
        if not left:
            raise Refusal(f"{axis}: nothing that was set differs between these rows; name one of {', '.join(table.columns)}")
        return left.pop(0)

    if not plan.x and kind != "ecdf":
        plan.x = first_left("--x")
    if heat and not plan.up:
        plan.up = first_left("--y")
    # Two long axes of numbers are cells, unless somebody says otherwise.
    chosen = request.kind or request.color or one_panel or not left
    if not chosen and all(table.numeric(rows, axis) for axis in (plan.x, left[0])) and len(table.values(rows, left[0])) > MAX_SERIES:
        plan.kind, plan.up = "heat", left.pop(0)
    if plan.up:
        names.require_numbers(table, "--x", rows, plan.x)
        names.require_numbers(table, "--y", rows, plan.up)
    # What is left is the sample of a distribution; else it must not hide one row below another.
    if plan.kind in ("box", "ecdf"):
        return plan
    used = [*plan.facet, *plan.color, plan.x, *([plan.up] if plan.up else [])]
    if not plan.up and not request.color and not names.tells_apart(table, rows, used):
        few = [column for column in left if len(table.values(rows, column)) <= MAX_SERIES]
        if few:
            plan.color.append(few[0])
            used.append(few[0])
            left.remove(few[0])
    for column in left:
        if names.tells_apart(table, rows, used):
            break
        (plan.color if one_panel else plan.facet).append(column)
        used.append(column)
    return plan


def series_groups(table: Table, plan: Plan, rows: Sequence[int]) -> list[tuple[str, list[int]]]:
    """Names and rows of the series of a panel."""
    groups = table.groups(rows, plan.color)
    if len(groups) > MAX_SERIES:
        raise Refusal(
            f"--color: {len(groups)} series cannot be told apart; --where leaves some out, --facet draws panels, --kind heat cells"
        )
    return [(words(plan.color, key), members) for key, members in groups.items()]


def words(columns: Sequence[str], key: Sequence[str]) -> str:
    return ", ".join(itertools.starmap(names.setting, zip(columns, key)))


def line_panel(table: Table, plan: Plan, rows: Sequence[int], labels: Mapping[str, str]) -> Panel:
    """Values over x, a series for each colour and role."""
    panel = Panel(x_label=axis_name(plan.x), y_label=value_label(plan.value, labels))
    numeric = table.numeric(plan.rows, plan.x)
    places: Sequence[float | None] = table.numbers(plan.x)
    if not numeric:
        there = table.values(plan.rows, plan.x)
        panel.categories = [shown_value(name) for name in there]
        rank = {name: float(i) for i, name in enumerate(there)}
        places = [rank.get(name) for name in table.texts(plan.x)]
    for group, members in series_groups(table, plan, rows):
        first: int | None = None
        for value in plan.values:
            y = table.numbers(value.column)
            shown = sorted((row for row in members if places[row] is not None and y[row] is not None), key=lambda row: places[row] or 0)
            if not shown:
                continue
            name = group or value.role or value_label(plan.value, labels)
            if value.role == "printed":
                name = f"{group}, printed" if group else "printed"
            style = "points" if value.role != "formula" else "line" if numeric else "levels"
            series = Series(name, style, [places[row] for row in shown], [y[row] for row in shown])  # type: ignore[misc]
            if value.low and value.high:
                # An end that is not there, as with a single batch, is left out.
                for ends, column in ((series.low, value.low), (series.high, value.high)):
                    bounds = table.numbers(column)
                    ends += [y[row] if bounds[row] is None else bounds[row] for row in shown]  # type: ignore[misc]
            # Formula and simulation of one colour are one entry of the legend.
            if first is not None and group and value.role != "printed":
                series.name, series.colour_of = "", first
            if first is None:
                first = len(panel.series)
            panel.series.append(series)
            # A plain column without intervals is a curve through its points.
            if not value.role and numeric and not series.low:
                panel.series.append(Series("", "line", series.x, series.y, colour_of=len(panel.series) - 1))
    if {"formula", "simulated"} <= {value.role for value in plan.values}:
        panel.note = FORMULA_AND_SIMULATION
    return panel


def heat_panel(table: Table, plan: Plan, rows: Sequence[int], labels: Mapping[str, str], log_z: bool) -> Panel:
    across, up, z = table.numbers(plan.x), table.numbers(plan.up), table.numbers(plan.measured().column)
    cells = {(up[row], across[row]): z[row] for row in rows if up[row] is not None and across[row] is not None}
    x = sorted({key[1] for key in cells})  # type: ignore[type-var]
    y = sorted({key[0] for key in cells})  # type: ignore[type-var]
    values = [[math.nan if (value := cells.get((row, column))) is None else value for column in x] for row in y]
    heat = HeatMap(x, y, values, value_label(plan.value, labels), log_z)  # type: ignore[arg-type]
    return Panel(x_label=axis_name(plan.x), y_label=axis_name(plan.up), heat=heat if cells else None)


def sample(table: Table, rows: Sequence[int], column: str) -> list[float]:
    numbers = table.numbers(column)
    return sorted(value for row in rows if (value := numbers[row]) is not None)


def quantile(ordered: Sequence[float], share: float) -> float:
    """Between the values around it, as NumPy and R (type 7) have it."""
    at = share * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (at - low) * (ordered[high] - ordered[low])


def box_panel(table: Table, plan: Plan, rows: Sequence[int], labels: Mapping[str, str]) -> Panel:
    there = table.values(plan.rows, plan.x)
    if len(there) > MAX_BOXES:
        raise Refusal(f"--x {plan.x}: {len(there)} boxes; at most {MAX_BOXES} can be read")
    panel = Panel(x_label=axis_name(plan.x), y_label=value_label(plan.value, labels), categories=[shown_value(name) for name in there])
    for group, members in series_groups(table, plan, rows):
        boxes = Boxes(group)
        by_place = table.groups(members, [plan.x])
        for place, name in enumerate(there):
            values = sample(table, by_place.get((name,), []), plan.measured().column)
            if values:
                boxes.places.append(place)
                boxes.numbers.append((values[0], quantile(values, 0.25), quantile(values, 0.5), quantile(values, 0.75), values[-1]))
        if boxes.places:
            panel.boxes.append(boxes)
    return panel


def ecdf_panel(table: Table, plan: Plan, rows: Sequence[int], labels: Mapping[str, str]) -> Panel:
    panel = Panel(x_label=value_label(plan.value, labels), y_label="share of rows up to it", y_range=(0, 1))
    for group, members in series_groups(table, plan, rows):
        values = sample(table, members, plan.measured().column)
        if values:
            shares = [i / len(values) for i in range(len(values) + 1)]
            panel.series.append(Series(group, "steps", [values[0], *values], shares))
    return panel


def panels_of(table: Table, request: Request, labels: Mapping[str, str], *, one_panel: bool = False) -> list[Panel]:
    """The panels of one picture. Columns that differ and that nobody named are panels too, so that no point lies on another of
    a different row; of boxes and distributions they are the sample. Refusals name the columns that there are."""
    plan = plan_of(table, request, labels, one_panel=one_panel)
    groups = table.groups(plan.rows, plan.facet)
    if len(groups) > MAX_PANELS:
        raise Refusal(
            f"--facet: {len(groups)} panels of {', '.join(plan.facet)} are more than {MAX_PANELS}; --where NAME=VALUE keeps one value, "
            "--kind box or ecdf draws distributions"
        )
    panels = []
    for key, rows in groups.items():
        if plan.kind == "heat":
            panel = heat_panel(table, plan, rows, labels, "color" in request.log)
        else:
            panel = {"line": line_panel, "box": box_panel, "ecdf": ecdf_panel}[plan.kind](table, plan, rows, labels)
        panel.title = words(plan.facet, key)
        panel.log_x = "x" in request.log and not panel.categories
        panel.log_y = "y" in request.log
        if panel.series or panel.heat or panel.boxes:
            panels.append(panel)
    if not panels:
        raise Refusal("nothing to draw: the rows have no such values")
    return panels
