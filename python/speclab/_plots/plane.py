"""One panel, drawn into matplotlib's axes.

Colours are those of the program's pages, which colour-blind readers can tell apart. Markers, dashes and hatches differ as well,
so that a print in grey can be read.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib import collections, colors, lines, patches, ticker
from matplotlib.axes import Axes

from .figure import Panel, Refusal

MARKERS = "os^vDPX<>ph*"
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)), (0, (9, 2)), (0, (4, 1, 1, 1, 1, 1)))
HATCHES = ("", "//////", "......", "xxxxxx", "\\\\\\\\\\\\", "++++")
#: Letters in a line of a name beside a vertical axis.
NAME_LETTERS = 32
#: With more cells than this, SVG and PDF contain them as pixels.
MAX_DRAWN_CELLS = 20000


@dataclass
class Ink:
    """Colour, marker, dashes and hatch of a name."""

    colour: str
    marker: str
    dashes: Any
    hatch: str


def broken(text: str, letters: int) -> str:
    """The text broken into lines of so many letters; "α = 0.5" stays in one."""
    return textwrap.fill(text.replace(" = ", "\xa0=\xa0"), letters).replace("\xa0", " ")


def tick_text(value: float, _: Any = None) -> str:
    """ "0.25", "10000", "10⁵", "3·10⁻⁶"."""
    if value == 0 or 1e-4 <= abs(value) < 1e5:
        return f"{value:.6g}".replace("-", "−")
    exponent = math.floor(math.log10(abs(value)) + 1e-12)
    power = "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    factor = f"{value / 10**exponent:.3g}".replace("-", "−")
    return {"1": power, "−1": "−" + power}.get(factor, f"{factor}·{power}")


def set_ticks(axis: Any, log: bool, values: Iterable[float]) -> None:
    """Sets round ticks; whole ones only where all values are whole."""
    axis.set_major_formatter(ticker.FuncFormatter(tick_text))
    if not log:
        whole = all(value == round(value) for value in values if math.isfinite(value))
        axis.set_major_locator(ticker.MaxNLocator("auto", steps=[1, 2, 2.5, 5, 10], integer=whole, min_n_ticks=1))
        return
    low, high = axis.get_view_interval()
    decades = math.log10(high / low)
    digits = (1, 2, 3, 5) if decades < 1.2 else (1, 2, 5) if decades < 2.5 else (1, 3) if decades < 4 else (1,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    places = [place for power in powers for digit in digits if low <= (place := digit * 10.0**power) <= high]
    if len(places) < 2:
        places = [place for place in ticker.MaxNLocator(5).tick_values(low, high) if low <= place <= high]
    if len(places) < 10:
        axis.set_major_locator(ticker.FixedLocator(places))
    axis.set_minor_formatter(ticker.NullFormatter())


def borders(centres: Sequence[float], log: bool) -> list[float]:
    """Borders between centres, one more than the centres: half way between neighbours, on a logarithmic axis in the logarithm."""
    if log:
        if centres[0] <= 0:
            raise Refusal(f"--log: {centres[0]:g} is not positive, and has no place on a logarithmic axis")
        return [math.exp(border) for border in borders([math.log(centre) for centre in centres], False)]
    first = (centres[1] - centres[0]) / 2 if len(centres) > 1 else 0.5
    last = (centres[-1] - centres[-2]) / 2 if len(centres) > 1 else 0.5
    return [centres[0] - first, *((a + b) / 2 for a, b in zip(centres, centres[1:])), centres[-1] + last]


class Plane:
    """A panel and its axes. If `upright` is false, its first axis, of names, is the vertical one. The artists hold the numbers
    and are named "points-1" (series); an SVG file has them as groups of these names."""

    def __init__(self, axes: Axes, panel: Panel, inks: Mapping[str, Ink], scale: float = 1.25, upright: bool = True) -> None:
        self.axes, self.panel, self.inks, self.scale, self.upright = axes, panel, inks, scale, upright
        self.handles: dict[str, Any] = {}  #: legend entries, by name
        self.intervals = ""  #: how they are drawn; empty: not at all

    def draw(self) -> None:
        """Draws everything except heat maps (`draw_cells`)."""
        for row in range(len(self.panel.trace)):
            self._draw_timeline(row)
        points = [i for i, series in enumerate(self.panel.series) if series.style == "points"]
        for i in range(len(self.panel.series)):
            # Points are drawn side by side if the axis has names.
            beside = bool(self.panel.categories) and i in points
            self._draw_series(i, 0.6 * (points.index(i) - (len(points) - 1) / 2) / len(points) if beside else 0)

    def _plot(self, x: Sequence[float], y: Sequence[float], gid: str, **style: Any) -> None:
        self.axes.plot(*((x, y) if self.upright else (y, x)), gid=gid, **style)

    def _segments(self, ends: Iterable[tuple[float, float, float, float]], gid: str, **style: Any) -> None:
        """Draws segments from x, y to x, y."""
        turned = [((a, b), (c, d)) if self.upright else ((b, a), (d, c)) for a, b, c, d in ends]
        self.axes.add_collection(collections.LineCollection(turned, gid=gid, **style))
        self.axes.autoscale_view()

    def _draw_series(self, index: int, offset: float) -> None:
        series = self.panel.series[index]
        ink = self.inks[self.panel.series[index if series.colour_of is None else series.colour_of].name]
        x = [place + offset for place in series.x]
        width = 1.2 * self.scale
        gid = f"interval-{index}"
        if series.low and (self.panel.categories or len(x) < 3):
            self.intervals = "bars"
            end = {"ls": "", "marker": "_" if self.upright else "|", "ms": 3.5 * self.scale, "mew": 0.7 * width, "zorder": 2}
            self._segments(zip(x, series.low, x, series.high), gid, colors=ink.colour, lw=0.7 * width, zorder=2)
            self._plot(x, series.low, f"low-{index}", color=ink.colour, **end)
            self._plot(x, series.high, f"high-{index}", color=ink.colour, **end)
        elif series.low:
            self.intervals = "bands"
            self.axes.fill_between(x, series.low, series.high, color=ink.colour, alpha=0.2, lw=0, zorder=1, gid=gid)
        gid = f"{series.style}-{index}"
        if series.style == "points":
            self._plot(x, series.y, gid, color=ink.colour, ls="", marker=ink.marker, ms=3.2 * self.scale, mew=0, zorder=4)
        elif series.style == "levels":
            ends = ((at - 0.4, y, at + 0.4, y) for at, y in zip(x, series.y))
            self._segments(ends, gid, colors=ink.colour, lw=1.3 * width, ls=ink.dashes, zorder=3)
        else:
            how = "steps-post" if series.style == "steps" else "default"
            self._plot(x, series.y, gid, color=ink.colour, lw=width, ls=ink.dashes, drawstyle=how, zorder=3)
        if series.name:
            both = self.panel.shared_series(index)
            line = "" if series.style == "points" and not both else ink.dashes
            marker = ink.marker if both or series.style == "points" else ""
            style = {"color": ink.colour, "marker": marker, "ms": 3.8 * self.scale, "mew": 0, "ls": line, "lw": width}
            self.handles[series.name] = lines.Line2D([], [], **style)

    def _draw_timeline(self, row: int) -> None:
        blocks = self.panel.trace[row].blocks
        for i, kind in enumerate(dict.fromkeys(kind for *_, kind in blocks)):
            ink = self.inks[kind]
            style = {"facecolor": ink.colour, "edgecolor": "white", "lw": 0.3 * self.scale, "hatch": ink.hatch}
            spans = [(start, end - start) for start, end, other in blocks if other == kind]
            self.axes.broken_barh(spans, (row - 0.3, 0.6), zorder=2, gid=f"row-{row}-{i}", **style)
            self.handles.setdefault(kind, patches.Patch(**style))

    def draw_cells(self, norm: colors.Normalize | None) -> Any:
        """Draws the heat map; cells without a colour are blank. Returns the artist that a colour bar explains."""
        heat = self.panel.heat
        assert heat is not None
        z = [[value if math.isfinite(value) and (value > 0 or not heat.log_z) else math.nan for value in row] for row in heat.z]
        self.axes.grid(visible=False)
        x, y = borders(heat.x, self.panel.log_x), borders(heat.y, self.panel.log_y)
        pixels = len(heat.x) * len(heat.y) > MAX_DRAWN_CELLS
        edges = {"edgecolors": "face", "lw": 0.2}  # else light shows between the cells
        return self.axes.pcolormesh(x, y, z, norm=norm, cmap="viridis", rasterized=pixels, zorder=0.5, gid="cells", **edges)

    def set_axes(self, x_letters: int = 80, y_letters: int = 80) -> None:
        """Scales, ticks and names; labels are broken into lines of so many letters."""
        axes, panel = self.axes, self.panel
        first, second = (axes.xaxis, axes.yaxis) if self.upright else (axes.yaxis, axes.xaxis)
        below, beside = (panel.x_label, panel.y_label) if self.upright else (panel.y_label, panel.x_label)
        axes.set_xlabel(broken(below, x_letters))
        axes.set_ylabel(broken(beside, y_letters))
        if panel.trace:
            self._set_names(first=axes.yaxis, names=[row.label for row in panel.trace])
            axes.spines["left"].set_visible(False)
            axes.set_xlim(left=0)
            return set_ticks(axes.xaxis, False, [0.5])
        heat = panel.heat
        for axis, log, limits, values in (
            (first, panel.log_x, panel.x_range, [x for series in panel.series for x in series.x] + (heat.x if heat else [])),
            (second, panel.log_y, panel.y_range, [y for series in panel.series for y in series.y] + (heat.y if heat else [0.5])),
        ):
            if log:
                (axes.set_xscale if axis is axes.xaxis else axes.set_yscale)("log", nonpositive="clip")
            if limits:
                room = 0.02 * (limits[1] - limits[0])  # for points on the border
                (axes.set_xlim if axis is axes.xaxis else axes.set_ylim)(limits[0] - room, limits[1] + room)
            if axis is first and panel.categories:
                self._set_names(first, panel.categories)
            else:
                set_ticks(axis, log, values)

    def _set_names(self, first: Any, names: Sequence[str]) -> None:
        """Sets names at 0, 1, 2, ...; on a vertical axis from top to bottom."""
        upright = first is self.axes.xaxis
        first.set_ticks(range(len(names)), names if upright else [broken(name, NAME_LETTERS) for name in names])
        first.set_tick_params(length=0)
        first.grid(visible=False)
        if upright:
            self.axes.set_xlim(-0.6, len(names) - 0.4)
        else:
            self.axes.set_ylim(len(names) - 0.4, -0.6)
