"""Results: what a run gave, for pandas, matplotlib, a browser and a notebook."""

from __future__ import annotations

import io
import json
import os
import pathlib
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from . import _core, _html


class Findings(Mapping[str, Any]):
    """Named values, as the program's --json prints them; also as attributes. str() is the program's text."""

    def __init__(self, text: str, words: str) -> None:
        self._values: dict[str, Any] = json.loads(text)
        self._words = words

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(f"no {name!r}; there are {', '.join(self._values)}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._values]

    def __str__(self) -> str:
        return self._words

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(self._words)}</pre>"


#: Columns of Result.records(), besides one for each path that the cells set.
COLUMNS = ("cell", "label", "metric", "formula", "value", "low", "high", "printed")


class Result:
    """What a config gave.

    Attributes:
        title, experiment: of the config.
        partial: it was interrupted.
        seconds: what the run took; not part of the result's bytes.
    """

    def __init__(self, core: _core.RunResult) -> None:
        self._core = core

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Result:
        """Reads a result.json that `save` or the program wrote.

        Raises:
            ConfigError: it is no result of this version. OSError: it cannot be read.
        """
        return cls(_core.read_result(pathlib.Path(path).read_text(encoding="utf-8")))

    title = property(lambda self: self._core.title)
    experiment = property(lambda self: self._core.experiment)
    partial = property(lambda self: self._core.partial)
    seconds = property(lambda self: self._core.seconds)

    def to_json(self) -> bytes:
        """The bytes of result.json."""
        return self._core.json()

    @cached_property
    def data(self) -> dict[str, Any]:
        """result.json as a dict: config, inputs, cells (docs/reference.md)."""
        return json.loads(self.to_json())

    @property
    def cells(self) -> list[dict[str, Any]]:
        """The cells of the grid, or the one there is."""
        return self.data["cells"]

    def records(self) -> list[dict[str, Any]]:
        """A dict for each cell and metric: cell, label, what the cell sets (by JSON pointer), metric, formula, value,
        low, high (the simulated interval), printed (what the paper prints); None where there is nothing."""
        out = []
        for index, cell in enumerate(self.cells):
            simulated, formula, printed = (cell.get(key) or {} for key in ("simulated", "formula", "printed"))
            for metric in dict.fromkeys([*simulated, *formula, *printed]):
                interval = simulated.get(metric) or {}
                out.append(
                    {
                        "cell": index,
                        "label": cell.get("label", ""),
                        **(cell.get("set") or {}),
                        "metric": metric,
                        "formula": formula.get(metric),
                        "value": interval.get("value"),
                        "low": interval.get("low"),
                        "high": interval.get("high"),
                        "printed": None if metric not in printed else float(printed[metric]),
                    }
                )
        return out

    def to_csv(self) -> str:
        """results.csv, one row per cell, as the experiment lays it out."""
        return self._core.csv()

    def to_pandas(self) -> Any:
        """A tidy DataFrame: a row for each cell and metric with interval columns, as `records` describes. For
        experiments without metrics (compare, schedules, ...) results.csv as a DataFrame. Needs pandas."""
        import pandas

        records = self.records()
        if records:
            return pandas.DataFrame(records)
        return pandas.read_csv(io.StringIO(self.to_csv()))

    def plot(self, ax: Any = None, *, x: str | None = None, y: str | None = None, series: str | None = None) -> Any:
        """Draws a metric over what was swept: points with intervals where it was simulated, lines of the formula.

        Args:
            ax: matplotlib Axes; without one the current.
            x, series: JSON pointers ("/gamma"); without them the first and the second path with several values.
            y: a metric; without it the config's figure's, or speedup, or the first there is.

        Returns:
            The Axes. Needs matplotlib.

        Raises:
            ValueError: a path that the cells do not set, a metric that they do not have, or nothing that was swept.
        """
        import matplotlib.pyplot as plt

        records = self.records()
        paths = [path for path in _paths(records) if len({_key(row.get(path)) for row in records}) > 1]
        if not paths:
            raise ValueError("x: nothing was swept, there is one cell")
        x = _known(x, paths, "x") or paths[0]
        series = _known(series, paths, "series") or next((path for path in paths if path != x), None)
        metrics = list(dict.fromkeys(row["metric"] for row in records))
        figures = self.data["config"].get("figures") or [{}]
        y = _known(y, metrics, "y") or figures[0].get("y") or ("speedup" if "speedup" in metrics else metrics[0])
        ax = plt.gca() if ax is None else ax
        groups: dict[Any, list[dict[str, Any]]] = {}
        for row in records:
            if row["metric"] == y:
                groups.setdefault(_key(row.get(series)) if series else None, []).append(row)
        for value, rows in groups.items():
            _draw(ax, rows, x, None if series is None else f"{series.rsplit('/', 1)[-1]} = {value}")
        ax.set_xlabel(x.rsplit("/", 1)[-1])
        ax.set_ylabel(y)
        ax.set_title(self.title)
        if series is not None:
            ax.legend()
        return ax

    def report(self, path: str | os.PathLike[str]) -> pathlib.Path:
        """Writes report.html, the page of `speclab run`: one file that needs nothing else.

        Returns:
            The path. Raises OSError where it cannot be written.
        """
        out = pathlib.Path(path)
        out.write_text(self._core.report(), encoding="utf-8")
        return out

    def save(self, folder: str | os.PathLike[str]) -> pathlib.Path:
        """Writes result.json, results.csv and timings.json into a folder, as the program does."""
        self._core.save(os.fspath(folder))
        return pathlib.Path(folder)

    def __str__(self) -> str:
        return self._core.text()

    def __repr__(self) -> str:
        return f"<speclab.Result {self.experiment}: {self.title!r}, {len(self.cells)} cells>"

    def _repr_html_(self) -> str:
        return "".join(_html.table(columns, rows, caption, note) for caption, columns, rows, note in self._core.tables())


def _key(value: Any) -> Any:
    """Values of cells may be lists or objects."""
    return json.dumps(value) if isinstance(value, (list, dict)) else value


def _paths(records: list[dict[str, Any]]) -> list[str]:
    return [name for name in dict.fromkeys(name for row in records for name in row) if name.startswith("/")]


def _known(name: str | None, known: list[str], argument: str) -> str | None:
    if name is not None and name not in known:
        raise ValueError(f"{argument}: {name!r} is not one of {', '.join(known)}")
    return name


def _draw(ax: Any, rows: list[dict[str, Any]], x: str, label: str | None) -> None:
    at = [row[x] for row in rows]
    formula = [row["formula"] for row in rows]
    value = [row["value"] for row in rows]
    color = None
    if any(number is not None for number in formula):
        (line,) = ax.plot(at, [float("nan") if number is None else number for number in formula], label=label)
        color, label = line.get_color(), None
    shown = [i for i, number in enumerate(value) if number is not None]
    if shown:
        low = [rows[i]["value"] - rows[i]["low"] if rows[i]["low"] is not None else 0 for i in shown]
        high = [rows[i]["high"] - rows[i]["value"] if rows[i]["high"] is not None else 0 for i in shown]
        ax.errorbar([at[i] for i in shown], [value[i] for i in shown], yerr=[low, high], fmt="o", markersize=3, color=color, label=label)
