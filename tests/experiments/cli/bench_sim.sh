#!/usr/bin/env bash
# Tests bench: a suite and some of its rows. No times are checked.
# usage: bench_sim.sh SPECLAB_BINARY SOURCE_DIR
. "$2/tests/program.bash" "$@"

expect 0 bench sim --quick --only V=256 --repetitions 2 --threads 1 --json
python "names = [row['name'] for row in data['workloads']]
assert len(names) == 19 and all(name.startswith('stored bigrams, V = 256') for name in names), names
assert all(len(row['seconds']) == 2 and row['tokens_per_second'] > 0 for row in data['workloads'])
assert data['comparisons'] and data['quick']" out
sanitized || silent err "progress without a terminal" # which begins after some seconds
expect 0 bench sim --quick --only i.i.d. --repetitions 1
says out "i.i.d. rounds, alpha = 0.8"
expect 2 bench
says err "expected one of sim, kernels"
expect 2 bench foo
says err 'unknown "foo"; known: sim, kernels'
expect 2 bench sim --only nothing
says err "no row has \"nothing\" in its name; rows: "
expect 2 bench sim --quick --repetitions 0
says err "--repetitions 0: expected 1 to 1000"
expect 2 bench sim --quick --threads 0
expect 2 bench sim --quick --nonsense

report
