"""Runs configs, as the program's commands do."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, Union

from . import _core
from ._arrays import integer, utf8
from ._errors import ConfigError
from ._progress import Progress, reporter
from ._results import Findings, Result

#: A config as a dict (docs/reference.md), or the path of a JSON file.
ConfigLike = Union[Mapping[str, Any], str, "os.PathLike[str]"]


def config_text(config: Any) -> _core.ConfigText:
    """The config for the program's reader; TypeError for anything else, ValueError for lone surrogates."""
    if isinstance(config, Mapping):
        try:
            text = json.dumps(dict(config), allow_nan=False, ensure_ascii=False)
        except (TypeError, ValueError) as problem:
            raise TypeError(f"config: has no JSON form: {problem}") from None
        return _core.ConfigText.of_text(utf8(text, "config"))
    if isinstance(config, (str, os.PathLike)):
        return _core.ConfigText.of_file(utf8(config, "config"))
    raise TypeError(f"config: expected a dict or a path, not {type(config).__name__}")


def run(config: ConfigLike, *, threads: int = 0, progress: Progress = False) -> Result:
    """Runs a config. result.json has the same bytes as by `speclab run`.

    Args:
        config: a dict, or the path of a JSON file. Paths in it are relative to the working folder.
        threads: 0: all cores. The result does not depend on it.
        progress: True for a tqdm bar (without tqdm, a line), or a function of (done, total) steps.

    Raises:
        ConfigError: a bad config, before any work; names the file, the JSON path, the value and what is allowed.
        KeyboardInterrupt: within a tenth of a second after Ctrl-C; nothing is kept.

    >>> result = run({"title": "α = .8", "experiment": "predict", "alpha": .8, "gamma": 5, "cost": {"c": .05}})
    >>> round(result.cells[0]["formula"]["tokens_per_target_step"], 4)
    3.6893
    """
    threads = integer(threads, "threads", 0, 4096)
    text = config_text(config)
    with reporter(progress, "run") as report:
        return Result(_core.run(text, threads, report))


def sweep(config: ConfigLike, *, threads: int = 0, progress: Progress = False) -> Result:
    """Runs a config over the grid of its "sweep", as `speclab sweep` does; otherwise like `run`.

    Args:
        config, threads, progress: as in `run`.

    Raises:
        ConfigError: the config has no "sweep".

    >>> grid = sweep({"title": "γ", "experiment": "predict", "alpha": .8, "sweep": {"/gamma": [1, 3, 5]}})
    >>> [cell["set"]["/gamma"] for cell in grid.cells]
    [1, 3, 5]
    """
    if config_dict(config).get("sweep") is None:
        raise ConfigError('/sweep: missing; it lists values by path, for example {"/gamma": [1, 3, 5]}', "/sweep")
    return run(config, threads=threads, progress=progress)


def config_dict(config: ConfigLike) -> dict[str, Any]:
    """The config as a dict. ConfigError: it cannot be read; the program reports other mistakes."""
    if isinstance(config, Mapping):
        return dict(config)
    if not isinstance(config, (str, os.PathLike)):
        raise TypeError(f"config: expected a dict or a path, not {type(config).__name__}")
    try:
        with open(config, encoding="utf-8-sig") as file:
            if isinstance(read := json.load(file), dict):
                return read
        raise ValueError("is no object")
    except (OSError, ValueError) as problem:
        raise ConfigError(f"{os.fspath(config)}: {problem}", "", os.fspath(config)) from None


def exact(config: ConfigLike, *, simulation: bool = True, threads: int = 0) -> Findings:
    """Analyses a config's models and rule exactly, as a Markov chain over contexts (docs/exact-analysis.md).

    Args:
        config: a dict or a path; its models must have bounded memory.
        simulation: whether to simulate as well, at the config's size.
        threads: 0: all cores.

    Returns:
        The output of `speclab exact --json`; str() of it is the program's text.

    Raises:
        ConfigError: a config that cannot be analysed.
    """
    return Findings(*_core.exact(config_text(config), bool(simulation), integer(threads, "threads", 0, 4096)))
