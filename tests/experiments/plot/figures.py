"""Tests the figures of `speclab plot`: they contain the numbers of the file, each in its place. Pictures are read back from their SVG
as a person would read them, by the numbers beside the axes' ticks. Tables are random, with fixed seeds; a picture of a table with one
planted fault must be rejected.

usage: figures.py SPECLAB_BINARY SOURCE_DIR
"""

import collections
import csv
import io
import json
import math
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from reading import LABELS, SPECLAB, SVG, TOLERANCE, Drawing, coordinates, picture, require, run

import matplotlib
from _plots.figure import Boxes, Panel, Series, Timeline
from _plots.plan import Request, panels_of
from _plots.table import Table, read_table

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


def csv_of(rows):
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def check_lines(svg, rows, log=""):
    drawing = Drawing(svg, log)
    by_server = collections.defaultdict(list)
    for row in rows:
        by_server[row["server"]].append(row)
    for index, (server, members) in enumerate(by_server.items()):
        drawing.require_points(drawing.markers(f"panel-0-points-{index}"), [(row["x"], row["ms"]) for row in members], server)
        band = [corner for path in drawing.paths(f"panel-0-interval-{index}") for corner in path]
        for end in ("ms_low", "ms_high"):
            for row in members:
                require(any(drawing.near(corner, (row["x"], row[end])) for corner in band), server, ": no", end, "at", row["x"])
        ends = [(row["x"], row[end]) for row in members for end in ("ms_low", "ms_high")]
        for corner in band:
            require(any(drawing.near(corner, end) for end in ends), server, ": a corner at", corner)
        if len(by_server) > 1:
            require(server in drawing.texts, server, "is not in the legend")
    marks = [drawing.groups[f"panel-0-points-{i}"].find(f".//{SVG}use").get("style") for i in range(len(by_server))]
    colours = [re.search(r"fill: (#\w+)", style)[1] for style in marks]
    require(len(set(colours)) == len(by_server), "colours", colours)


def lines_drawn(rows, log=""):
    table = read_table(csv_of(rows).encode(), "random.csv")
    return picture(panels_of(table, Request("x", "ms", ["server"], log=set(log)), LABELS))


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
    drawing.require_points(drawing.markers("panel-0-points-1"), [(row["alpha"], row["simulated_speedup"]) for row in rows], "simulated")
    (line,) = drawing.paths("panel-0-line-0")
    drawing.require_points(line, [(row["alpha"], row["formula_speedup"]) for row in rows], "formula")
    require("points: simulated, lines: formula" in drawing.texts or drawing.texts.count("formula") == 1, "the legend", drawing.texts)


def test_formula_and_simulation():
    source = random.Random(5)
    rows = [{"alpha": i / 10, "formula_speedup": source.uniform(1, 3), "simulated_speedup": source.uniform(1, 3)} for i in range(9)]

    def shown(rows):
        return picture(panels_of(read_table(csv_of(rows).encode(), "f.csv"), Request(), LABELS))

    check_formula(shown(rows), rows)
    exchanged = [row | {"formula_speedup": row["simulated_speedup"], "simulated_speedup": row["formula_speedup"]} for row in rows]
    require(rejected(check_formula, shown(exchanged), rows), "not seen: formula and simulation exchanged")


# Figures with boxes, distributions and cells.


def quartiles(values):
    """Returns the value below which a share of the others lies, by linear interpolation between two of them."""
    ordered = sorted(values)

    def at(share):
        place = share * (len(ordered) - 1)
        return ordered[math.floor(place)] * (1 - place % 1) + ordered[math.ceil(place)] * (place % 1)

    return [ordered[0], at(0.25), at(0.5), at(0.75), ordered[-1]]


def check_boxes(svg, samples):
    drawing = Drawing(svg, names="x")
    for index, places in enumerate(samples):
        parts = {what: drawing.paths(f"panel-0-{what}-{index}") for what in ("whiskers", "medians", "boxes")}
        ends = {what: [[y for _, y in path] for path in paths] for what, paths in parts.items()}
        for place, sample in enumerate(places):
            least, lower, median, upper, most = quartiles(sample)
            # Each place has four whiskers: lower, upper, and their ends.
            down, up = ends["whiskers"][4 * place : 4 * place + 2]
            box = ends["boxes"][place]
            found = [*down, *up, *ends["medians"][place], min(box), max(box)]
            for one, wanted in zip(found, [least, lower, upper, most, median, median, lower, upper]):
                require(drawing.y_length(one, wanted) < TOLERANCE, "place", place, ":", one, "instead of", wanted)


def test_boxes():
    source = random.Random(3)
    samples = [[[source.gauss(20, 5) for _ in range(source.randint(3, 40))] for _ in range(3)] for _ in range(2)]

    def shown(samples):
        rows = [["abc"[j], "xy"[i], repr(value)] for i, places in enumerate(samples) for j, sample in enumerate(places) for value in sample]
        source.shuffle(rows)
        # Names have the order of their appearance.
        rows.sort(key=lambda row: row[:2])
        return picture(panels_of(Table(["batch", "server", "ms"], rows), Request("batch", "ms", ["server"], kind="box"), LABELS))

    check_boxes(shown(samples), samples)
    wrong = json.loads(json.dumps(samples))
    wrong[1][2].remove(max(wrong[1][2]))
    require(rejected(check_boxes, shown(wrong), samples), "not seen: a sample without its largest value")


def check_distribution(svg, sample):
    drawing = Drawing(svg)
    (steps,) = drawing.paths("panel-0-steps-0")
    for value in sample:
        share = sum(other <= value for other in sample) / len(sample)
        require(any(drawing.near(corner, (value, share)) for corner in steps), "no step at", value, share)
    for x, y in steps:
        require(any(drawing.near((x, y), (value, k / len(sample))) for value in sample for k in range(len(sample) + 1)), "a step at", x, y)


def test_distributions():
    source = random.Random(8)
    sample = [source.gauss(0, 1) for _ in range(25)]

    def shown(sample):
        return picture(panels_of(Table(["ms"], [[repr(value)] for value in sample]), Request(y="ms", kind="ecdf"), LABELS))

    check_distribution(shown(sample), sample)
    require(rejected(check_distribution, shown([*sample[1:], sample[0] + 0.1]), sample), "not seen: a moved value")


def check_timelines(svg, rows):
    drawing = Drawing(svg, names="y")
    for row, timeline in enumerate(rows):
        for i, kind in enumerate(dict.fromkeys(kind for *_, kind in timeline.blocks)):
            paths = drawing.paths(f"panel-0-row-{row}-{i}")
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
    check_timelines(picture([Panel(trace=rows)]), rows)
    late = [Timeline(row.label, [(start + 0.1, end, kind) for start, end, kind in row.blocks]) for row in rows]
    require(rejected(check_timelines, picture([Panel(trace=late)]), rows), "not seen: blocks that begin late")


def cells_of(panel, **options):
    """Returns the colours of the SVG file's cells by place."""
    drawing = Drawing(picture([panel], **options))
    cells = {}
    for path in drawing.groups["panel-0-cells-0"].iter(f"{SVG}path"):
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
    rows = [[str(x), str(y), "" if z[y][x] is None else repr(z[y][x])] for x in range(4) for y in range(3)]

    def shown(rows):
        (panel,) = panels_of(Table(["x", "y", "ms"], rows), Request("x", "y", ["ms"], kind="heat"), LABELS)
        return cells_of(panel)

    cells = shown(rows)
    values = [value for row in z for value in row if value is not None]
    require(len(cells) == len(values), "cells", len(cells))
    norm = matplotlib.colors.Normalize(min(values), max(values))
    for y, row in enumerate(z):
        for x, value in enumerate(row):
            if value is not None:
                wanted = matplotlib.colors.to_hex(matplotlib.colormaps["viridis"](norm(value)))
                require(cells[float(x), float(y)] == wanted, "cell", x, y)
    turned = shown([[y, x, value] for x, y, value in rows])
    require(turned != cells, "not seen: axes exchanged")


# The look of pictures.


def test_pictures():
    hostile = "'; system \"false\"; $x^2$ `a` @x 100% <&>"
    three = [1, 2, 3]
    series = [Series("γ = 3", "points", three, three, [0, 1, 2], [2, 3, 4]), Series("", "line", three, three, colour_of=0)]
    panel = Panel(x_label=hostile, y_label="y", series=series, note="points: simulated, lines: formula")
    svg = picture([panel])
    texts = Drawing(svg).texts
    require(hostile in texts and "γ = 3" in texts, texts)
    require(any("points: simulated, lines: formula" in text and "bands: intervals" in text for text in texts), texts)
    require("asked for" in Drawing(picture([panel], title="asked for")).texts, "a title")
    require(picture([panel]) == svg, "the same bytes")
    plain = Panel(series=panel.series[:1], note=panel.note)
    require(not any("formula" in text for text in Drawing(picture([plain])).texts), "what is not there is not explained")
    pdf = picture([panel], format="pdf")
    require(pdf.startswith(b"%PDF") and b"/Subtype /Image" not in pdf and b"/FontFile2" in pdf, "PDF has text in TrueType, and no pixels")
    require(b"CreationDate" not in pdf and pdf == picture([panel], format="pdf"), "the same bytes of PDF")
    png = picture([panel], format="png", size=(50.8, 25.4 * 2))
    width, height = (int.from_bytes(png[at : at + 4], "big") for at in (16, 20))
    require((width, height) == (600, 600), width, height)
    markers = len(Drawing(picture([panel, panel])).root.findall(f".//{SVG}g[@id='panel-1-points-0']//{SVG}use"))
    require(markers == 3, markers)
    # In grey, markers, dashes and hatches still differ.
    curves = [Series(name, "line", [1, 2], [1, 2]) for name in "abc"]
    groups = Drawing(picture([Panel(series=curves)])).groups
    dashes = {re.sub(r"stroke: #\w+", "", groups[f"panel-0-line-{i}"].find(f"{SVG}path").get("style")) for i in range(3)}
    require(len(dashes) == 3, dashes)
    points = [Series(name, "points", [1, 2], [1, 2]) for name in "abc"]
    groups = Drawing(picture([Panel(series=points)])).groups
    shapes = {groups[f"panel-0-points-{i}"].find(f".//{SVG}path").get("d") for i in range(3)}
    require(len(shapes) == 3, "shapes")
    boxes = [Boxes(name, [0], [(1, 2, 3, 4, 5)]) for name in "ab"]
    require(b"<pattern" in picture([Panel(categories=["x"], boxes=boxes)]), "hatches")


# The program itself.


def test_program():
    """Draws with the program: the same numbers, and a figure of a result from its own numbers."""
    rows = random_rows(2, "")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        (path / "random.csv").write_text(csv_of(rows))
        command = [SPECLAB, "plot", "random.csv", "--x", "x", "--y", "ms", "--color", "server", "--python", sys.executable]
        done = subprocess.run([*command, "--out", "out.svg"], cwd=folder, capture_output=True, text=True)
        require(done.returncode == 0 and done.stdout == "out.svg\n" and not done.stderr, done)
        check_lines((path / "out.svg").read_bytes(), rows)
        config = {"title": "t", "experiment": "predict", "sweep": {"/alpha": [0.5, 0.6, 0.7, 0.8, 0.9], "/gamma": [1, 3]}}
        (path / "c.json").write_text(json.dumps(config))
        for arguments in (["run", "c.json", "--out", "made", "-q"], ["plot", "made", "--python", sys.executable]):
            done = subprocess.run([SPECLAB, *arguments], cwd=folder, capture_output=True, text=True)
            require(done.returncode == 0, done)
        c = json.loads((path / "made/result.json").read_text())["config"]["cost"]["c"]
        drawing = Drawing((path / "made/plot.svg").read_bytes())
        for index, gamma in enumerate((1, 3)):
            (line,) = drawing.paths(f"panel-0-line-{index}")
            # Leviathan et al. 2023, Theorem 3.8, with the c of a config.
            speedups = [(a, (1 - a ** (gamma + 1)) / (1 - a) / (gamma * c + 1)) for a in (0.5, 0.6, 0.7, 0.8, 0.9)]
            drawing.require_points(line, speedups, f"γ = {gamma}")


run(globals())
