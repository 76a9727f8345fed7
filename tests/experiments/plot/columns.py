"""Tests which columns of a table `speclab plot` draws, and what it refuses.

usage: columns.py SPECLAB_BINARY SOURCE_DIR
"""

import itertools

from reading import LABELS, PALETTE, picture, require, run

from _plots.figure import Panel, Series
from _plots.picture import Picture, drawn
from _plots.plan import Request, panels_of
from _plots.table import Refusal, Table, joined, read_table

GRID = list(itertools.product((0.5, 0.6, 0.7, 0.8), (0.01, 0.2), (1, 3, 5)))
COLUMNS = ["cell", "label", "models_draft_alpha", "cost_c", "gamma", "formula_speedup"]
COLUMNS += ["simulated_speedup", "simulated_speedup_low", "simulated_speedup_high"]


def grid():
    rows = [(i, "text", a, c, g, a * g, a * g + c, a * g - 1, a * g + 1) for i, (a, c, g) in enumerate(GRID)]
    return Table(COLUMNS, [[str(field) for field in row] for row in rows])


def test_columns_that_are_named():
    panels = panels_of(grid(), Request("alpha", "speedup", ["gamma"], ["c"]), LABELS)
    require([panel.title for panel in panels] == ["c = 0.01", "c = 0.2"], "titles")
    seen = 0
    for panel, c in zip(panels, (0.01, 0.2)):
        require((panel.x_label, panel.y_label) == ("α", "speedup"), "labels")
        for index, series in enumerate(panel.series):
            gamma = (1, 3, 5)[index // 2]
            name = (series if series.colour_of is None else panel.series[series.colour_of]).name
            require(name == f"γ = {gamma}", name)
            formula = series.style == "line"
            require(series.x == [0.5, 0.6, 0.7, 0.8] and series.y == [a * gamma + (0 if formula else c) for a in series.x], name)
            require(formula or series.low == [a * gamma - 1 for a in series.x], name)
            seen += len(series.x)
    require(seen == 48, seen)
    (panel,) = panels_of(grid(), Request("α", where=[("c", "0.20"), ("gamma", "3")]), LABELS)
    require([series.style for series in panel.series] == ["line", "points"], "rows are kept by number")


def test_columns_that_nobody_names():
    """The longest axis is horizontal, the next becomes colours, further ones become panels; all rows are drawn."""
    panels = panels_of(grid(), Request(), LABELS)
    require(len(panels) == 2 and panels[0].x_label == "α", len(panels))
    require(sum(len(series.x) for panel in panels for series in panel.series if series.style == "points") == 24, "rows")
    twice = Table(["policy", "kind", "speedup"], [["a", "fixed", "1"], ["b", "fixed", "2"], ["c", "other", "3"]])
    require(len(panels_of(twice, Request("policy"), LABELS)) == 1, "a column that others tell apart makes no panels")
    (one,) = panels_of(grid(), Request(), LABELS, one_panel=True)
    require(sum(len(series.x) for series in one.series if series.style == "points") == 24, "one panel has all rows")
    cells = Table(["a", "b", "ms"], [[str(a), str(b), "1"] for a in range(20) for b in range(15)])
    require(panels_of(cells, Request(), LABELS)[0].heat is not None, "two long axes are cells")


def test_refusals():
    def refusal(table, request):
        try:
            drawn(panels_of(table, request, LABELS), Picture(palette=PALETTE))
        except Refusal as problem:
            return str(problem)
        return ""

    no = "nonsense"
    for request in (Request(no), Request(y=no), Request(color=[no]), Request(facet=[no]), Request(where=[(no, "1")])):
        problem = refusal(grid(), request)
        require(all(word in problem for word in ("nonsense", "gamma", "speedup")), request, problem)
    require("0.01, 0.2" in refusal(grid(), Request(where=[("c", "0.3")])), "the values that there are")
    require("is not a number" in refusal(grid(), Request(y="label")), "a column of words")
    many = Table(["x", "y", "speedup"], [[str(i % 2), str(i), "1"] for i in range(40)])
    require("40 series" in refusal(many, Request("x", color=["y"])), "series")
    require("40 panels" in refusal(many, Request("x", facet=["y"])), "panels")
    require("positive" in refusal(Table(["x", "y"], [["1", "-1"], ["2", "0"]]), Request("x", "y", log={"y"})), "no logarithm")
    cells = Table(["x", "y", "z"], [["0", "1", "1"], ["1", "2", "1"]])
    require("positive" in refusal(cells, Request("x", "y", ["z"], kind="heat", log={"x"})), "no place")
    require("left above the legend" in str(refused_size()), "a size that is too small")


def refused_size():
    names = [Series(f"a series with a long name, number {i}", "points", [1], [1]) for i in range(12)]
    try:
        picture([Panel(series=names)], size=(40, 30))
    except Refusal as problem:
        return problem


def test_tables():
    table = read_table('\ufeffa,"b,""c"""\r\n\r\n1,"x\ny"\n'.encode(), "t.csv")
    require(table.columns == ["a", 'b,"c"'] and list(table.texts('b,"c"')) == ["x\ny"], "quotes")
    for text, words in {
        b"a,b\n": "no rows",
        b"a,b\n1\n": "row 1 has 1 fields under 2 columns",
        b'a,"b': "line 1",
        b"a,a\n1,2\n": 'two columns are named "a"',
        b"a,\n1,2\n": "no name",
        b"a\n1\n\xff\n": "line 3",
        b"a\n\0\n": "line 2",
    }.items():
        try:
            read_table(text, "t.csv")
            problem = ""
        except Refusal as refusal:
            problem = str(refusal)
        require(problem.startswith("t.csv: ") and words in problem, text, problem)
    one = Table(["alpha", "speedup"], [["0.5", "1"], ["0.6", "2"]])
    other = Table(["alpha", "extra", "speedup"], [["0.5", "z", "3"], ["0.6", "z", "4"]])
    both = joined([("a", one), ("a", other)])
    require(both.columns == ["source", "alpha", "speedup", "extra"], both.columns)
    require(list(both.texts("source")) == ["a", "a", "a (2)", "a (2)"], both.texts("source"))
    require(list(both.texts("extra")) == ["", "", "z", "z"], "a column that one lacks")


run(globals())
