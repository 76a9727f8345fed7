#!/usr/bin/env bash
# A folder belongs to its config.
# usage: folder.sh SPECLAB_BINARY SOURCE_DIR
. "${0%/*}/program.bash" "$@"

expect 0 run "$first" "${small[@]}" --out one -q
expect 0 run "$first" "${small[@]}" --out two -q
expect 2 run "$first" "${small[@]}" --out two -q --seed 9
says err "holds the results of another config"
same one/result.json two/result.json
expect 0 run "$first" "${small[@]}" --out two -q --seed 9 --force
python "assert data['config']['seed'] == 9" two/result.json
expect 0 run "$first" "${small[@]}" --out three --json
python "assert data == json.load(open('three/result.json'))" out
checks=$((checks + 1))
mkdir default
if ! (cd default && "$speclab" run "$first" "${small[@]}" -q && [[ -s out/first/result.json ]]); then
  fail "run without --out does not write out/first"
fi
checks=$((checks + 1))
[[ -z $(find one two three -name '*.tmp') ]] || fail "temporary files are left"

# Where nothing can be written, it is said before the work is done.
long=(--set simulation.trials=64 --set simulation.length=1000000000)
touch a_file
for folder in a_file a_file/below; do
  expect 2 run "$first" "${long[@]}" -q --out "$folder"
  says err "--out $folder: cannot write"
done
mkdir -m 555 locked
if ! touch locked/probe 2>/dev/null; then
  expect 2 run "$first" "${long[@]}" -q --out locked/below
  says err "--out locked/below: cannot write"
fi
expect 2 run "$first" "${small[@]}" -q --out /proc/speclab
says err "cannot write"

report
