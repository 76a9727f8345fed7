"""python -m speclab.audit"""

from __future__ import annotations

import argparse
import json
import pathlib
import subprocess
import sys
from typing import Any

from .._configs import config_dict
from .._recorders.whole_file import sentence_of
from .._results import Findings
from . import names
from ._audit import PAIR, audit
from ._greedy_audit import GreedyAudit, audit_greedy
from ._pairs import audit_pair
from ._process import ALONE, EngineError
from ._results import Audit
from ._server import KINDS
from ._server_audit import audit_server
from ._table_models import write_models, write_whole

EXIT = "exit code: 0 all equal; 1 some different or failed; 2 bad arguments, no engine, or a server that cannot be audited; 130 interrupted"
#: Options that --url takes beside its own group.
WITH_URL = ("url", "out", "tokens", "seed", "level")


def show(audits: list[Audit], into: str | None) -> int:
    together = Audit([one for audit in audits for one in audit.settings], {}, audits[0].level, audits[0].power)
    print(together.to_markdown(), end="")
    if into is not None:
        together.save(into)
    return 0


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m speclab.audit", epilog=EXIT,
        description="Audits serving engines and servers: do emitted tokens have the target's distribution, and how many drafted tokens do they accept?")
    parser.add_argument("--engines", default="all", help=f"{', '.join(names())}, or the path of an adapter, with commas; default all")
    parser.add_argument("--out", default="out/audit", help="folder of results; settings that it contains are not run again (default %(default)s)")
    parser.add_argument("--config", help="config with tables of another pair of models, such as configs/audit_engine.json")
    parser.add_argument("--pair", metavar="CONFIG", help="only measure tokens per target step on a config's GGUF models, beside lossless schemes")
    parser.add_argument("--greedy", action="store_true", help="with --pair: test at temperature 0 whether rounding explains texts that differ from those without speculation")
    parser.add_argument("--temperatures", metavar="LIST", default="0.7,1", help="with --pair (default %(default)s)")
    parser.add_argument("--gamma", type=int, default=3, help="with --pair: drafted tokens (default %(default)s)")
    parser.add_argument("--prompt", default="0", metavar="IDS", help="ids before the text, with commas (default %(default)s)")
    parser.add_argument("--settings", default="", metavar="TEXT", help="run only settings whose label contains this text")
    parser.add_argument("--sequences", type=int, help="sequences per setting, instead of the engine's default")
    parser.add_argument("--long", type=int, help="number of sequences of 192 tokens, instead of the engine's default")
    parser.add_argument("--tokens", type=int, help="with --pair: of each sequence, instead of 192, or 64 with --greedy; with --url: first tokens that are tested, instead of 6")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--level", type=float, default=1e-6, help="chance of a false alarm about an engine (default %(default)s)")
    parser.add_argument("--environments", default="build/engines", help="folder of the engines' environments (default %(default)s)")
    parser.add_argument("--install", action="append", default=[], metavar="NAME", help="only make an engine's environment in that folder")
    parser.add_argument("--models", metavar="FOLDER", help="only write the pair as models for engines into a folder")
    parser.add_argument("--show", nargs="+", metavar="FOLDER", help="only print the tables of the results in these folders")
    parser.add_argument("--into", metavar="FOLDER", help="with --show: write all these results into this folder")
    server = parser.add_argument_group("a server that runs", "Compares what it emits with speculation and without, and with its own log-probabilities (docs/engines.md).")
    server.add_argument("--url", help="address of the server with speculation, such as http://127.0.0.1:8000")
    server.add_argument("--plain-url", metavar="URL", help="the same model without speculation")
    server.add_argument("--plain-fields", metavar="JSON", type=_object, help="request fields that switch speculation off at --url, instead of --plain-url")
    server.add_argument("--fields", metavar="JSON", type=_object, help="further fields of all requests")
    server.add_argument("--header", metavar="NAME:VALUE", action="append", help="HTTP header of all requests")
    server.add_argument("--model", help="name of the model, if the server has several")
    server.add_argument("--plain-model", metavar="NAME", help="its name at --plain-url, if it is another one")
    server.add_argument("--server", choices=KINDS, help="kind of the server, if it does not say it")
    server.add_argument("--prompts", metavar="FILE", help="prompts, one a line, instead of four")
    server.add_argument("--requests", type=int, help="requests to each server, instead of 2000")
    server.add_argument("--seconds", type=float, help="start no requests after this time, instead of 600 s")
    server.add_argument("--timeout", type=float, help="seconds within which each answer must come, instead of 60")
    server.add_argument("--parallel", type=int, help="requests at once, instead of 4")
    server.add_argument("--temperature", type=float, help="above 0, instead of 1, the only one for log-probabilities")
    given = parser.parse_args(words)
    try:
        own = {action.dest for action in server._group_actions}
        for name, value in vars(given).items():
            if value != parser.get_default(name) and name not in WITH_URL and (name in own) != bool(given.url):
                raise ValueError(f"--{name.replace('_', '-')}: {'is not for --url' if given.url else 'needs --url'}")
        return on_server(given, own - {"url", "header", "prompts"}) if given.url else _run(given)
    except KeyboardInterrupt:
        print("\ninterrupted; what is finished is kept", file=sys.stderr)
        return 130
    except (EngineError, ValueError, OSError) as problem:
        print(f"error: {sentence_of(problem)}", file=sys.stderr)
        return 2


def _object(text: str) -> dict[str, Any]:
    read = json.loads(text)
    if not isinstance(read, dict):
        raise ValueError
    return read


def write(folder: str, name: str, found: Findings) -> None:
    write_whole(pathlib.Path(folder, f"{name}.json"), lambda file: file.write((json.dumps(dict(found), indent=1, ensure_ascii=False) + "\n").encode()))


def on_server(given: argparse.Namespace, own: set[str]) -> int:
    options = {name: getattr(given, name) for name in (*own, *WITH_URL[2:]) if getattr(given, name) is not None}
    if given.prompts:
        options["prompts"] = pathlib.Path(given.prompts).read_text(encoding="utf-8").splitlines()
    if given.header:
        if wrong := [text for text in given.header if ":" not in text]:
            raise ValueError(f"--header {wrong[0]}: expected NAME:VALUE")
        options["headers"] = {name.strip(): value.strip() for name, _, value in (text.partition(":") for text in given.header)}
    found = audit_server(given.url, out=given.out, progress=sys.stderr.isatty(), say=lambda sentence: print(sentence, file=sys.stderr, flush=True), **options)
    print(found, end="")
    write(given.out, "server", found)
    return 1 if found.different else 0


def on_pair(given: argparse.Namespace) -> int:
    engines = names() if given.engines == "all" else given.engines.split(",")
    common: dict[str, Any] = {"seed": given.seed, "environments": given.environments, "progress": sys.stderr.isatty(),
                              "say": lambda sentence: print(sentence, file=sys.stderr, flush=True)}
    if given.sequences is not None:
        common["texts" if given.greedy else "sequences"] = given.sequences
    if given.tokens is not None:
        common["tokens"] = given.tokens
    if given.greedy:
        found: Findings = audit_greedy(engines, given.pair, settings=given.settings, level=given.level, **common)
    else:
        try:
            temperatures = [float(word) for word in given.temperatures.split(",")]
        except ValueError:
            raise ValueError(f"--temperatures {given.temperatures}: expected numbers with commas, such as 0.7,1") from None
        found = audit_pair(engines, given.pair, gamma=given.gamma, temperature=temperatures, **common)
    print(found, end="")
    write(given.out, "greedy" if given.greedy else "pair", found)
    return 1 if isinstance(found, GreedyAudit) and (found.different or found.failed) else 0


def _run(given: argparse.Namespace) -> int:
    if given.install:
        calls = [[sys.executable, "-P", "-B", str(ALONE), "install", name, str(pathlib.Path(given.environments, name))] for name in given.install]
        return max(subprocess.run(call, check=False).returncode for call in calls)
    if given.models:
        write_models(config_dict(given.config or PAIR), pathlib.Path(given.models))
        return 0
    if given.pair:
        return on_pair(given)
    if given.greedy:
        raise ValueError("--greedy: needs --pair CONFIG")
    if given.show:
        return show([Audit.load(folder) for folder in given.show], given.into)
    if given.into:
        raise ValueError("--into: needs --show FOLDER")
    engines = given.engines if given.engines == "all" else given.engines.split(",")
    try:
        prompt = [int(word) for word in given.prompt.split(",")]
    except ValueError:
        raise ValueError(f"--prompt {given.prompt}: expected ids with commas, such as 0,1,2") from None
    found = audit(engines, config=given.config, out=given.out, prompt=prompt, settings=given.settings, sequences=given.sequences, long=given.long,
                  seed=given.seed, level=given.level, environments=given.environments, progress=sys.stderr.isatty(),
                  say=lambda sentence: print(sentence, file=sys.stderr, flush=True))
    print(found, end="")
    return 1 if found.different or found.failed else 0
