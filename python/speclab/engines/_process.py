"""Starts an engine's process, sends it requests, and always ends it."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import FOLDER, file_of
from ._engine import Engine, Settings
from ._sockets import open_to_others

ALONE = FOLDER / "_alone.py"
PATIENCE = 5.0  # seconds within which an engine must end by itself


class EngineError(RuntimeError):
    """The reason why an engine cannot do something, or is not installed, in one sentence."""


class Asked(NamedTuple):
    """A part to be decoded."""

    sequences: int
    tokens: int


@dataclass(frozen=True)
class Part:
    """The decoded tokens of a part."""

    tokens: npt.NDArray[np.int32]  #: [sequences, tokens]; 0 after the end of a text
    groups: npt.NDArray[np.int64]  #: [groups, 4]: sequences, drafted, accepted, steps; -1 if the engine does not count
    seconds: float
    logp: npt.NDArray[np.float64] | None = None  #: [sequences, tokens], as `Decoded.logp`; NaN if the engine reports none


def python_of(name: str, environments: pathlib.Path) -> pathlib.Path:
    """The Python of an engine's environment. Your own adapter without an environment uses this Python."""
    python = environments / file_of(name).stem / "bin/python"
    if python.exists():
        return python
    if name.endswith(".py"):
        return pathlib.Path(sys.executable)
    raise EngineError(f"{name}: not installed in {python.parents[1]}; `scripts/engines.sh {name}` or `python -m speclab.audit --install {name}` does")


def clean_environment() -> dict[str, str]:
    """The environment variables without paths of this Python's modules, which the engine's Python must not import."""
    return {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP")}


def last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "it said nothing"


def version(name: str, python: pathlib.Path) -> str:
    """The version of the installed engine. EngineError if its package is missing or broken."""
    ran = subprocess.run([python, "-P", "-B", ALONE, "version", name], capture_output=True, text=True, env=clean_environment(), check=False)
    if ran.returncode != 0:
        raise EngineError(f"{name}: {python} cannot import it: {last_line(ran.stderr)}")
    return ran.stdout.strip()


@contextlib.contextmanager
def ending(process: subprocess.Popen[str]) -> Iterator[None]:
    """Ends the process and all processes that it started: they are one process group."""
    try:
        yield
    finally:
        for last, word in enumerate((signal.SIGTERM, signal.SIGKILL)):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, word)
            if not last:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(PATIENCE)
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()


def decode(
    name: str, engine: Engine, python: pathlib.Path, settings: Settings, vocab: int | None, parts: Sequence[Asked], report: Callable[[int], Any] | None = None
) -> list[Part]:
    """Makes an engine decode parts, one after the other; sequences are numbered across parts.

    `vocab` None: ids are not checked. `report` gets the number of sequences done. EngineError names in one sentence the fault of
    the engine, of its process or of an emitted token.
    """
    asked = {"settings": {**dataclasses.asdict(settings), "folder": str(settings.folder)},
             "parts": [(sum(before.sequences for before in parts[:at]), part.sequences, part.tokens) for at, part in enumerate(parts)]}
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
        process = subprocess.Popen([python, "-P", "-B", ALONE, "decode", name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said,
                                   text=True, start_new_session=True, env=clean_environment())
        with ending(process):
            assert process.stdin is not None and process.stdout is not None
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(json.dumps(asked) + "\n")
                process.stdin.flush()
            try:
                return list(_read(engine, process, vocab, parts, report, settings.ends))
            except EOFError as end:
                code = _code_of(process)
                said.seek(0)
                raise EngineError(f"{engine.title}: its process {code} after {end} sequences; its last line: {last_line(said.read())}") from None


def _code_of(process: subprocess.Popen[str]) -> str:
    try:
        code = process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        return "closed its output"
    return f"ended with exit code {code}" if code >= 0 else f"was ended by {signal.Signals(-code).name}"


def _read(
    engine: Engine, process: subprocess.Popen[str], vocab: int | None, parts: Sequence[Asked], report: Callable[[int], Any] | None, ends: bool
) -> Iterator[Part]:
    done = 0
    told = time.monotonic()

    def message() -> dict[str, Any]:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise EOFError(f"{done:,}")
        read = json.loads(line)
        if "refused" in read:
            raise EngineError(f"{engine.title}: {read['refused']}")
        return read

    message()
    if others := open_to_others(process.pid):
        raise EngineError(f"{engine.title} listens on {', '.join(others)}, not only on the loopback address; it was ended")
    with contextlib.suppress(BrokenPipeError):
        print(file=process.stdin, flush=True)
    for sequences, length in parts:
        tokens = np.empty((sequences, length), np.int32)
        logp = np.full((sequences, length), np.nan)
        groups: list[list[int]] = []
        at = 0
        while "part" not in (group := message()):
            for number, ids in enumerate(group["tokens"]):
                if ends and len(ids) < length:
                    if 0 not in ids:
                        raise EngineError(f"{engine.title} emitted {len(ids)} tokens in sequence {at + 1} without the end of text; expected {length}")
                    ids = [*ids, *[0] * (length - len(ids))]
                if at == sequences or len(ids) != length:
                    raise EngineError(f"{engine.title} emitted {len(ids)} tokens in sequence {at + 1}; expected {sequences} sequences of {length}")
                wrong = None if vocab is None else next((id for id in ids if not 0 <= id < vocab), None)
                if wrong is not None:
                    raise EngineError(f"{engine.title} emitted the id {wrong} in sequence {at + 1}; ids are 0 to {vocab - 1}")
                tokens[at] = ids
                if group.get("logp"):
                    logp[at] = np.array(group["logp"][number], dtype=np.float64)
                at += 1
                done += 1
            groups.append([len(group["tokens"]), *(-1 if group[name] is None else int(group[name]) for name in ("drafted", "accepted", "steps"))])
            if report is not None and time.monotonic() > told + 0.1:
                told = time.monotonic()
                report(done)
        if at != sequences:
            raise EngineError(f"{engine.title} emitted {at} sequences; expected {sequences}")
        yield Part(tokens, np.array(groups, np.int64).reshape(-1, 4), float(group["part"]), logp)
    if report is not None:
        report(done)
