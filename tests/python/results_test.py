"""Results for pandas, matplotlib, a browser and a notebook."""

import math

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
    assert [(row["/gamma"], row["/cost/c"]) for row in rows] == [(1, 0.02), (1, 0.05), (3, 0.02), (3, 0.05)]
    for row in rows:
        assert row["low"] <= row["value"] <= row["high"]
        assert row["formula"] == pytest.approx(speclab.speedup(0.8, row["/gamma"], row["/cost/c"]))


def test_pandas(result):
    pandas = pytest.importorskip("pandas")
    frame = result.to_pandas()
    assert {"cell", "label", "/gamma", "/cost/c", "metric", "formula", "value", "low", "high"} <= set(frame.columns)
    assert frame[frame.metric == "speedup"].groupby("/gamma")["value"].mean().is_monotonic_increasing
    assert isinstance(frame, pandas.DataFrame)


def test_plot(result):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots()
    assert result.plot(ax) is ax
    assert ax.get_xlabel() == "gamma" and ax.get_ylabel() == "speedup"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["c = 0.02", "c = 0.05"]
    line = ax.get_lines()[0]
    assert list(line.get_xdata()) == [1, 3]
    other = result.plot(plt.subplots()[1], x="/cost/c", y="tokens_per_target_step", series="/gamma")
    assert other.get_xlabel() == "c" and other.get_ylabel() == "tokens_per_target_step"
    plt.close("all")
    with pytest.raises(ValueError, match="y: 'spedup' is not one of"):
        result.plot(y="spedup")
    with pytest.raises(ValueError, match="x: '/alpha'"):
        result.plot(x="/alpha")
    single = speclab.run({"title": "t", "experiment": "predict", "alpha": 0.5})
    with pytest.raises(ValueError, match="nothing was swept"):
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
    assert "<table>" in page and "Speedup <of>" not in page
    assert "speedup" in str(result).lower() and "4 cells" in repr(result)
    for shown in (speclab.predict(0.8, 0.05), speclab.prove("token", [0.5, 0.5], [0.25, 0.75]), speclab.simulate([0.5, 0.5], [0.25, 0.75], 2, rounds=64)):
        assert "<" in shown._repr_html_() and str(shown)


def test_values(result):
    assert result.title == "Speedup <of> γ" and result.experiment == "decode"
    assert not result.partial and result.seconds > 0
    assert math.isclose(result.data["interval_confidence"], 0.95)
