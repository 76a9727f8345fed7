#!/usr/bin/env python3
"""Measures how fast the simulator decodes, in nanoseconds of processor time per token, by pair of models, rule and engine.

usage: bench_sim.py [--rule RULE]... [--program PATH]... [--only WORDS] [--repetitions 5] [--quick]

A row runs a config on one thread, with some rounds per sequence and with twice as many. The difference of the two leaves out the time in
which a run prepares its models. Repetitions of all rows and programs run in random order, so that ratios hold on a machine whose speed
drifts. Several programs, such as builds of two commits, are compared with the first. --rule measures a rule by its name, or by its entry in
a config, instead of those listed here.
"""

import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field

SOURCE = pathlib.Path(__file__).resolve().parent.parent
CORPUS = {"file": str(SOURCE / "data/austen.txt"), "tokenization": "words", "vocabulary": 8000}
BRANCHING = [4, 2, 1, 1, 1]
RULES = {"token": {"kind": "token"}, "block": {"kind": "block"}, "scheduled": {"kind": "scheduled", "survival": 0.1, "verification": "block"},
         "cascade": {"kind": "cascade"}, "gumbel": {"kind": "gumbel"}, "recursive, 4 drafts": {"kind": "recursive", "drafts": 4},
         "k-seq, 4 drafts": {"kind": "k-seq", "drafts": 4}, "tree 4-2-1-1-1": {"kind": "tree", "branching": BRANCHING},
         "traversal 4-2-1-1-1": {"kind": "traversal", "branching": BRANCHING}}


def stored(vocab: int) -> dict:
    """Order-1 tables from Dirichlet(0.3); the draft has 0.7 of the target and 0.3 of others."""
    def table(seed: int) -> dict:
        return {"kind": "markov", "vocab": vocab, "concentration": 0.3, "seed": seed}
    return {"models": {"target": table(1), "draft": {"kind": "mixture", "base": "target", "other": table(2), "epsilon": 0.3}}}


def ngrams(order: int) -> dict:
    return {"corpus": CORPUS, "models": {"target": {"kind": "ngram", "order": order}, "draft": {"kind": "bigram"}}}


PAIRS = {"stored bigrams, V = 256": stored(256), "stored bigrams, V = 4,096": stored(4096), "n-gram bigrams, V = 8,000": ngrams(2),
         "5-gram and bigram, V = 8,000": ngrams(5)}


@dataclass
class Row:
    name: str
    config: dict
    length: int = 1  # rounds per sequence
    tokens: int = 0  # of `length` more rounds
    seconds: dict = field(default_factory=dict)  # by program


def rule_of(words: str) -> dict:
    if not words.startswith("{"):
        return {"kind": words}
    try:
        return json.loads(words)
    except ValueError as error:
        sys.exit(f"--rule: {words} is neither a name nor JSON: {error}")


def rows(own: list[str]) -> list[Row]:
    found = [] if own else [Row("i.i.d. rounds, alpha = 0.8", {"experiment": "iid", "alpha": 0.8})]
    for pair, models in PAIRS.items():
        found += [Row(f"{pair}, {rule}: {engine}", {**models, "rule": spec, "engine": engine})
                  for rule, spec in ({words: rule_of(words) for words in own} or RULES).items() for engine in ("fast", "plain")]
    return found


def run(program: str, row: Row, length: int, folder: str) -> tuple[float, int]:
    """Returns the processor time and the tokens of one run."""
    config = {"title": row.name, "gamma": 5, "simulation": {"trials": 64, "length": length}, **row.config}
    file = pathlib.Path(folder, "bench.json")
    file.write_text(json.dumps(config))
    words = [program, "run", str(file), "--out", f"{folder}/out", "--json", "--force", "--threads", "1"]
    with tempfile.TemporaryFile("w+") as said, subprocess.Popen(words, stdout=subprocess.PIPE, stderr=said, text=True) as process:
        printed = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        problem = said.read()
    if process.returncode != 0:
        sys.exit(f"{program} run {row.name}: exit code {process.returncode}\n{problem}")
    return usage.ru_utime + usage.ru_stime, json.loads(printed)["cells"][0]["counts"]["emitted"]


def size(program: str, row: Row, seconds: float, folder: str) -> None:
    """Finds how many rounds take so many seconds."""
    start, few = run(program, row, 1, folder)
    while (more := run(program, row, 2 * row.length, folder))[0] - start < seconds:
        row.length *= 4
    row.tokens = (more[1] - few) * row.length // (2 * row.length - 1)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measures how fast the simulator decodes.")
    parser.add_argument("--rule", action="append", default=[], help="a rule to measure, by name or as JSON, such as '{\"kind\": \"typical\", \"delta\": 0.5}'")
    parser.add_argument("--program", action="append", help="a speclab; several are compared (default: build/release/bin/speclab)")
    parser.add_argument("--only", default="", help="measure only rows whose names contain this")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="a trial run, not a measurement")
    options = parser.parse_args()
    programs = options.program or [str(SOURCE / "build/release/bin/speclab")]
    chosen = [row for row in rows(options.rule) if options.only in row.name]
    if not chosen or options.repetitions < 1:
        sys.exit(f"--only: no row contains {options.only!r}" if not chosen else "--repetitions: expected 1 or more")
    with tempfile.TemporaryDirectory() as folder:
        for row in chosen:
            size(programs[0], row, 0.02 if options.quick else 0.5, folder)
        jobs = [(row, program) for row in chosen for program in programs for _ in range(options.repetitions)]
        random.shuffle(jobs)
        for row, program in jobs:
            less, more = run(program, row, row.length, folder), run(program, row, 2 * row.length, folder)
            row.tokens = more[1] - less[1]
            row.seconds.setdefault(program, []).append(more[0] - less[0])
    print(f"{'row':<55}{'ns/token':>12}{'lowest':>12}{'highest':>12}{'over first':>12}")
    hidden = False
    for row in chosen:
        times = {program: [1e9 * one / row.tokens for one in row.seconds[program]] for program in programs}
        middles = {program: statistics.median(times[program]) for program in programs}
        for program in programs:
            found = f"{middles[program]:.4g}" if middles[program] > 0 else "hidden"
            ratio = f"{middles[program] / middles[programs[0]]:.3f}" if min(middles[program], middles[programs[0]]) > 0 else "hidden"
            print(f"{row.name:<55}{found:>12}{min(times[program]):>12.4g}{max(times[program]):>12.4g}{ratio:>12}")
            hidden = hidden or ratio == "hidden"
    if hidden:
        sys.exit("hidden: other work on the machine took more time than the tokens did; run again with more --repetitions")


main()
