#!/usr/bin/env bash
# Tests that every config of tests/malformed is refused: exit code 2, nothing on standard output, and one line on standard error that
# begins with "error: FILE: PATH: ", or with "error: FILE: " if the file as a whole is at fault. EXPECTED has a line for each: file, JSON path and,
# for a misspelt word, the word that the program must suggest.
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

while read -r name pointer word; do
  config=$configs/$name
  count=$((count + 1))
  status=0
  timeout 60 "$speclab" validate "$config" >"$work/out" 2>"$work/err" || status=$?
  [[ $status -eq 2 ]] || offend "$name" "exit code $status, not 2"
  [[ ! -s $work/out ]] || offend "$name" "writes to standard output"
  [[ $(wc -l <"$work/err") -eq 1 ]] || offend "$name" "standard error is not one line"
  message=$(<"$work/err")
  start="error: $config: $pointer: "
  [[ $pointer != / ]] || start="error: $config: "
  [[ ${message:0:${#start}} == "$start" ]] || offend "$name" "does not begin \"$start\""
  [[ -z $word || $message == *"did you mean \"$word\"?"* ]] || offend "$name" "does not suggest \"$word\""
done <"$expected"

: >"$work/err"
for name in $(comm -23 <(cd "$configs" && printf '%s\n' *.json | LC_ALL=C sort) <(cut -d' ' -f1 "$expected" | LC_ALL=C sort)); do
  offend "$name" "has no line in EXPECTED"
done

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
