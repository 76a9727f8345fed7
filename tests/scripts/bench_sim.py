"""Tests scripts/bench_sim.py: a program that does everything five times takes longer, and mistakes are refused.

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


with tempfile.TemporaryDirectory() as name:
    often = pathlib.Path(name, "often")
    often.write_text(f'#!/bin/sh\nfor i in 1 2 3 4; do "{speclab}" "$@" >/dev/null; done\n"{speclab}" "$@"\n')
    often.chmod(0o755)
    done = bench("--repetitions", 3, "--only", "V = 256, token: plain", "--program", speclab, "--program", often)
    assert done.returncode == 0, done.stderr
    first, second = ([float(word) for word in line.split(": plain")[1].split()] for line in done.stdout.splitlines()[1:])
    assert first[0] > 0 and first[3] == 1, first
    # The factor is 5; other work on the machine may make it smaller.
    assert second[3] > 1.5, second
    # The printed ratio divides the printed times, which have four digits.
    assert abs(second[3] - second[0] / first[0]) < 0.002 * second[3], (first, second)
    assert bench("--only", "V = 256, token", "--program", "/bin/false").returncode != 0
    own = bench("--rule", '{"kind": "lenient", "lenience": 0.5}', "--only", "V = 256", "--repetitions", 1, "--program", speclab)
    assert own.returncode == 0, own.stderr
    assert [line.split(": ")[-1].split()[0] for line in own.stdout.splitlines()[1:]] == ["fast", "plain"], own.stdout
    for words, error in ((["--only", "nothing"], "no row contains 'nothing'"), (["--repetitions", "0"], "expected 1 or more"),
                         (["--rule", "{nothing"], "neither a name nor JSON"),
                         (["--rule", "nothing", "--only", "V = 256", "--program", speclab], 'unknown rule "nothing"'),
                         (["--rule", "gbv", "--only", "V = 256", "--program", speclab], "/engine")):
        refused = bench(*words)
        assert refused.returncode != 0 and error in refused.stderr, refused.stderr
