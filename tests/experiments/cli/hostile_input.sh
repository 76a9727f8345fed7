#!/usr/bin/env bash
# Tests names and files made by somebody else: labels that terminals would obey, fields that spreadsheets would run, byte order marks,
# devices without an end, programs on a PATH, files too large for memory.
# usage: hostile_input.sh SPECLAB_BINARY SOURCE_DIR
. "$2/tests/program.bash" "$@"

# Labels and file names are printed escaped, and written unchanged.
name=$'a\e[31mb\u202egnp'
cat >"$name.json" <<'JSON'
{"title": "T\u001b[31m\u202eitle", "experiment": "predict", "alpha": 0.8,
 "cases": [{"label": "=1+1\u001b[2J", "set": {"/gamma": 1}}, {"label": "@SUM(A1)", "set": {"/gamma": 2}}, {"label": "-two\u202e", "set": {"/gamma": 3}}]}
JSON
expect 0 run "$name.json" --out "runs/$name"
says out 'T\x1b[31m\u202eitle'
says out '=1+1\x1b[2J'
says out 'runs/a\x1b[31mb\u202egnp/results.csv'
checks=$((checks + 1))
if LC_ALL=C grep -q $'\e' out || grep -qF $'\u202e' out; then fail "control characters are printed"; fi
says "runs/$name/results.csv" $'-two\u202e'
says "runs/$name/results.csv" "0,=1+1"
expect 0 run "$name.json" --out "runs/$name" --csv-marked --force -q
says "runs/$name/results.csv" "0,'=1+1"
says "runs/$name/results.csv" "1,'@SUM(A1)"
says "runs/$name/results.csv" "2,'-two"
cp "runs/$name/results.csv" marked.csv
expect 0 run "$name.json" --shard 1/1 --out shared -q
expect 0 merge shared --csv-marked -q
same shared/results.csv marked.csv

# Pages and figures have no character that XML forbids, and show it as the terminal does.
says "runs/$name/report.html" 'T\x1b[31m'
for page in report.html result-figure-1.svg; do
  checks=$((checks + 1))
  if LC_ALL=C grep -q $'\e' "runs/$name/$page"; then fail "$page has control characters"; fi
done

# Errors of plot name the file.
expect 2 plot "runs/$name" --y nothing
says err '/a\x1b[31mb\u202egnp: y nothing'

# A byte order mark of UTF-8 is no part of a table.
printf 'sequence,position,token,logp,logq\n0,0,7,-1,-0.5\n0,1,8,-0.5,-1\n' >plain.csv
printf '3,1\n3,2\n' >plain.log
for kind in "recording plain.csv" "log plain.log"; do
  read -r way file <<<"$kind"
  { printf '\xef\xbb\xbf'; cat "$file"; } >"marked_$file"
  expect 0 plan "$way" "$file" --c 0.1 --json
  grep -v -e "$file" -e sha256 -e bytes out >unmarked
  expect 0 plan "$way" "marked_$file" --c 0.1 --json
  checks=$((checks + 1))
  grep -v -e "$file" -e sha256 -e bytes out | cmp - unmarked || fail "a byte order mark changes plan $way"
done
printf '\xff\xfe{\0}\0' >utf16.json
expect 2 run utf16.json
says err "utf16.json: begins with the byte order mark of UTF-16"
{ printf '\xef\xbb\xbf'; cat "$first"; } >first.json # a reader of JSON may skip it
expect 0 validate first.json

# A device without an end is refused before it is read, in less memory than reading it would take. A sanitizer alone takes
# terabytes of addresses.
limited() { sanitized || ulimit -v "$1"; }
checks=$((checks + 1))
for arguments in "run /dev/zero" "plan log /dev/zero --c 0.1" "check $check --samples /dev/zero"; do
  # shellcheck disable=SC2086
  (limited 1000000; "$speclab" $arguments) >out 2>err && fail "$arguments is read"
  grep -qE "device without an end|not a regular file" err || fail "$arguments: not said"
done

# Input too large for memory is refused; the message gives the need, the memory available, and the path.
checks=$((checks + 1))
(limited 8000000; "$speclab" run "$source_dir/configs/schedules_iid.json" --set simulation.trials=400000000 --out large -q) >out 2>err && fail "4e8 trials run in 8 GB"
says err "/simulation/trials: 400000000 trials"
says err "GB of memory"

report
