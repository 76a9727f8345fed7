#!/usr/bin/env bash
# Every config of tests/malformed is refused: exit code 2, nothing on standard output, and one line on standard
# error that names the file, the JSON path and what is wrong there. EXPECTED says which path and words.
# usage: malformed.sh SPECLAB_BINARY SOURCE_DIR
set -euo pipefail

speclab=$1
source_dir=$2
configs=$source_dir/tests/malformed
expected=$configs/EXPECTED
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
count=0

offend() {
  failures=$((failures + 1))
  printf 'FAILED %s: %s\n' "$1" "$2"
  if [[ -s $work/err ]]; then head -c 400 "$work/err" | sed 's/^/  stderr: /'; fi
}

# Relative paths inside the configs are relative to the source folder.
cd "$source_dir"

for config in "$configs"/*.json; do
  name=${config##*/}
  count=$((count + 1))
  : >"$work/err"
  if ! line=$(grep -a "^$name"$'\t' "$expected"); then
    offend "$name" "has no line in EXPECTED"
    continue
  fi
  IFS=$'\t' read -r _ pointer piece <<<"$line"
  if [[ -z $pointer || -z $piece ]]; then
    offend "$name" "its line in EXPECTED lacks the path or the words"
    continue
  fi
  status=0
  timeout 60 "$speclab" validate "$config" >"$work/out" 2>"$work/err" || status=$?
  [[ $status -eq 2 ]] || offend "$name" "exit code $status, not 2"
  [[ ! -s $work/out ]] || offend "$name" "writes to standard output"
  [[ $(wc -l <"$work/err") -eq 1 ]] || offend "$name" "standard error is not one line"
  grep -aqF "error: $config: $pointer: " "$work/err" || offend "$name" "does not begin \"error: FILE: $pointer: \""
  grep -aqF -- "$piece" "$work/err" || offend "$name" "does not say: $piece"
done

while IFS=$'\t' read -r name _; do
  : >"$work/err"
  [[ -f $configs/$name ]] || offend "$name" "is in EXPECTED but does not exist"
done <"$expected"

# Nothing is written for a config that is refused.
for name in truncated unknown_model_kind unreachable_alpha corpus_file_missing sweep_value_out_of_range \
  predict_without_alpha case_printed_with_unit; do
  for verb in run sweep check; do
    status=0
    out=$work/results
    arguments=("$verb" "$configs/$name.json")
    if [[ $verb != check ]]; then arguments+=(--out "$out"); fi
    (cd "$work" && timeout 60 "$speclab" "${arguments[@]}" >out 2>err) || status=$?
    [[ $status -eq 2 ]] || offend "$name" "$verb: exit code $status, not 2"
    [[ ! -e $out ]] || offend "$name" "$verb leaves a folder"
    rm -rf "$out"
  done
done

: >"$work/err"
[[ $count -ge 50 ]] || offend "tests/malformed" "holds $count configs; at least 50 are wanted"
printf '%d malformed configs, %d failures\n' "$count" "$failures"
[[ $failures -eq 0 ]]
