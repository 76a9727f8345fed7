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

    def __repr__(self) -> str:
        return f"<speclab.{type(self).__name__}: {', '.join(self._values)}>"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(self._words)}</pre>"


def with_bounds(values: Mapping[str, Any]) -> dict[str, Any]:
    """A row of a table: an interval is three columns, NAME, NAME_low and NAME_high."""
    row = {}
    for name, value in values.items():
        if isinstance(value, dict):
            row[name] = value["value"]
            row[f"{name}_low"], row[f"{name}_high"] = value["low"], value["high"]
        else:
            row[name] = value
    return row


#: Columns of Result.records(), besides one for each path that the cells set and for each measured value beside them.
COLUMNS = ("cell", "label", "metric", "printed", "formula", "simulated", "simulated_low", "simulated_high")


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
            ConfigError: it is no result of this version; the message says so. OSError: it cannot be read.
        """
        return cls(_core.read_result(pathlib.Path(path).read_text(encoding="utf-8"), ""))

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle and copy: the bytes of result.json and timings.json."""
        return _restored, (self.to_json(), self._core.timings())

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
        """A dict for each cell and metric: cell, label, what the cell sets, metric, printed, formula, simulated,
        simulated_low, simulated_high and measured_NAME, with the names of results.csv (docs/results.md)."""
        beside = list(dict.fromkeys(name for cell in self.cells for name in cell.get("measured") or {}))
        note = self.data["config"].get("measured_note")
        out = []
        for index, cell in enumerate(self.cells):
            simulated, formula, printed = (cell.get(key) or {} for key in ("simulated", "formula", "printed"))
            for metric in dict.fromkeys([*simulated, *formula, *printed]):
                interval = simulated.get(metric) or {}
                out.append(
                    {
                        "cell": index,
                        "label": cell.get("label", ""),
                        **{_column(path): value for path, value in (cell.get("set") or {}).items()},
                        "metric": metric,
                        "printed": None if metric not in printed else float(printed[metric]),
                        "formula": formula.get(metric),
                        "simulated": interval.get("value"),
                        "simulated_low": interval.get("low"),
                        "simulated_high": interval.get("high"),
                        **{_core.measured_column(name): _number((cell.get("measured") or {}).get(name)) for name in beside},
                        **({"measured_note": note} if beside and note else {}),
                    }
                )
        return out

    def to_csv(self) -> str:
        """results.csv, one row per cell, as the experiment lays it out."""
        return self._core.csv()

    def to_pandas(self) -> Any:
        """`records` as a DataFrame; results.csv for experiments without metrics (compare, schedules, ...)."""
        import pandas

        records = self.records()
        if records:
            return pandas.DataFrame(records)
        return pandas.read_csv(io.StringIO(self.to_csv()))

    def plot(self, ax: Any = None, *, x: str | None = None, y: str | None = None, series: str | None = None) -> Any:
        """Draws a metric over what was swept, as `speclab plot` does (docs/plots.md).

        Args:
            ax: matplotlib Axes; without one the current.
            x, series: columns ("models_draft_alpha") or JSON pointers ("/models/draft/alpha") of what was swept; without them
                the first and the second with several values. Further ones are told apart by the series' names.
            y: a metric; without it the config's figure's, or speedup, or the first there is.

        Returns:
            The Axes. Needs matplotlib 3.6 or later.

        Raises:
            ValueError: a path that the cells do not set, a metric that they do not have, nothing that was swept, or more series
                than can be told apart.
        """
        import matplotlib.pyplot as plt

        from ._plots.picture import Picture, inks_of
        from ._plots.plan import Request, panels_of
        from ._plots.plane import Plane
        from ._plots.table import read_table

        records = self.records()
        columns = dict.fromkeys(_column(path) for cell in self.cells for path in cell.get("set") or {})
        swept = [column for column in columns if len({_key(row.get(column)) for row in records}) > 1]
        if not swept:
            raise ValueError("x: nothing was swept, there is one cell")
        x = _known(_swept(x), swept, "x") or swept[0]
        series = _known(_swept(series), swept, "series") or next((column for column in swept if column != x), None)
        metrics = list(dict.fromkeys(row["metric"] for row in records))
        figures = self.data["config"].get("figures") or [{}]
        y = _known(y, metrics, "y") or figures[0].get("y") or ("speedup" if "speedup" in metrics else metrics[0])
        words = json.loads(_core.plot_words())
        table = read_table(self.to_csv().encode(), "results.csv")
        (panel,) = panels_of(table, Request(x, y, [series] if series else []), words["labels"], one_panel=True)
        ax = plt.gca() if ax is None else ax
        inks = inks_of([panel], Picture(palette=words["palette"], colours=words["colours"]), [line.get_color() for line in ax.get_lines()])
        plane = Plane(ax, panel, inks)
        plane.draw()
        plane.set_axes()
        ax.set_title(self.title)
        for name, handle in plane.handles.items():
            handle.set_label(name)
            ax.add_line(handle)
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


def _restored(result: bytes, timings: bytes) -> Result:
    return Result(_core.read_result(result.decode(), timings.decode()))


def _key(value: Any) -> Any:
    """Values of cells may be lists or objects."""
    return json.dumps(value) if isinstance(value, (list, dict)) else value


def _column(path: str) -> str:
    """The column of what cells set, as in results.csv."""
    name = _core.column_name(path)
    return f"set_{name}" if name in COLUMNS else name


def _swept(name: str | None) -> str | None:
    """A column, of its name or of a JSON pointer."""
    return name if name is None or not name.startswith("/") else _column(name)


def _number(text: str | None) -> float | str | None:
    """Measured values are texts, of which most are numbers."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def _known(name: str | None, known: list[str], argument: str) -> str | None:
    if name is not None and name not in known:
        raise ValueError(f"{argument}: {name!r} is not one of {', '.join(known)}")
    return name
