#!/usr/bin/env bash
# Tests that merged shards equal the run of one process, byte for byte, and that missing, damaged, foreign and repeated shards are reported.
# usage: shards.sh SPECLAB_BINARY SOURCE_DIR
. "$2/tests/program.bash" "$@"

printf '0.5,0.3,0.2\n0.2,0.5,0.3\n0.1,0.1,0.8\n' >table.csv
models='"models": {"target": {"kind": "table", "file": "table.csv"}, "draft": {"kind": "uniform"}}'
cat >plain.json <<JSON
{"title": "Plain", "engine": "plain", "simulation": {"trials": 32, "length": 200}, $models,
 "sweep": {"/gamma": {"from": 1, "to": 8, "step": 1}, "/cost/c": [0.02, 0.1]}}
JSON
cat >fast.json <<JSON
{"title": "One large cell", "engine": "fast", "simulation": {"trials": 1000, "length": 300}, $models}
JSON
cat >iid.json <<'JSON'
{"title": "Coins", "experiment": "iid", "alpha": 0.7, "simulation": {"trials": 3, "length": 10000}, "sweep": {"/gamma": [1, 5]}}
JSON
cat >search.json <<'JSON'
{"title": "Search", "experiment": "optimal_gamma", "simulation": {"trials": 64, "length": 200}, "search": {"max_gamma": 6},
 "models": {"target": {"kind": "zipf", "vocab": 20}, "draft": {"kind": "mixture", "alpha": 0.7, "other": {"kind": "zipf", "reversed": true}}}, "sweep": {"/cost/c": [0.02, 0.3], "/search/max_gamma": [2, 6], "/gamma": [1, 3]}}
JSON
cat >formula.json <<'JSON'
{"title": "Formula", "experiment": "predict", "alpha": 0.8, "sweep": {"/gamma": {"from": 1, "to": 30, "step": 1}}}
JSON
cat >rules.json <<JSON
{"title": "Rules", "experiment": "rules", "simulation": {"trials": 8, "length": 50}, "gamma": 2, $models,
 "rule": {"kind": "token"}, "sweep": {"/rule/kind": ["token", "block"]}}
JSON

for config in plain fast iid search formula rules; do
  verb=run
  expect 0 $verb $config.json --out whole/$config -q
  for shards in 1 3 7; do
    out=shared/$config-$shards
    for ((shard = shards; shard >= 1; --shard)); do # in any order
      expect 0 $verb $config.json --out "$out" -q --shard $shard/$shards --threads $((1 + shard % 2))
    done
    expect 0 merge "$out" -q
    same "$out/result.json" whole/$config/result.json
    same "$out/results.csv" whole/$config/results.csv
  done
done

# A run with more cells than are held in memory gives the bytes of one process in little memory and a page with a part of the cells, and
# both again.
cat >large.json <<'JSON'
{"title": "Large", "experiment": "predict", "alpha": 0.8,
 "sweep": {"/alpha": {"from": 0.1, "to": 0.9, "count": 400}, "/gamma": [1, 2, 3, 4, 5, 6], "/cost/c": {"from": 0.01, "to": 0.2, "count": 10}}}
JSON
expect 0 run large.json --out whole/large -q
expect 0 run large.json --out shared/large -q --shard 1/2
expect 0 run large.json --out shared/large -q --shard 2/2
checks=$((checks + 1))
most=60
if sanitized; then most=5000; fi
python3 - "$speclab" shared/large $most >python_out 2>&1 <<'PYTHON' || fail "$(tail -1 python_out)"
import resource, subprocess, sys
subprocess.run([sys.argv[1], "merge", sys.argv[2], "-q"], check=True)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000
assert peak < float(sys.argv[3]), f"{peak} MB to merge 24,000 cells, with which a run takes 95 MB"
PYTHON
same shared/large/result.json whole/large/result.json
same shared/large/results.csv whole/large/results.csv
says shared/large/report.html "24,000 cells are more than a page can show"
grep -q '"command": "speclab merge ' shared/large/timings.json || fail "timings.json of a merge does not name its command"
same <(grep -v "<dt>" shared/large/report.html | sed 's/speclab merge [^<]*//') <(grep -v "<dt>" whole/large/report.html | sed 's/speclab run [^<]*//')
expect 0 run large.json --out shared/large -q --shard 2/2
expect 0 merge shared/large --json
same out whole/large/result.json

# Missing shards are named with the commands that run them.
expect 2 merge nothing
says err "no journals of shards"
run() { expect "$1" run plain.json --set seed=5 --out part -q --shard "$2"; }
expect 0 run plain.json --set seed=5 --out one -q
run 0 1/3
run 0 3/3
expect 2 merge part
says err "1 of 3 shards are not complete"
says err "speclab run plain.json --set seed=5 --out part --shard 2/3"
expect 0 status part --json
python "assert data['complete'] == 2 and [one['complete'] for one in data['states']] == [True, False, True], data" out
checks=$((checks + 1))
[[ ! -e part/result.json ]] || fail "an incomplete merge leaves a result"
run 0 2/3
expect 0 merge part -q
same part/result.json one/result.json

# A shard that is run twice does no harm. tests/experiments/shards/failures.py kills shards.
run 0 2/3
expect 0 merge part -q
same part/result.json one/result.json

# After a damaged line its shard is not complete, and the command in the message repairs it.
first=$(ls part/shards/1-of-3.*.jsonl)
cp "$first" sound
sed -i '3s/"/'"'"'/9' "$first"
expect 2 merge part
says err "1 damaged lines; speclab run plain.json --set seed=5 --out part --shard 1/3"
run 0 1/3
expect 0 merge part -q
same part/result.json one/result.json

# Differing results of one cell, shards of different runs, and changed inputs are refused.
mkdir -p conflict/shards
cp part/shards/* conflict/shards
python3 - "$PWD/sound" conflict/shards/1-of-3.other.jsonl <<'PYTHON'
import hashlib, json, sys
lines = open(sys.argv[1]).read().splitlines()
for i, line in enumerate(lines[1:], 1):
    value = json.loads(line[17:])
    if "result" not in value:
        continue
    value["result"]["counts"]["rounds"] += 1
    text = json.dumps(value, separators=(",", ":"), sort_keys=True)
    lines[i] = hashlib.sha256(text.encode()).hexdigest()[:16] + " " + text
    break
open(sys.argv[2], "w").write("\n".join(lines) + "\n")
PYTHON
expect 2 merge conflict
says err "differs in cell"
expect 2 run plain.json --set seed=6 --out part -q --shard 1/3
says err "another config"
expect 2 run plain.json --set seed=5 --out part -q --shard 1/4
says err "another number of shards"
cp table.csv former.csv
sed -i 's/0.8/0.7/; s/^0.1,0.1/0.2,0.1/' table.csv
expect 2 run plain.json --set seed=5 --out part -q --shard 1/3
says err "table.csv has changed since"
expect 2 merge part
says err "table.csv has changed since"
cp former.csv table.csv

# A result of another config is not replaced, and the command of a missing shard names the folder that was given.
cp -r part moved
rm moved/shards/2-of-3.*
expect 2 merge moved
says err "speclab run plain.json --set seed=5 --out moved --shard 2/3"
cp -r part mixed
expect 0 run plain.json --set seed=8 --out mixed -q --force
expect 2 merge mixed
says err "holds the results of another config"
python "assert data['config']['seed'] == 8" mixed/result.json
# A shard looks at another one's journal, which is named.
expect 0 run plain.json --out two -q --shard 1/2
expect 2 run plain.json --set seed=9 --out two -q --shard 2/2
says err "two/shards/1-of-2."
says err "another config; remove it"

# The first line of a journal decides to which shard it belongs: a name that says otherwise is refused at once.
expect 0 run iid.json --out named -q --shard 1/60
mv named/shards/1-of-60.* named/shards/1-of-1.x.jsonl
expect 0 run iid.json --out several -q --shard 1/2
expect 0 run iid.json --out several -q --shard 2/2
cp several/shards/2-of-2.*.jsonl several/shards/2-of-3.x.jsonl
for verb in status merge; do
  expect 2 $verb named
  says err "named/shards/1-of-1.x.jsonl: its name says shard 1/1, its first line shard 1/60"
  expect 2 $verb several
  says err "several/shards/2-of-3.x.jsonl: its name says shard 2/3, its first line shard 2/2"
done
expect 2 run iid.json --out several -q --shard 2/2
says err "several/shards/2-of-3.x.jsonl"
rm several/shards/2-of-3.x.jsonl
expect 0 run iid.json --out others -q --shard 2/3
cp others/shards/2-of-3.* several/shards
expect 2 status several
says err "are of different runs: it was divided into another number of shards"

# A program with other sources neither continues journals nor merges them.
another_program "$(ls part/shards/2-of-3.*.jsonl | head -1)"
expect 2 run plain.json --set seed=5 --out part -q --shard 2/3
says err "another program wrote it"
expect 2 merge part
says err "another program wrote it"
expect 2 status part

# Runs that cannot be divided, and impossible requests, are refused.
expect 2 run "$source_dir/configs/walltime_pair.json" --out clock -q --shard 1/2
says err "measures times"
expect 2 run plain.json --out bad -q --shard 4/3
says err "--shard 4/3"

report
