"""Tests that `speclab plot` draws the numbers of a figure, each in its place. Pictures are read back from their SVG as a person
would: by the numbers beside the axes' ticks. Figures are random, of fixed seeds; a picture that is drawn from a figure with one
planted fault must be rejected.

usage: figures.py SPECLAB_BINARY SOURCE_DIR
"""

import collections
import json
import math
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from reading import PALETTE, SPECLAB, SVG, TOLERANCE, Drawing, coordinates, picture, require, run

import matplotlib
from _plots.figure import HeatMap, Panel, Refusal, Series, Timeline
from _plots.picture import Picture, drawn

# Figures with lines, points and bands, each in one colour.


def random_rows(seed, log):
    """Returns x, y, low, high by server; every value once."""
    source = random.Random(seed)
    value = (lambda: 10 ** source.uniform(-3, 5)) if "y" in log else (lambda: source.uniform(-50, 50))
    place = (lambda: 10 ** source.uniform(0, 3)) if "x" in log else (lambda: source.uniform(-2, 9))
    rows = []
    for server in ("one", "two", "three")[: 1 + seed % 3]:
        for x in sorted(place() for _ in range(source.randint(3, 9))):
            low, y, high = sorted(value() for _ in range(3))
            rows.append({"x": x, "server": server, "ms": y, "ms_low": low, "ms_high": high})
    return rows


def check_lines(svg, rows, log=""):
    drawing = Drawing(svg, log)
    by_server = collections.defaultdict(list)
    for row in rows:
        by_server[row["server"]].append(row)
    for index, (server, members) in enumerate(by_server.items()):
        drawing.require_points(drawing.markers(f"points-{index}"), [(row["x"], row["ms"]) for row in members], server)
        band = [corner for path in drawing.paths(f"interval-{index}") for corner in path]
        for end in ("ms_low", "ms_high"):
            for row in members:
                require(any(drawing.near(corner, (row["x"], row[end])) for corner in band), server, ": no", end, "at", row["x"])
        ends = [(row["x"], row[end]) for row in members for end in ("ms_low", "ms_high")]
        for corner in band:
            require(any(drawing.near(corner, end) for end in ends), server, ": a corner at", corner)
        if len(by_server) > 1:
            require(server in drawing.texts, server, "is not in the legend")
    marks = [drawing.groups[f"points-{i}"].find(f".//{SVG}use").get("style") for i in range(len(by_server))]
    colours = [re.search(r"fill: (#\w+)", style)[1] for style in marks]
    require(len(set(colours)) == len(by_server), "colours", colours)


def lines_drawn(rows, log=""):
    series = []
    for server in dict.fromkeys(row["server"] for row in rows):
        mine = sorted((row for row in rows if row["server"] == server), key=lambda row: row["x"])
        series.append(Series(server, "points", *([row[key] for row in mine] for key in ("x", "ms", "ms_low", "ms_high"))))
    return picture(Panel(series=series, x_label="x", y_label="ms", log_x="x" in log, log_y="y" in log))


def moved(value, log):
    return value * 1.03 if log else value + 0.1


def rejected(check, *arguments):
    try:
        check(*arguments)
    except AssertionError:
        return True
    return False


def test_lines_and_bands():
    """Checks every point and every end of a band. A picture of other numbers must fail."""
    planted = collections.Counter()
    for seed in range(6):
        log = ("", "y", "x", "xy")[seed % 4]
        rows = random_rows(seed, log)
        check_lines(lines_drawn(rows, log), rows, log)
        source = random.Random(seed)
        at = source.randrange(len(rows))
        for fault, change in {
            "a value": {"ms": moved(rows[at]["ms"], "y" in log)},
            "an end of an interval": {"ms_low": moved(rows[at]["ms_low"], "y" in log)},
            "a place": {"x": moved(rows[at]["x"], "x" in log)},
            "a missing row": None,
        }.items():
            wrong = [*rows[:at], *([] if change is None else [rows[at] | change]), *rows[at + 1 :]]
            require(rejected(check_lines, lines_drawn(wrong, log), rows, log), "not seen:", fault, "in table", seed)
            planted[fault] += 1
        if len({row["server"] for row in rows}) > 1:
            names = {"one": "two", "two": "one"}
            wrong = sorted(rows, key=lambda row: names.get(row["server"], "z"))
            wrong = [row | {"server": names.get(row["server"], row["server"])} for row in wrong]
            require(rejected(check_lines, lines_drawn(wrong, log), rows, log), "not seen: names exchanged in table", seed)
    require(min(planted.values()) == 6, planted)


def check_formula(svg, rows):
    drawing = Drawing(svg)
    drawing.require_points(drawing.markers("points-1"), [(row["alpha"], row["simulated_speedup"]) for row in rows], "simulated")
    (line,) = drawing.paths("line-0")
    drawing.require_points(line, [(row["alpha"], row["formula_speedup"]) for row in rows], "formula")
    require("points: simulated, lines: formula" in drawing.texts, "the legend", drawing.texts)


def test_formula_and_simulation():
    source = random.Random(5)
    rows = [{"alpha": i / 10, "formula_speedup": source.uniform(1, 3), "simulated_speedup": source.uniform(1, 3)} for i in range(9)]

    def shown(rows):
        alpha = [row["alpha"] for row in rows]
        line = Series("γ = 1", "line", alpha, [row["formula_speedup"] for row in rows])
        points = Series("", "points", alpha, [row["simulated_speedup"] for row in rows], colour_of=0)
        return picture(Panel(series=[line, points]))

    check_formula(shown(rows), rows)
    exchanged = [row | {"formula_speedup": row["simulated_speedup"], "simulated_speedup": row["formula_speedup"]} for row in rows]
    require(rejected(check_formula, shown(exchanged), rows), "not seen: formula and simulation exchanged")


# Timelines and cells.


def check_timelines(svg, rows):
    drawing = Drawing(svg, names="y")
    for row, timeline in enumerate(rows):
        for i, kind in enumerate(dict.fromkeys(kind for *_, kind in timeline.blocks)):
            paths = drawing.paths(f"row-{row}-{i}")
            wanted = [block for block in timeline.blocks if block[2] == kind]
            require(len(paths) == len(wanted), "blocks", len(paths), "of", len(wanted))
            for path, (start, end, _) in zip(paths, wanted):
                xs = [x for x, _ in path]
                require(drawing.x_length(min(xs), start) < TOLERANCE and drawing.x_length(max(xs), end) < TOLERANCE, "block", start, end)


def test_timelines():
    source = random.Random(6)
    rows = []
    for label in ("plain", "γ = 3"):
        ends = sorted(source.uniform(0, 20) for _ in range(10))
        rows.append(Timeline(label, [(a, b, "draft run" if i % 2 else "target run") for i, (a, b) in enumerate(zip(ends, ends[1:]))]))
    check_timelines(picture(Panel(trace=rows)), rows)
    late = [Timeline(row.label, [(start + 0.1, end, kind) for start, end, kind in row.blocks]) for row in rows]
    require(rejected(check_timelines, picture(Panel(trace=late)), rows), "not seen: blocks that begin late")


def cells_of(panel, **options):
    """Colours of the cells by place, of the SVG file."""
    drawing = Drawing(picture(panel, **options))
    cells = {}
    for path in drawing.groups["cells"].iter(f"{SVG}path"):
        corners = [(drawing.x(x), drawing.y(y)) for x, y in coordinates(path.get("d"))]
        middle = tuple(round(sum(values) / 2, 3) for values in zip(min(corners), max(corners)))
        filled = re.search(r"fill: (#\w+)", path.get("style"))
        if filled:
            cells[middle] = filled[1]
    return cells


def test_heat_maps():
    source = random.Random(4)
    z = [[source.uniform(1, 5) for _ in range(4)] for _ in range(3)]
    z[1][2] = None
    def shown(z):
        rows = [[math.nan if value is None else value for value in row] for row in z]
        return cells_of(Panel(heat=HeatMap(list(map(float, range(len(rows[0])))), list(map(float, range(len(rows)))), rows, "ms")))

    cells = shown(z)
    values = [value for row in z for value in row if value is not None]
    require(len(cells) == len(values), "cells", len(cells))
    norm = matplotlib.colors.Normalize(min(values), max(values))
    for y, row in enumerate(z):
        for x, value in enumerate(row):
            if value is not None:
                wanted = matplotlib.colors.to_hex(matplotlib.colormaps["viridis"](norm(value)))
                require(cells[float(x), float(y)] == wanted, "cell", x, y)
    turned = shown([list(column) for column in zip(*z)])
    require(turned != cells, "not seen: axes exchanged")


# The look of pictures.


def test_pictures():
    hostile = "'; system \"false\"; $x^2$ `a` @x 100% <&>"
    three = [1, 2, 3]
    series = [Series("γ = 3", "points", three, three, [0, 1, 2], [2, 3, 4]), Series("", "line", three, three, colour_of=0)]
    panel = Panel(x_label=hostile, y_label="y", series=series)
    svg = picture(panel)
    texts = Drawing(svg).texts
    require(hostile in texts and "γ = 3" in texts, texts)
    require(any("points: simulated, lines: formula" in text and "bands: intervals" in text for text in texts), texts)
    require(picture(panel) == svg, "the same bytes")
    plain = Panel(series=panel.series[:1])
    require(not any("formula" in text for text in Drawing(picture(plain)).texts), "what is not there is not explained")
    pdf = picture(panel, format="pdf")
    require(pdf.startswith(b"%PDF") and b"/Subtype /Image" not in pdf and b"/FontFile2" in pdf, "PDF has text in TrueType, and no pixels")
    require(b"CreationDate" not in pdf and pdf == picture(panel, format="pdf"), "the same bytes of PDF")
    png = picture(panel, format="png", size=(50.8, 25.4 * 2))
    width, height = (int.from_bytes(png[at : at + 4], "big") for at in (16, 20))
    require((width, height) == (600, 600), width, height)
    # In grey as well: markers and dashes differ.
    curves = [Series(name, "line", [1, 2], [1, 2]) for name in "abc"]
    groups = Drawing(picture(Panel(series=curves))).groups
    dashes = {re.sub(r"stroke: #\w+", "", groups[f"line-{i}"].find(f"{SVG}path").get("style")) for i in range(3)}
    require(len(dashes) == 3, dashes)
    points = [Series(name, "points", [1, 2], [1, 2]) for name in "abc"]
    groups = Drawing(picture(Panel(series=points))).groups
    shapes = {groups[f"points-{i}"].find(f".//{SVG}path").get("d") for i in range(3)}
    require(len(shapes) == 3, "shapes")


def test_refusals():
    for panel, size, words in (
        (Panel(series=[Series("a", "line", [1, 2], [-1, 0])], log_y=True), None, "positive"),
        (Panel(series=[Series("a", "line", [1, 2], [math.nan, math.nan])]), None, "finite"),
        (Panel(heat=HeatMap([0, 1], [1, 2], [[1, 1], [1, 1]], "z"), log_x=True), None, "no place"),
        (Panel(series=[Series(f"a series with a long name, number {i}", "points", [1], [1]) for i in range(12)]), (40, 30), "left above the legend"),
    ):
        try:
            drawn(panel, Picture(palette=PALETTE, size=size))
            problem = ""
        except Refusal as refusal:
            problem = str(refusal)
        require(words in problem, words, problem)


# The program itself.


def test_program():
    """Through the program: a figure of a result drawn from its own numbers."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        config = {"title": "t", "experiment": "predict", "sweep": {"/alpha": [0.5, 0.6, 0.7, 0.8, 0.9], "/gamma": [1, 3]}}
        (path / "c.json").write_text(json.dumps(config))
        for arguments in (["run", "c.json", "--out", "made", "-q"], ["plot", "made", "--python", sys.executable]):
            done = subprocess.run([SPECLAB, *arguments], cwd=folder, capture_output=True, text=True)
            require(done.returncode == 0, done)
        c = json.loads((path / "made/result.json").read_text())["config"]["cost"]["c"]
        drawing = Drawing((path / "made/plot.svg").read_bytes())
        for index, gamma in enumerate((1, 3)):
            (line,) = drawing.paths(f"line-{index}")
            # Leviathan et al. 2023, Theorem 3.8, with the c that a config has.
            speedups = [(a, (1 - a ** (gamma + 1)) / (1 - a) / (gamma * c + 1)) for a in (0.5, 0.6, 0.7, 0.8, 0.9)]
            drawing.require_points(line, speedups, f"γ = {gamma}")


run(globals())
