"""Runs configs, as the program's commands do."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Mapping
from concurrent.futures import Executor
from typing import Any, Optional, Union

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


def sweep(
    config: ConfigLike,
    *,
    threads: int = 0,
    progress: Progress = False,
    executor: Optional[Executor] = None,
    shards: Optional[int] = None,
    folder: Union[str, "os.PathLike[str]", None] = None,
) -> Result:
    """Runs a config over the grid of its "sweep", as `speclab sweep` does; otherwise like `run`.

    Args:
        config, threads, progress: as in `run`. With an executor, `threads` counts per shard (0: one), and `progress` counts
            shards.
        executor: runs the shards (parts of the grid): any object with the `submit` of `concurrent.futures.Executor`. Its
            workers need this package, access to `folder`, and in their working folder the files that the config names. The
            result has the same bytes.
        shards: number of parts of equal cost for the executor; default: four per core of this machine.
        folder: folder where shards store finished work; after a failure the same call continues from it. Default: a
            temporary folder, which is removed at the end.

    Raises:
        ConfigError: the config has no "sweep".

    >>> grid = sweep({"title": "γ", "experiment": "predict", "alpha": .8, "sweep": {"/gamma": [1, 3, 5]}})
    >>> [cell["set"]["/gamma"] for cell in grid.cells]
    [1, 3, 5]
    """
    result_of = _read(config)
    if result_of.get("sweep") is None:
        raise ConfigError('/sweep: missing; it lists values by path, for example {"/gamma": [1, 3, 5]}', "/sweep")
    if executor is None:
        if shards is not None or folder is not None:
            raise ValueError("shards and folder: these need an executor; give executor=")
        return run(config, threads=threads, progress=progress)
    threads = integer(threads, "threads", 0, 4096)
    shards = 4 * (os.cpu_count() or 1) if shards is None else integer(shards, "shards", 1, 100_000)
    with contextlib.ExitStack() as stack:
        if folder is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="speclab-"))
        folder = os.path.abspath(folder)
        report = stack.enter_context(reporter(progress, "shards"))
        _run_shards(executor, config, folder, shards, threads or 1, report)
        return Result(_core.merge(folder))


def _run_shards(executor: Executor, config: ConfigLike, folder: str, shards: int, threads: int, report: Any) -> None:
    futures = [executor.submit(_run_shard, config, folder, index + 1, shards, threads) for index in range(shards)]
    try:
        for done, future in enumerate(futures):
            future.result()
            if report is not None:
                report(done + 1, shards)
    except BaseException:
        _end(futures)
        raise


def _end(futures: list[Any]) -> None:
    """Waits until no shard writes into the folder any more."""
    for future in futures:
        future.cancel()
    for future in futures:
        with contextlib.suppress(Exception):  # only the first error is reported
            future.result()


def _run_shard(config: ConfigLike, folder: str, index: int, count: int, threads: int) -> None:
    """Runs one shard in a worker. It is a module-level function, so that it can be pickled."""
    if not _core.run_shard(config_text(config), folder, index, count, threads):
        raise RuntimeError(f"shard {index} of {count} was stopped early")


def _read(config: ConfigLike) -> Mapping[str, Any]:
    """The config as a dict. The program reports its mistakes when it runs it."""
    if isinstance(config, Mapping):
        return config
    if not isinstance(config, (str, os.PathLike)):
        raise TypeError(f"config: expected a dict or a path, not {type(config).__name__}")
    try:
        with open(config, encoding="utf-8") as file:
            read = json.load(file)
    except (OSError, ValueError) as problem:
        raise ConfigError(f"{os.fspath(config)}: {problem}", "", os.fspath(config)) from None
    return read if isinstance(read, dict) else {}


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
    text, words = _core.exact(config_text(config), bool(simulation), integer(threads, "threads", 0, 4096))
    return Findings(text, words)
