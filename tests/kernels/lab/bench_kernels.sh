#!/usr/bin/env bash
# bench kernels: tests all that needs no GPU. The result that is drawn again is made up here.
# usage: bench_kernels.sh SPECLAB_BINARY SOURCE_DIR
. "$2/tests/program.bash" "$@"

expect 0 bench kernels --help
says out "speclab bench kernels --dry-run"
expect 0 bench kernels --dry-run --sizes "1,4,128256;256,16,256000" --memory-gib 8 --dtype f32 --alpha .7 --out dry --json
python "assert data['problems'] == 0 and data['left_out'] == 1 and len(data['points']) == 2
assert all(row.get('different', 0) == 0 for row in data['emulated'])
assert data == json.load(open('dry/result.json'))" out
says dry/report.html "a dry run: nothing was measured"
expect 0 bench kernels --dry-run --quick
says out "Run in the emulator, against the reference"
expect 0 bench kernels --dry-run --quick --workload all --baselines fused,tree,traversal --json
python "assert data['problems'] == 0 and len({point['workload'] for point in data['points']}) == 5
assert all(row['different'] == 0 and row['loaded_bytes'] < 1.3 * row['counted_bytes'] for row in data['emulated'])" out
expect 2 bench kernels --dry-run --workload trees --baselines fused
says err "none of them is for --workload trees"
expect 2 bench kernels --dry-run --workload chosen-trees --baselines traversal
says err "none of them is for --workload chosen-trees"
for bad in "--workload forests" "--sizes 1,2" "--sizes 1,2,3 --quick" "--dtype f64" "--alpha 2" "--baselines nobody" "--cache warm" \
  "--dry-run --memory-gib 0" "--repetitions 0" "--from nowhere.json"; do
  # shellcheck disable=SC2086  # several arguments
  expect 2 bench kernels $bad
  silent out "a refusal"
done
cat >made_up.py <<'PYTHON'
import json
row = {"gamma": 4, "vocab": 128256, "dtype": "bf16", "alpha": 0.7, "realised_alpha": 0.7, "accepted": 2, "cache": "hot",
       "method": "fused", "kind": "implementation", "repetitions": 3, "p99_us": 2, "bytes": 1000000, "gb_per_s": 1,
       "of_copy": 0.5, "times_baseline": None, "times_wagner-exact": None, "times_wagner-sigmoid": None,
       "compared": 4, "different": 0, "total_variation": 0}
device = {"name": "made up", "capability": "0.0", "multiprocessors": 1, "driver_cuda": "0", "runtime_cuda": "0"}
json.dump({"suite": "kernels", "kind": "measurement", "version": "0", "machine": "none", "command": "none", "device": device,
           "clocks_before": "unknown", "clocks_after": "unknown", "repetitions": 3, "left_out": [],
           "verification": [dict(row, requests=n, median_us=n) for n in (1, 2, 4)]}, open("made_up.json", "w"))
PYTHON
python3 made_up.py
expect 0 bench kernels --from made_up.json --out again
says out "Verification, medians"
says again/report.html "Rate over bytes moved"
says again/results.csv "requests,gamma,vocab,dtype"
says again/table.md "| requests | fused |"
says again/roofline-hot.svg "MB moved, as counted"
printf '{"suite": "sim"}' >other.json
expect 2 bench kernels --from other.json
says err "not a result.json of"

report
