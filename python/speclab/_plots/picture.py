"""Makes pictures for papers: a figure, a legend, and fonts. Formats are PNG, and PDF and SVG with text as text."""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import matplotlib
from matplotlib import colors, font_manager
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from .figure import Panel, Refusal
from .plane import DASHES, HATCHES, MARKERS, NAME_LETTERS, Ink, Plane, broken, set_ticks

INCH = 25.4  # mm
POINTS = 8.0  # size of letters, as in a column of a paper
LETTER = 0.57 * POINTS / 72  # mean width of a letter, in inches
FORMULA_AND_SIMULATION = "points: simulated, lines: formula"


@dataclass
class Picture:
    """How a figure is drawn."""

    format: str = "svg"
    size: tuple[float, float] | None = None  #: in mm; without one 85 mm wide, and as high as the figure asks
    intervals: str = "intervals"  #: name of the intervals in the legend: "95% intervals"
    palette: Sequence[str] = ()  #: colours
    colours: Mapping[str, int] = field(default_factory=dict)  #: indices into the palette, for names that have a fixed colour
    partial: bool = False  #: whether it is of an interrupted run


def inks_of(panel: Panel, picture: Picture, taken: Sequence[str] = ()) -> dict[str, Ink]:
    """The colour and marker of each name. Names with a fixed colour have it; the others take the least used colour, in order. Over
    a heat map the first colour would be invisible. `taken`: the colours already in the picture."""
    names: dict[str, bool] = {}  # whether it is drawn as a line without points
    for i, series in enumerate(panel.series):
        if series.colour_of is None:
            names[series.name] = names.get(series.name, True) and series.style != "points" and not panel.shared_series(i)
    names |= dict.fromkeys((kind for row in panel.trace for *_, kind in row.blocks), False)
    uses = [sum(colour == one for one in taken) for colour in picture.palette]
    uses[0] += panel.heat is not None
    given: dict[str, int] = {}
    for name in names:
        own = picture.colours.get(name)
        if own is not None and not uses[own]:
            given[name] = own
            uses[own] += 1
    inks: dict[str, Ink] = {}
    dashed = 0
    for name, bare in names.items():
        place = given.get(name, uses.index(min(uses)))
        uses[place] += name not in given
        dashes = DASHES[dashed % len(DASHES) if bare else 0]
        inks[name] = Ink(picture.palette[place], MARKERS[place % len(MARKERS)], dashes, HATCHES[place % len(HATCHES)])
        dashed += bare
    return inks


def font_families(text: str) -> tuple[list[str], str]:
    """DejaVu Sans and installed fonts with the characters that it lacks; and the characters that no font has."""
    families = ["DejaVu Sans"]
    missing = set(map(ord, text)) - set(font_manager.get_font(font_manager.findfont(families[0])).get_charmap()) - {ord("\n")}
    for entry in font_manager.fontManager.ttflist if missing else []:
        if found := missing & set(font_manager.get_font(entry.fname).get_charmap()):
            families.append(entry.name)
            missing -= found
    return families, "".join(map(chr, sorted(missing)))


def texts_of(panel: Panel) -> str:
    found = [panel.x_label, panel.y_label, *panel.categories, *(series.name for series in panel.series)]
    return "".join([*found, panel.heat.z_label if panel.heat else "", *(row.label for row in panel.trace)])


def style_of() -> dict[str, Any]:
    grey = "#555555"
    return {
        "font.size": POINTS,
        "axes.linewidth": 0.6,
        "axes.edgecolor": grey,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "axes.grid": True,
        "grid.color": "#dddddd",
        "grid.linewidth": 0.4,
        "hatch.linewidth": 0.5,
        **{f"{axis}tick.major.{key}": value for axis in "xy" for key, value in (("width", 0.6), ("size", 2.5))},
        **{f"{axis}tick.minor.{key}": value for axis in "xy" for key, value in (("width", 0.4), ("size", 1.5))},
        **{f"{axis}tick.color": grey for axis in "xy"},
        **{f"{axis}tick.labelcolor": "black" for axis in "xy"},
        "text.parse_math": False,
        "path.simplify": False,  # every number is drawn
        "pdf.fonttype": 42,
        "svg.fonttype": "none",
        "svg.hashsalt": "speclab",
    }


def layout_of(panel: Panel, picture: Picture) -> tuple[float, float, bool, int]:
    """Width, and the height unless the picture has one, in inches; whether names of an axis stand below it; letters below the axes."""
    width = (picture.size[0] if picture.size else 85) / INCH
    across = int(0.8 * width / LETTER)
    upright = not panel.categories or sum(len(name) + 2 for name in panel.categories) < across
    height: float = 58
    beside = [timeline.label for timeline in panel.trace] or ([] if upright else panel.categories)
    if panel.trace:
        height = 16 + 7 * len(beside)
    elif beside:
        lanes = max(1, sum(series.style == "points" for series in panel.series))
        lines = 1 + max(broken(name, NAME_LETTERS).count("\n") for name in beside)
        height = 14 + max(1.2 + 3.4 * lines, 3 * lanes) * len(beside)
    if beside:
        across = max(12, int(0.97 * width / LETTER) - min(NAME_LETTERS, max(map(len, beside))))
    return width, height / INCH, upright, across


def figure_of(panel: Panel, picture: Picture) -> Figure:
    """Draws the figure. Intervals are bands around points, or bars where the axis has names. Call it, and save the figure, within
    `style_of`."""
    width, height, upright, across = layout_of(panel, picture)
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    plane = Plane(figure.subplots(), panel, inks_of(panel, picture), 1.0, upright)
    plane.draw()
    draw_heat(figure, plane)
    below = draw_legend(figure, plane, picture, int(0.97 * width / LETTER))
    height = picture.size[1] / INCH if picture.size else height + below
    if picture.size and height - below < 15 / INCH:
        left = (height - below) * INCH
        raise Refusal(f"--size {picture.size[0]:g}x{picture.size[1]:g}: {left:.0f} mm are left above the legend; a figure needs 15 mm")
    figure.set_size_inches(width, height)
    plane.set_axes(across, int(0.8 * (height - below) / LETTER))
    figure.set_layout_engine("constrained", rect=(0, below / height, 1, 1 - below / height), w_pad=0.03, h_pad=0.03)
    return figure


def draw_heat(figure: Figure, plane: Plane) -> None:
    heat = plane.panel.heat
    if heat is None:
        return
    values = [z for row in heat.z for z in row if math.isfinite(z) and (z > 0 or not heat.log_z)]
    if not values:
        raise Refusal("--log color: no value is positive" if heat.log_z else "nothing to draw: no cell has a value")
    mesh = plane.draw_cells((colors.LogNorm if heat.log_z else colors.Normalize)(min(values), max(values)))
    bar = figure.colorbar(mesh, ax=[plane.axes], label=heat.z_label)
    bar.outline.set_visible(False)
    set_ticks(bar.ax.yaxis, heat.log_z, values)


def draw_legend(figure: Figure, plane: Plane, picture: Picture, letters: int) -> float:
    """Draws the legend at the bottom, in as few rows as fit, and below it an explanation of points, lines and bands. Returns their
    height in inches."""
    handles = {} if list(plane.handles) == [plane.panel.y_label] else plane.handles  # the axis has this name already
    width = figure.get_figwidth()
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    below = 0.0
    notes = [FORMULA_AND_SIMULATION] if any(map(plane.panel.shared_series, range(len(plane.panel.series)))) else []
    notes += [f"{plane.intervals}: {picture.intervals}"] if plane.intervals else []
    notes += ["partial results"] if picture.partial else []
    if notes:
        separator = ", " if len(", ".join(notes)) <= letters else "\n"
        text = figure.text(width / 2, 0.03, separator.join(notes), ha="center", va="bottom", transform=figure.dpi_scale_trans)
        below = 0.05 + text.get_window_extent(renderer).height / figure.dpi
    names = [broken(name, letters - 8) for name in handles]
    style = {"loc": "lower center", "frameon": False, "borderpad": 0.1, "borderaxespad": 0.1, "handlelength": 2.4, "columnspacing": 1.4}
    style |= {"bbox_to_anchor": (width / 2, below), "bbox_transform": figure.dpi_scale_trans}
    for rows in range(1, len(names) + 1):
        legend = figure.legend(handles.values(), names, ncols=-(-len(names) // rows), **style)
        box = legend.get_window_extent(renderer)
        if box.width < 0.98 * width * figure.dpi or rows == len(names):
            return below + 0.04 + box.height / figure.dpi
        legend.remove()
    return below


def left_out(panel: Panel) -> list[str]:
    """Sentences about values that logarithmic axes cannot show. Refuses a figure in which nothing would be visible."""
    values = [(panel.log_x, x) for series in panel.series for x in series.x]
    values += [(panel.log_y, y) for series in panel.series for y in series.y]
    values += [(panel.heat.log_z, z) for row in panel.heat.z for z in row] if panel.heat else []
    if panel.series and not any(math.isfinite(y) for series in panel.series for y in series.y):
        raise Refusal("nothing to draw: no value is a finite number")
    logged = [value for log, value in values if log and math.isfinite(value)]
    lost = sum(value <= 0 for value in logged)
    if lost and lost == len(logged):
        raise Refusal("--log: no value is positive")
    return [f"logarithmic axes leave out what is not positive: {lost} of {len(logged)} numbers"] if lost else []


def drawn(panel: Panel, picture: Picture) -> tuple[bytes, list[str]]:
    """The file, and notes for its reader. The same figure gives the same bytes."""
    out = io.BytesIO()
    notes = left_out(panel)
    with warnings.catch_warnings(), matplotlib.rc_context():
        warnings.simplefilter("ignore")
        matplotlib.rcdefaults()
        families, missing = font_families(texts_of(panel))
        if missing:
            notes.append(f"no installed font has {missing}")
        matplotlib.rcParams.update(style_of() | {"font.family": families})
        figure = figure_of(panel, picture)
        undated: dict[str, dict[str, None]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
        figure.savefig(out, format=picture.format, dpi=300, metadata=undated[picture.format])
    return out.getvalue(), notes
