#!/usr/bin/env bash
# Tests that a GPU, if there is one, gives the same bytes. If there is none, the error says why and what to do.
# usage: backend.sh SPECLAB_BINARY SOURCE_DIR
. "$2/tests/program.bash" "$@"

for backend_of in "run $first" "sweep $source_dir/configs/iid_grid.json"; do
  checks=$((checks + 1))
  rm -rf gpu cpu
  status=0
  # shellcheck disable=SC2086  # verb and config
  timeout 60 "$speclab" $backend_of --set simulation.trials=64 --set simulation.length=200 --backend cuda --out gpu -q >out 2>err || status=$?
  if [[ $status -eq 0 ]]; then
    # shellcheck disable=SC2086
    expect 0 $backend_of --set simulation.trials=64 --set simulation.length=200 --out cpu -q
    same gpu/result.json cpu/result.json
    python "assert data['device']['driver'] and data['device']['runtime'] and data['device']['name']" gpu/timings.json
    expect 2 run "$first" --set engine=plain --backend cuda --out gpu2
    says err "first.json: /engine: \"plain\" reads whole rows"
  else
    [[ $status -eq 2 ]] || fail "exit code $status, not 2: $backend_of --backend cuda"
    says err "error: --backend cuda: there is no GPU to run on ("
    says err "--backend cpu gives the same bytes"
    silent out "a refusal"
    checks=$((checks + 1))
    [[ ! -e gpu ]] || fail "a refused run leaves a folder"
  fi
done
expect 0 run "$first" "${small[@]}" --out one -q
expect 0 run "$first" "${small[@]}" --backend cpu --out two -q
same one/result.json two/result.json
expect 2 run "$first" --backend gpu
says err 'error: --backend: unknown "gpu"; did you mean "cpu"?'
for verb in run sweep; do
  expect 0 "$verb" --help
  says out "--backend cuda"
done

report
