"""Tests scripts/bench_sim.py: it measures programs that take a known processor time, and mistakes are refused.

usage: bench_sim.py SPECLAB SOURCE
"""

import pathlib
import subprocess
import sys
import tempfile

speclab, source = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])


def bench(*words):
    return subprocess.run([sys.executable, source / "scripts/bench_sim.py", "--quick", *map(str, words)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)


# Takes `SECONDS` of processor time for each round, and some for its start.
PROGRAM = """#!/usr/bin/env python3
import json, sys, time
rounds = json.load(open(sys.argv[2]))["simulation"]["length"]
while time.process_time() < 0.15 + SECONDS * rounds:
    pass
print(json.dumps({"cells": [{"counts": {"emitted": 1000 * rounds}}]}))
"""


def program(folder, name, seconds):
    made = pathlib.Path(folder, name)
    made.write_text(PROGRAM.replace("SECONDS", str(seconds)))
    made.chmod(0o755)
    return made


with tempfile.TemporaryDirectory() as name:
    slow, slower = program(name, "slow", 0.03), program(name, "slower", 0.15)
    done = bench("--repetitions", 3, "--only", "V = 256, token: plain", "--program", slow, "--program", slower)
    assert done.returncode == 0, done.stderr
    first, second = ([float(word) for word in line.split(": plain")[1].split()] for line in done.stdout.splitlines()[1:])
    # 30,000 and 150,000 ns. The tolerance is for the time in which an interpreter ends, some milliseconds of 30.
    assert 20_000 < first[0] < 40_000 and first[3] == 1 and 3 < second[3] < 8, (first, second)
    # The printed ratio divides the printed times, which have four digits.
    assert abs(second[3] - second[0] / first[0]) < 0.002 * second[3], (first, second)
    # A program whose longer runs take less time has no time per token.
    odd = program(name, "odd", -0.02)
    hidden = bench("--repetitions", 1, "--only", "V = 256, token: plain", "--program", slow, "--program", odd)
    assert hidden.returncode != 0 and "other work on the machine" in hidden.stderr and hidden.stdout.split()[-1] == "hidden", hidden
    assert bench("--only", "V = 256, token", "--program", "/bin/false").returncode != 0
    own = bench("--rule", '{"kind": "lenient", "lenience": 0.5}', "--only", "V = 256", "--repetitions", 1, "--program", speclab)
    assert own.returncode == 0 or own.stderr.startswith("hidden:"), own.stderr
    assert [line.split(": ")[-1].split()[0] for line in own.stdout.splitlines()[1:]] == ["fast", "plain"], own.stdout
    for words, error in ((["--only", "nothing"], "no row contains 'nothing'"), (["--repetitions", "0"], "expected 1 or more"),
                         (["--rule", "{nothing"], "neither a name nor JSON"),
                         (["--rule", "nothing", "--only", "V = 256", "--program", speclab], 'unknown rule "nothing"'),
                         (["--rule", "gbv", "--only", "V = 256", "--program", speclab], "/engine")):
        refused = bench(*words)
        assert refused.returncode != 0 and error in refused.stderr, refused.stderr
