"""Tests results for pandas, matplotlib, a browser and a notebook."""

import copy
import html
import math
import pickle

import pytest

import speclab

CONFIG = {
    "title": "Speedup <of> γ",
    "models": {
        "target": {"kind": "table", "rows": [[0.5, 0.3, 0.2]]},
        "draft": {"kind": "table", "rows": [[0.3, 0.3, 0.4]]},
    },
    "cost": {"c": 0.05},
    "simulation": {"trials": 16, "length": 200},
    "sweep": {"/gamma": [1, 3], "/cost/c": [0.02, 0.05]},
}


@pytest.fixture(scope="module")
def result():
    return speclab.run(CONFIG)


def test_records(result):
    rows = [row for row in result.records() if row["metric"] == "speedup"]
    assert [(row["gamma"], row["cost_c"]) for row in rows] == [(1, 0.02), (1, 0.05), (3, 0.02), (3, 0.05)]
    for row in rows:
        assert row["simulated_low"] <= row["simulated"] <= row["simulated_high"]
        assert row["formula"] == pytest.approx(speclab.speedup(0.8, row["gamma"], row["cost_c"]))


def test_pandas(result):
    pandas = pytest.importorskip("pandas")
    frame = result.to_pandas()
    assert {"cell", "label", "gamma", "cost_c", "metric", "formula", "simulated", "simulated_low", "simulated_high"} <= set(frame.columns)
    assert frame[frame.metric == "speedup"].groupby("gamma")["simulated"].mean().is_monotonic_increasing
    assert isinstance(frame, pandas.DataFrame)


def test_names_of_columns(result):
    """A column has one name in results.csv and in the data frame, where metrics are rows: simulated_speedup_low is simulated_low."""
    wide = result.to_csv().splitlines()[0].split(",")
    rows = result.records()
    for name in rows[0]:
        if name == "metric" or name.startswith("printed"):
            continue
        kind, _, end = name.partition("_")
        of_metric = kind in ("formula", "simulated")
        for row in rows:
            column = f"{kind}_{row['metric']}{'_' + end if end else ''}" if of_metric else name
            assert column in wide or row[name] is None, column


BESIDE = {
    "title": "Beside",
    "experiment": "predict",
    "metrics": ["speedup"],
    "measured_note": "Another machine.",
    "cases": [
        {"label": "a", "set": {"/alpha": 0.5}, "measured": {"paper: T5-XXL EnDe": ".20", "said": "about 2"}},
        {"label": "b", "set": {"/alpha": 0.6}},
    ],
}


def test_measured_values_are_carried():
    result = speclab.run(BESIDE)
    first, second = (row for row in result.records() if row["metric"] == "speedup")
    assert first["measured_paper_T5_XXL_EnDe"] == 0.2 and first["measured_said"] == "about 2"
    assert second["measured_paper_T5_XXL_EnDe"] is None and second["measured_note"] == "Another machine."
    lines = result.to_csv().splitlines()
    assert {"measured_paper_T5_XXL_EnDe", "measured_said", "measured_note"} <= set(lines[0].split(","))
    assert ",.20," in lines[1] and "Another machine." in lines[2]


def check_speedups(ax, result):
    """The artists hold the numbers of the records."""
    lines = {line.get_gid(): line for line in ax.get_lines()}
    for index, c in enumerate((0.02, 0.05)):
        rows = [row for row in result.records() if row["metric"] == "speedup" and row["cost_c"] == c]
        assert [*lines[f"line-{2 * index}"].get_xdata()] == [row["gamma"] for row in rows]
        assert [*lines[f"line-{2 * index}"].get_ydata()] == [row["formula"] for row in rows]
        points = lines[f"points-{2 * index + 1}"]
        assert [*points.get_ydata()] == [row["simulated"] for row in rows]
        for end in ("low", "high"):
            assert [*lines[f"{end}-{2 * index + 1}"].get_ydata()] == [row[f"simulated_{end}"] for row in rows]


def test_plot_of_three_axes():
    """No line joins different rows: of a third key one value is kept."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    config = {"title": "t", "experiment": "predict", "sweep": {"/alpha": [0.5, 0.6, 0.7], "/gamma": [1, 3], "/cost/c": [0.02, 0.2]}}
    found = speclab.run(config)
    for c in (0.02, 0.2):
        ax = found.plot(plt.subplots()[1], where={"c": c})
        assert [text.get_text() for text in ax.get_legend().get_texts()] == ["γ = 1", "γ = 3"]
        for line, gamma in zip(ax.get_lines(), (1, 3)):
            assert [*line.get_ydata()] == pytest.approx([speclab.speedup(alpha, gamma, c) for alpha in (0.5, 0.6, 0.7)])
    with pytest.raises(ValueError, match=r"2 figures.*c = 0.02.*where="):
        found.plot(plt.subplots()[1])
    assert len(speclab.run(config).plot(plt.subplots()[1], x="c", series="gamma", where={"alpha": 0.6}).get_lines()) == 4
    plt.close("all")


def test_plot(result):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots()
    assert result.plot(ax) is ax
    assert ax.get_xlabel() == "γ" and ax.get_ylabel() == "speedup" and ax.get_title() == "Speedup <of> γ"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["c = 0.02", "c = 0.05"]
    check_speedups(ax, result)
    other = result.plot(plt.subplots()[1], x="/cost/c", y="tokens_per_target_step", series="/gamma")
    assert other.get_xlabel() == "c" and other.get_ylabel() == "tokens per target step"
    # A second result beside the first has colours of its own.
    colours = len({line.get_color() for line in ax.get_lines()})
    assert len({line.get_color() for line in result.plot(ax).get_lines()}) == 2 * colours
    plt.close("all")
    with pytest.raises(ValueError, match="y spedup: no such metric"):
        result.plot(y="spedup")
    with pytest.raises(ValueError, match="x /alpha: the cells set no such key"):
        result.plot(x="/alpha")
    single = speclab.run({"title": "t", "experiment": "predict", "alpha": 0.5})
    with pytest.raises(ValueError, match="x: nothing that the cells set"):
        single.plot()


def test_report(result, tmp_path):
    page = result.report(tmp_path / "report.html").read_text()
    assert page.startswith("<!") and "Speedup &lt;of&gt; γ" in page and "<svg" in page


def test_saved_and_loaded(result, tmp_path):
    folder = result.save(tmp_path / "out")
    assert (folder / "result.json").read_bytes() == result.to_json()
    again = speclab.Result.load(folder / "result.json")
    assert again.to_json() == result.to_json() and again.records() == result.records()
    assert str(again) == str(result)
    (folder / "other.json").write_text('{"title": "t"}')
    with pytest.raises(speclab.ConfigError):
        speclab.Result.load(folder / "other.json")
    with pytest.raises(OSError):
        speclab.Result.load(folder / "none.json")


def test_notebooks(result):
    page = result._repr_html_()
    assert page.startswith("<pre>") and "Speedup <of>" not in page and html.unescape(page[5:-6]) == str(result)
    assert "speedup" in str(result).lower() and "4 cells" in repr(result)
    for shown in (speclab.predict(0.8, 0.05), speclab.prove("token", [0.5, 0.5], [0.25, 0.75]), speclab.simulate([0.5, 0.5], [0.25, 0.75], 2, rounds=64)):
        assert "<" in shown._repr_html_() and str(shown)


def test_everything_has_a_repr():
    classes = [getattr(speclab, name) for name in speclab.__all__ if isinstance(getattr(speclab, name), type)]
    assert len(classes) > 20 and [made.__name__ for made in classes if made.__repr__ is object.__repr__] == []
    assert repr(speclab.predict(0.8, 0.05)).startswith("<speclab.Findings: alpha, gamma, ")
    assert repr(speclab.simulate([0.5, 0.5], [0.25, 0.75], 2, rounds=64)) == "<speclab.Simulation token, gamma = 2, 64 rounds>"


def test_values(result):
    assert result.title == "Speedup <of> γ" and result.experiment == "decode"
    assert not result.partial and result.seconds > 0
    assert math.isclose(result.data["interval_confidence"], 0.95)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_results_and_simulations_are_copied_and_pickled(again):
    result = speclab.run({"title": "γ", "experiment": "iid", "alpha": 0.7, "simulation": {"trials": 16, "length": 50}})
    same = again(result)
    assert same.to_json() == result.to_json() and same.seconds == result.seconds and str(same) == str(result)
    simulation = speclab.simulate([0.5, 0.5], [0.4, 0.6], 2, rounds=1000)
    same = again(again(simulation))
    assert str(same) == str(simulation) and same.positions == simulation.positions
    assert (same.counts, same.accepted_lengths, same.engine, same.alpha) == (simulation.counts, simulation.accepted_lengths, simulation.engine, simulation.alpha)


def test_texts_that_are_no_texts_are_refused_by_name(tmp_path):
    with pytest.raises(TypeError, match="fields: expected a dict"):
        speclab.plan(log="x", c=0.1, fields=[1])
    for call, name in (
        (lambda: speclab.plan(log="\ud800", c=0.1), "log"),
        (lambda: speclab.plan(log="x", c=0.1, fields={"accepted": "\udcff"}), "fields"),
        (lambda: speclab.run("\udcff.json"), "config"),
        (lambda: speclab.run({"title": "\ud800", "experiment": "predict", "alpha": 0.8}), "config"),
    ):
        with pytest.raises(ValueError, match=f"^{name}.*lone surrogate"):
            call()


def test_results_of_another_config_are_kept(result, tmp_path):
    other = speclab.run({"title": "t", "experiment": "predict", "alpha": 0.5})
    folder = result.save(tmp_path / "out")
    with pytest.raises(speclab.ConfigError, match="out holds the results of another config; choose another folder, or force=True to overwrite"):
        other.save(folder)
    assert speclab.Result.load(folder / "result.json") == result
    result.save(folder)
    (folder / "result.json").write_text("{")
    with pytest.raises(speclab.ConfigError, match="result.json.*; choose another folder, or force=True to overwrite"):
        result.save(folder)
    other.save(folder, force=True)
    again = speclab.Result.load(folder / "result.json")
    assert again == other and again != result and len({again, other, result}) == 2 and again != "t"
