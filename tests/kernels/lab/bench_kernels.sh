#!/usr/bin/env bash
# Tests the parts of bench kernels that need no GPU.
# usage: bench_kernels.sh SPECLAB_BINARY SOURCE_DIR
. "$2/tests/program.bash" "$@"

expect 0 bench kernels --help
says out "speclab bench kernels --dry-run"
expect 0 bench kernels --dry-run --sizes "1,4,128256;256,16,256000" --dtype f32 --alpha .7 --out dry --json
python "assert data['problems'] == 0 and len(data['points']) == 2
assert data == json.load(open('dry/result.json'))" out
expect 0 bench kernels --dry-run --quick
says out "Launches and bytes"
expect 0 bench kernels --dry-run --quick --workload all --baselines fused,tree,traversal --json
python "assert data['problems'] == 0 and len({point['workload'] for point in data['points']}) == 5" out
expect 2 bench kernels --dry-run --workload trees --baselines fused
says err "none of them is for --workload trees"
expect 2 bench kernels --dry-run --workload chosen-trees --baselines traversal
says err "none of them is for --workload chosen-trees"
for bad in "--workload forests" "--sizes 1,2" "--sizes 1,2,3 --quick" "--dtype f64" "--alpha 2" "--baselines nobody" "--cache warm" \
  "--repetitions 0"; do
  # shellcheck disable=SC2086  # several arguments
  expect 2 bench kernels $bad
  silent out "a refusal"
done

report
