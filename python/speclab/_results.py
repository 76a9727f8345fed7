"""Results of a run, for pandas, matplotlib, a browser and a notebook."""

from __future__ import annotations

import io
import json
import os
import pathlib
from collections.abc import Iterator, Mapping
from functools import cached_property
from html import escape
from typing import Any

from . import _core


class Shown:
    """A result that a notebook shows as its text."""

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


class Tabular(Shown):
    """A result with rows."""

    def records(self) -> list[dict[str, Any]]:
        """A dict per row."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """`records` as a DataFrame."""
        import pandas

        return pandas.DataFrame(self.records())


class Findings(Shown, Mapping[str, Any]):
    """Named values, as the program's --json prints them, also as attributes. str() is the program's text."""

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


def with_bounds(values: Mapping[str, Any]) -> dict[str, Any]:
    """A row of a table; an interval becomes the columns NAME, NAME_low and NAME_high."""
    row = {}
    for name, value in values.items():
        if isinstance(value, dict):
            row[name] = value["value"]
            row[f"{name}_low"], row[f"{name}_high"] = value["low"], value["high"]
        else:
            row[name] = value
    return row


#: Columns of Result.records(), beside one per path that the cells set and one per measured value.
COLUMNS = ("cell", "label", "metric", "printed", "formula", "simulated", "simulated_low", "simulated_high")


class Result(Tabular):
    """The result of a config.

    Attributes:
        title, experiment: title and experiment of the config.
        partial: whether the run was interrupted.
        seconds: duration of the run; not part of result.json.
    """

    def __init__(self, core: _core.RunResult) -> None:
        self._core = core

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Result:
        """Reads a result.json that `save` or the program wrote.

        Raises:
            ConfigError: not a result of this version. OSError: the file cannot be read.
        """
        return cls(_core.read_result(pathlib.Path(path).read_text(encoding="utf-8"), "", os.fspath(path)))

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle and copy: the bytes of result.json and timings.json."""
        return _restored, (self.to_json(), self._core.timings())

    def __eq__(self, other: object) -> bool:
        return self.to_json() == other.to_json() if isinstance(other, Result) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.to_json())

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
        """The cells of the grid (without a sweep, one)."""
        return self.data["cells"]

    def records(self) -> list[dict[str, Any]]:
        """A dict per cell and metric: cell, label, the values that the cell sets, metric, printed, formula, simulated,
        simulated_low, simulated_high and measured_NAME, with the names of results.csv (docs/results.md)."""
        beside = list(dict.fromkeys(name for cell in self.cells for name in cell.get("measured") or {}))
        note = self.data["config"].get("measured_note")
        out = []
        for index, cell in enumerate(self.cells):
            simulated, formula, printed = (cell.get(key) or {} for key in ("simulated", "formula", "printed"))
            for metric in dict.fromkeys([*simulated, *formula, *printed]):
                row = {"cell": index, "label": cell.get("label", "")}
                row |= {_column(path): value for path, value in (cell.get("set") or {}).items()}
                row |= {"metric": metric, "printed": None if metric not in printed else float(printed[metric]), "formula": formula.get(metric)}
                row |= with_bounds({"simulated": dict.fromkeys(("value", "low", "high")) | (simulated.get(metric) or {})})
                row |= {_core.measured_column(name): _number((cell.get("measured") or {}).get(name)) for name in beside}
                out.append(row | ({"measured_note": note} if beside and note else {}))
        return out

    def to_csv(self) -> str:
        """results.csv: one row per cell, with the experiment's columns."""
        return self._core.csv()

    def to_pandas(self) -> Any:
        """`records` as a DataFrame; results.csv for experiments without metrics (compare, schedules, ...)."""
        if self.records():
            return super().to_pandas()
        import pandas

        return pandas.read_csv(io.StringIO(self.to_csv()))

    def plot(
        self,
        ax: Any = None,
        *,
        x: str = "",
        y: str = "",
        series: str = "",
        where: Mapping[str, Any] | None = None,
    ) -> Any:
        """Draws a metric over a swept key, as `speclab plot` does (docs/plots.md).

        Args:
            ax: matplotlib Axes; default: the current ones.
            x, series: swept keys, in full ("/models/draft/alpha") or their last part ("alpha"), or "label".
            y: a metric. Defaults of x, series and y come from the config's first figure, or from the figure on the result's
                page.
            where: values of further keys, {"c": 0.05}.

        Returns:
            The Axes. Needs matplotlib 3.6 or later.

        Raises:
            ConfigError: unknown names (the message lists the known ones), or too many curves to tell apart.
            ValueError: the result has several values of a further key, and `where` chooses none.
        """
        import matplotlib.pyplot as plt

        from ._plots.figure import panel_of
        from ._plots.picture import Picture, inks_of
        from ._plots.plane import Plane

        conditions = [f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in (where or {}).items()]
        drawn = json.loads(self._core.figures(x, y, series, conditions))
        if len(drawn["figures"]) > 1:
            titles = ", ".join(figure["title"] for figure in drawn["figures"])
            raise ValueError(f"{len(drawn['figures'])} figures, {titles}; where= chooses one value of a key")
        panel = panel_of(drawn["figures"][0])
        ax = plt.gca() if ax is None else ax
        picture = Picture(palette=drawn["words"]["palette"], colours=drawn["words"]["colours"])
        plane = Plane(ax, panel, inks_of(panel, picture, [line.get_color() for line in ax.get_lines()]))
        plane.draw()
        if panel.heat:
            ax.figure.colorbar(plane.draw_cells(None), ax=ax, label=panel.heat.z_label)
        plane.set_axes()
        ax.set_title(self.title + " (partial)" * self.partial)
        for name, handle in plane.handles.items():
            handle.set_label(name)
            ax.add_line(handle)
        if plane.handles:
            ax.legend()
        return ax

    def report(self, path: str | os.PathLike[str]) -> pathlib.Path:
        """Writes report.html, the page of `speclab run`, as one self-contained file, and returns its path. Raises OSError if it
        cannot be written."""
        out = pathlib.Path(path)
        out.write_text(self._core.report(), encoding="utf-8")
        return out

    def save(self, folder: str | os.PathLike[str], *, force: bool = False) -> pathlib.Path:
        """Writes result.json, results.csv and timings.json into a folder, as the program does. Raises ConfigError if it cannot be
        written to, or, without `force`, holds results of another config."""
        self._core.save(os.fspath(folder), bool(force))
        return pathlib.Path(folder)

    def __str__(self) -> str:
        return self._core.text()

    def __repr__(self) -> str:
        return f"<speclab.Result {self.experiment}: {self.title!r}, {len(self.cells)} cells>"


def _restored(result: bytes, timings: bytes) -> Result:
    return Result(_core.read_result(result.decode(), timings.decode()))


def _column(path: str) -> str:
    """The column for a path that cells set, as in results.csv."""
    name = _core.column_name(path)
    return f"set_{name}" if name in COLUMNS else name


def _number(text: str | None) -> float | str | None:
    """A measured value, which is text, as a number if it is one."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text
