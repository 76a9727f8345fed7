#!/usr/bin/env bash
# Tests bench: a suite, some of its rows, and its files. No times are checked.
# usage: bench_sim.sh SPECLAB_BINARY SOURCE_DIR
. "$2/tests/program.bash" "$@"

expect 0 bench sim --quick --only V=256 --repetitions 2 --threads 1 --out bench --json
python "names = [row['name'] for row in data['workloads']]
assert len(names) == 19 and all(name.startswith('stored bigrams, V = 256') for name in names), names
assert data['workloads'][0]['bound']['ratio_to_larger'] >= data['workloads'][0]['bound']['ratio_to_sum'] > 0
assert len(data['lengths']) == 2 and data.get('numpy') is None
assert data == json.load(open('bench/result.json'))" out
silent err "progress without a terminal"
says bench/report.html "Tokens per second beside their bound"
expect 0 bench sim --quick --only i.i.d. --repetitions 1
says out "i.i.d. rounds, alpha = 0.8"
says out "the strict lower bound is the larger of them"
# Nothing of the working folder is run: neither a module with NumPy's name nor a script with the right name.
mkdir scripts
echo "open('$PWD/intruder', 'w')" | tee numpy.py >scripts/numpy_reference.py
expect 0 bench sim --quick --only numpy --json
checks=$((checks + 1))
[[ ! -e intruder ]] || fail "a program of the working folder was run"
python "numpy = data['numpy']
if 'skipped' not in numpy:
    output, test = numpy['measured']['output'], numpy['measured']['test']
    assert output['emitted'] >= output['rounds'] >= 800, output
    assert sum(output['accepted_lengths']) == output['rounds'] // 8, output
    assert test['p'] > 1e-9, test" out
rm -r scripts numpy.py
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
expect 2 bench sim --quick --out /proc/speclab

report
