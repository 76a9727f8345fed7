"""Tests scripts/bench_sim.py: a program that does everything twice takes about twice as long, and mistakes are refused.

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
    twice = pathlib.Path(name, "twice")
    twice.write_text(f'#!/bin/sh\n"{speclab}" "$@" >/dev/null && "{speclab}" "$@"\n')
    twice.chmod(0o755)
    done = bench("--only", "V = 256, token: plain", "--program", speclab, "--program", twice)
    assert done.returncode == 0, done.stderr
    first, second = ([float(word) for word in line.split(": plain")[1].split()] for line in done.stdout.splitlines()[1:])
    assert first[0] > 0 and first[3] == 1, first
    # Processor times of 20 ms vary by a tenth, and more beside other work. The bounds are those of a factor of 2 that is measured with an error of 45%.
    assert 1.1 < second[3] < 3.6, second
    assert bench("--only", "V = 256, token", "--program", "/bin/false").returncode != 0
    for words, error in ((["--only", "nothing"], "no row contains 'nothing'"), (["--repetitions", "0"], "expected 1 or more")):
        refused = bench(*words)
        assert refused.returncode != 0 and error in refused.stderr, refused.stderr
