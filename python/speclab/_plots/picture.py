"""Pictures for papers and slides: panels, a legend, and what the letters look like. PDF and SVG with text as text, PNG."""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import matplotlib
from matplotlib import colors, font_manager
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from .figure import Panel
from .plane import DASHES, HATCHES, MARKERS, NAME_LETTERS, Ink, Plane, broken, set_ticks
from .table import Refusal

INCH = 25.4  # mm
#: Theme: size of letters in points, and of everything else beside a paper's.
THEMES = {"paper": (8.0, 1.0), "screen": (12.0, 1.6)}


@dataclass
class Picture:
    """How panels are shown. Sizes are in mm; without one it is as the theme and the number of panels ask."""

    format: str = "svg"
    theme: str = "paper"
    size: tuple[float, float] | None = None
    title: str = ""
    intervals: str = "intervals"  #: what they are called: "95% intervals"
    palette: Sequence[str] = ()  #: colours
    colours: Mapping[str, int] = field(default_factory=dict)  #: of names that recur, places of the palette


def inks_of(panels: Iterable[Panel], picture: Picture, taken: Sequence[str] = ()) -> dict[str, Ink]:
    """Names that recur have a colour of their own; the others take what is used least, in order. Over cells the first colour
    would be lost. `taken` are the colours of what is there."""
    panels = list(panels)
    names: dict[str, bool] = {}  # is it drawn as a line without points
    for panel in panels:
        for i, series in enumerate(panel.series):
            if series.colour_of is None:
                names[series.name] = names.get(series.name, True) and series.style != "points" and not panel.shared_series(i)
        names |= dict.fromkeys((boxes.name for boxes in panel.boxes), False)
        names |= dict.fromkeys((kind for row in panel.trace for *_, kind in row.blocks), False)
    uses = [sum(colour == one for one in taken) for colour in picture.palette]
    uses[0] += any(panel.heat for panel in panels)
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
    """DejaVu Sans, and installed fonts that have the characters that it lacks; and what none has."""
    families = ["DejaVu Sans"]
    missing = set(map(ord, text)) - set(font_manager.get_font(font_manager.findfont(families[0])).get_charmap()) - {ord("\n")}
    for entry in font_manager.fontManager.ttflist if missing else []:
        if found := missing & set(font_manager.get_font(entry.fname).get_charmap()):
            families.append(entry.name)
            missing -= found
    return families, "".join(map(chr, sorted(missing)))


def texts_of(panels: Iterable[Panel]) -> str:
    found = []
    for panel in panels:
        found += [panel.title, panel.x_label, panel.y_label, *panel.categories, *(series.name for series in panel.series)]
        found += [panel.heat.z_label if panel.heat else "", *(boxes.name for boxes in panel.boxes), *(row.label for row in panel.trace)]
    return "".join(found)


def style_of(theme: str) -> dict[str, Any]:
    points, scale = THEMES[theme]
    grey = "#555555"
    return {
        "font.size": points,
        "axes.titlesize": "medium",
        "figure.titlesize": "medium",
        "axes.linewidth": 0.6 * scale,
        "axes.edgecolor": grey,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "axes.grid": True,
        "grid.color": "#dddddd",
        "grid.linewidth": 0.4 * scale,
        "hatch.linewidth": 0.5 * scale,
        **{f"{axis}tick.major.{key}": value * scale for axis in "xy" for key, value in (("width", 0.6), ("size", 2.5))},
        **{f"{axis}tick.minor.{key}": value * scale for axis in "xy" for key, value in (("width", 0.4), ("size", 1.5))},
        **{f"{axis}tick.color": grey for axis in "xy"},
        **{f"{axis}tick.labelcolor": "black" for axis in "xy"},
        "text.parse_math": False,
        "path.simplify": False,  # every number is drawn
        "pdf.fonttype": 42,
        "svg.fonttype": "none",
        "svg.hashsalt": "speclab",
    }


@dataclass
class Layout:
    """Lengths in inches."""

    columns: int
    rows: int
    width: float
    row: float  #: what a row of panels takes, unless the picture has a size
    letter: float  #: the width of one on average
    upright: bool  #: names of an axis stand below it
    across: int  #: letters below a panel


def layout_of(panels: Sequence[Panel], picture: Picture) -> Layout:
    points, scale = THEMES[picture.theme]
    first = panels[0]
    columns = len(panels) if len(panels) <= 3 else 2 if len(panels) == 4 else 3
    letter = 0.57 * points / 72
    width = picture.size[0] / INCH if picture.size else (85 if columns == 1 else 58 * columns) / INCH * scale
    across = int(0.8 * width / columns / letter)
    upright = not first.categories or sum(len(name) + 2 for name in first.categories) < across
    row = 58 if columns == 1 else 50
    beside = [timeline.label for timeline in first.trace] or ([] if upright else first.categories)
    if first.trace:
        row = 16 + 7 * len(beside)
    elif beside:
        lanes = max(1, sum(series.style == "points" for series in first.series), len(first.boxes))
        lines = 1 + max(broken(name, NAME_LETTERS).count("\n") for name in beside)
        row = 14 + max(1.2 + 3.4 * lines, 3 * lanes) * len(beside)
    if beside:
        across = max(12, int(0.97 * width / columns / letter) - min(NAME_LETTERS, max(map(len, beside))))
    return Layout(columns, -(-len(panels) // columns), width, row / INCH * scale, letter, upright, across)


def figure_of(panels: Sequence[Panel], picture: Picture) -> Figure:
    """Panels have one range of each axis, one colour per name, and one legend. Intervals are bands around points, or bars where
    the axis has names. Call it, and save the figure, within `style_of`."""
    layout = layout_of(panels, picture)
    figure = Figure(figsize=(layout.width, layout.row * layout.rows))
    FigureCanvasAgg(figure)
    axes = figure.subplots(layout.rows, layout.columns, sharex=True, sharey=True, squeeze=False)
    inks = inks_of(panels, picture)
    scale = THEMES[picture.theme][1]
    planes = [Plane(one, panel, inks, scale, layout.upright, i) for i, (one, panel) in enumerate(zip(axes.flat, panels))]
    for plane in planes:
        plane.draw()
    draw_heat(figure, planes)
    below = draw_legend(figure, planes, picture.intervals, int(0.97 * layout.width / layout.letter))
    height = picture.size[1] / INCH if picture.size else layout.row * layout.rows + below
    if picture.size and height - below < 15 / INCH * layout.rows:
        raise Refusal(
            f"--size {picture.size[0]:g}x{picture.size[1]:g}: {(height - below) * INCH:.0f} mm are left above the legend; a row of panels "
            f"needs 15 mm, and there are {layout.rows}"
        )
    figure.set_size_inches(layout.width, height)
    for i, plane in enumerate(planes):
        plane.set_axes(layout.across, int(0.8 * (height - below) / layout.rows / layout.letter))
        if len(panels) > 1:
            plane.axes.set_title(broken(plane.panel.title, layout.across))
        if i + layout.columns < len(panels):
            plane.axes.set_xlabel("")
        else:
            plane.axes.tick_params(labelbottom=True)
        if i % layout.columns:
            plane.axes.set_ylabel("")
    for one in axes.flat[len(panels) :]:
        one.remove()
    if picture.title:
        figure.suptitle(broken(picture.title, int(0.9 * layout.width / layout.letter)))
    figure.set_layout_engine("constrained", rect=(0, below / height, 1, 1 - below / height), w_pad=0.03, h_pad=0.03)
    return figure


def draw_heat(figure: Figure, planes: Sequence[Plane]) -> None:
    """Cells, with one scale of colours for all panels."""
    maps = [(plane, plane.panel.heat) for plane in planes if plane.panel.heat]
    if not maps:
        return
    log = maps[0][1].log_z
    values = [z for _, heat in maps for row in heat.z for z in row if math.isfinite(z) and (z > 0 or not log)]
    if not values:
        raise Refusal("--log color: no value is positive" if log else "nothing to draw: no cell has a value")
    norm = (colors.LogNorm if log else colors.Normalize)(min(values), max(values))
    for plane, _ in maps:
        mesh = plane.draw_cells(norm)
    bar = figure.colorbar(mesh, ax=[plane.axes for plane, _ in maps], label=maps[0][1].z_label)
    bar.outline.set_visible(False)
    set_ticks(bar.ax.yaxis, log, values)


def draw_legend(figure: Figure, planes: Sequence[Plane], intervals: str, letters: int) -> float:
    """The legend of all panels at the bottom, in as few rows as fit, and below it what points, lines and bands are; how many
    inches they take."""
    handles: dict[str, Any] = {}
    for plane in planes:
        handles = plane.handles | handles
    if list(handles) == [planes[0].panel.y_label]:
        handles = {}  # the axis says it
    width = figure.get_figwidth()
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    below = 0.0
    explained = [plane.panel.note for plane in planes if any(map(plane.panel.shared_series, range(len(plane.panel.series))))]
    bands = [f"{plane.intervals}: {intervals}" for plane in planes if plane.intervals]
    notes = list(dict.fromkeys(filter(None, explained + bands)))
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


def left_out(panels: Sequence[Panel]) -> list[str]:
    """What logarithmic axes do not show, in words. Refuses panels of which nothing would be seen."""
    values = [(panel.log_x, x) for panel in panels for series in panel.series for x in series.x]
    values += [(panel.log_y, y) for panel in panels for series in panel.series for y in series.y]
    values += [(panel.log_y, value) for panel in panels for boxes in panel.boxes for numbers in boxes.numbers for value in numbers]
    values += [(panel.heat.log_z, z) for panel in panels if panel.heat for row in panel.heat.z for z in row]
    if panels[0].series and not any(math.isfinite(y) for panel in panels for series in panel.series for y in series.y):
        raise Refusal("nothing to draw: no value is a finite number")
    logged = [value for log, value in values if log and math.isfinite(value)]
    lost = sum(value <= 0 for value in logged)
    if lost and lost == len(logged):
        raise Refusal("--log: no value is positive")
    return [f"logarithmic axes leave out what is not positive: {lost} of {len(logged)} numbers"] if lost else []


def drawn(panels: Sequence[Panel], picture: Picture) -> tuple[bytes, list[str]]:
    """The file, and what whoever looks at it should know. The same bytes for the same panels."""
    out = io.BytesIO()
    notes = left_out(panels)
    with warnings.catch_warnings(), matplotlib.rc_context():
        warnings.simplefilter("ignore")
        matplotlib.rcdefaults()
        families, missing = font_families(texts_of(panels) + picture.title)
        if missing:
            notes.append(f"no installed font has {missing}")
        matplotlib.rcParams.update(style_of(picture.theme) | {"font.family": families})
        figure = figure_of(panels, picture)
        undated: dict[str, dict[str, None]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
        figure.savefig(out, format=picture.format, dpi=300, metadata=undated[picture.format])
    return out.getvalue(), notes
