#!/usr/bin/env bash
# Tests that a folder belongs to its config.
# usage: folder.sh SPECLAB_BINARY SOURCE_DIR
. "$2/tests/program.bash" "$@"

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
# Without --out each variation of a config has its own folder, in any order of commands, and no command refuses another's.
if ! (cd default && "$speclab" run "$first" --set gamma=3 "${small[@]}" -q && "$speclab" run "$first" "${small[@]}" --seed 9 -q &&
  "$speclab" run "$first" "${small[@]}" -q && "$speclab" run "$first" "${small[@]}" --set gamma=3 -q); then
  fail "run without --out refuses the folder of another variation"
fi
python "import glob
assert len({json.dumps(one['config']) for one in (json.load(open(file)) for file in glob.glob('default/out/first-*/result.json'))}) == 3" \
  "$(ls -d default/out/first-*seed=9)/result.json"
checks=$((checks + 1))
[[ -z $(find one two three -name '*.tmp') ]] || fail "temporary files are left"

# Verbs that write a page refuse a folder with other results before the work. The same command writes again; with --force no file of
# the other result stays.
cp -r one kept
for words in "plan alpha .8 --c .05" "prove --rule token --target .5,.5 --draft .4,.6" "exact $markov" "check $markov" "reproduce --only table1"; do
  # shellcheck disable=SC2086  # several words
  expect 2 $words --out kept
  says err "kept holds other results"
done
diff -r one kept >/dev/null || fail "a refused verb changes the folder"
expect 0 plan alpha .8 --c .05 --out kept --force
expect 0 plan alpha .8 --c .05 --out kept --json
same kept/result.json out
python "assert list(data)[:4] == ['speclab', 'format', 'command', 'inputs'] and data['format'] == 1
assert data['command'] == 'speclab plan alpha .8 --c .05' and data['inputs'] == [], data" out
# A command knows its result by result.json, which it writes first: the page may be missing, and the folder have another spelling.
rm kept/report.html
expect 0 plan alpha .8 --c .05 --out ./kept/
(cd kept && "$speclab" plan alpha .8 --out=. --c .05 >/dev/null) || fail "another working folder is refused"
[[ -s kept/report.html ]] || fail "the page is not written again"
expect 2 plan alpha .7 --c .05 --out kept
expect 2 run "$first" "${small[@]}" --out kept -q
says err 'not the result of a run: "speclab plan alpha .8 --c .05" made it'
ls kept >files
! grep -E 'results.csv|timings.json|result-figure' files || fail "files of a run stay beside a plan"
expect 0 run "$first" "${small[@]}" --out kept -q --force
same kept/result.json one/result.json
same <(ls kept) <(ls one)

# result.json states the config and every file that was read.
printf '.5,.5\n.25,.75\n' >table.csv
cat >tables.json <<'J'
{"title": "Tables", "gamma": 1, "check": {"samples": 2000, "tokens": 2}, "simulation": {"trials": 4, "length": 50, "batches": 2},
 "models": {"target": {"kind": "table", "file": "table.csv"}, "draft": {"kind": "uniform"}}}
J
for verb in exact check prove; do
  expect 0 $verb tables.json --json --out "of_$verb"
  same out "of_$verb/result.json"
  python "assert (data['format'], data['command'], data['config']['title']) == (1, 'speclab $verb tables.json', 'Tables'), data
assert [(one['file'], one['sha256']) for one in data['inputs']] == [('table.csv', '$(sha256sum table.csv | cut -c1-64)')], data['inputs']" out
  says "of_$verb/report.html" "$(sha256sum table.csv | cut -c1-64)"
done

# A report without a result is somebody else's, and nothing but regular files is read.
mkdir page pipe
echo mine >page/report.html
for words in "run $first" "plan alpha .8 --c .05" "reproduce --only table1"; do
  # shellcheck disable=SC2086
  expect 2 $words --out page
  says err "page holds"
done
[[ $(cat page/report.html) == mine ]] || fail "another report is overwritten"
mkfifo pipe/journal.jsonl
expect 2 run "$first" "${small[@]}" --out pipe
says err "pipe/journal.jsonl: is not a regular file"

# Only one command at a time writes into a folder.
"$speclab" run "$first" --set simulation.trials=256 --set simulation.length=10000000 --out busy -q 2>/dev/null &
job=$!
until [[ -d busy ]] && ! flock -n busy true; do sleep 0.01; done
for words in "plan alpha .8 --c .05" "exact tables.json" "check tables.json" "prove tables.json"; do
  # shellcheck disable=SC2086
  expect 2 $words --out busy
  says err "another run is writing into busy"
done
kill -9 $job

# A folder that cannot be written is reported before the work.
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
