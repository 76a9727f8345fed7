"""Adapters of serving engines, one file each. `speclab.audit` makes each engine decode models whose rows are known exactly, in a
Python environment of its own. This package is imported there, too, so it imports nothing of speclab.

A file NAME.py defines `ENGINE`, an `Engine` (_engine.py), whose functions import the engine when they are called.
"""

from __future__ import annotations

import importlib
import pathlib
from collections.abc import Sequence

from ._alone import imported
from ._engine import Engine, Refused

FOLDER = pathlib.Path(__file__).resolve().parent


def names() -> list[str]:
    """Names of the engines that come with speclab."""
    return sorted(file.stem for file in FOLDER.glob("*.py") if not file.stem.startswith("_"))


def file_of(name: str) -> pathlib.Path:
    """The file of an adapter, from its name or the path of your own adapter."""
    return pathlib.Path(name).resolve() if name.endswith(".py") else FOLDER / f"{name}.py"


def engines_of(asked: str | Sequence[str]) -> dict[str, Engine]:
    """The engines that an argument "engines" names. ValueError for an unknown one."""
    try:
        return {name: engine_of(name) for name in ([asked] if isinstance(asked, str) else asked)}
    except Refused as problem:
        raise ValueError(f"engines: {problem}") from None


def engine_of(name: str) -> Engine:
    """An engine, from its name or the path of your own adapter, which can import from the others (`from .llama_cpp import ENGINE`)."""
    if not name.endswith(".py"):
        if name not in names():
            raise Refused(f"{name!r} is no engine; give {', '.join(names())}, or the path of your own adapter, FILE.py")
        return importlib.import_module(f"{__name__}.{name}").ENGINE
    file = file_of(name)
    if not file.is_file():
        raise Refused(f"{name}: no such file; expected your own adapter")
    module = imported(f"{__name__}.own_{file.stem}", file)
    if not isinstance(getattr(module, "ENGINE", None), Engine):
        raise Refused(f"{name}: defines no ENGINE (docs/extending.md, \"A serving engine\")")
    return module.ENGINE
