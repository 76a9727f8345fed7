"""The program that runs in engines' environments, without speclab, by the path of this file:

    _alone.py list                      the engines that can be installed
    _alone.py install NAME FOLDER       makes an environment, with this Python
    _alone.py version NAME              the installed engine's version; run in its environment, like decode
    _alone.py decode NAME               reads settings and parts from standard input, a line of JSON, and writes messages

Messages of `decode` are lines of JSON on standard output, which only the audit uses: the engine's own output goes to standard error.
{"loaded": true}; then for each group of sequences {"tokens": [[...], ...], "drafted": n, "accepted": n, "steps": n}, with "logp": [[...],
...] if it is requested, and {"part": seconds} at the end of each part; or {"refused": sentence} and the end.
"""

from __future__ import annotations

import ctypes
import importlib.util
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
from types import ModuleType

PR_SET_PDEATHSIG = 1


def imported(name: str, file: pathlib.Path, folders: list[str] | None = None) -> ModuleType:
    """Imports a file as a module of this name; with folders as a package, whose modules they hold."""
    spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=folders)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def install(engines: ModuleType, name: str, folder: str) -> None:
    engine = engines.engine_of(name)
    print(f"{name}: {engine.size}, {engine.time}, in {folder}", file=sys.stderr)
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = f"{folder}/bin/python"
    for words in engine.installs:
        if engine.installs_as_printed and words is engine.installs[-1]:
            printed = subprocess.run([python, "-c", engine.installs_as_printed], check=True, capture_output=True, text=True).stdout
            words = (*words, *printed.split())
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *words], check=True)


def decode(engines: ModuleType, name: str) -> int:
    if sys.platform == "linux":  # ends this process when the audit ends, for whatever reason
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    messages = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def say(**message: object) -> None:
        print(json.dumps(message), file=messages, flush=True)

    asked = json.loads(sys.stdin.readline())
    from speclab_engines._engine import Settings  # type: ignore[import-not-found]

    settings = Settings(**{**asked["settings"], "folder": pathlib.Path(asked["settings"]["folder"])})
    try:
        engine = engines.engine_of(name)
        loaded = engine.load(settings)
        say(loaded=True)
        sys.stdin.readline()  # the audit first looks for open sockets
        for first, sequences, tokens in asked["parts"]:
            start = time.monotonic()
            for group in engine.decode(loaded, settings, range(first, first + sequences), tokens):
                logp = {"logp": group.logp} if settings.logp else {}
                say(tokens=[[int(token) for token in one] for one in group.tokens], drafted=group.drafted, accepted=group.accepted, steps=group.steps, **logp)
            say(part=round(time.monotonic() - start, 6))
    except Exception as problem:  # an engine may raise anything; the audit reports it in a sentence
        lines = str(problem).strip().splitlines() or [""]
        refused = type(problem).__name__ == "Refused"
        say(refused=lines[0] if refused else f"{type(problem).__name__}: {lines[0] if len(lines) == 1 else lines[-1]}")
        return 1
    return 0


def main() -> int:
    # Under its own name this folder would import all of speclab.
    folder = pathlib.Path(__file__).resolve().parent
    engines = imported("speclab_engines", folder / "__init__.py", [str(folder)])
    try:
        match sys.argv[1:]:
            case ["list"]:
                for name in engines.names():
                    engine = engines.engine_of(name)
                    print(f"{name:13} {engine.title:16} {engine.size:7} {engine.time:15} {', '.join(way.name for way in engine.ways)}")
            case ["install", name, folder]:
                install(engines, name, folder)
            case ["version", name]:
                out = os.fdopen(os.dup(1), "w")
                os.dup2(2, 1)
                print(engines.engine_of(name).version(), file=out)
            case ["decode", name]:
                return decode(engines, name)
            case _:
                print(__doc__, file=sys.stderr)
                return 2
    except engines.Refused as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    except subprocess.CalledProcessError as problem:
        print(f"error: {problem.cmd[0]} ended with {problem.returncode}; {engines.file_of(sys.argv[2])} lists what it installs", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # engines leave threads running, and Python would wait for them
