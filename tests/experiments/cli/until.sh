#!/usr/bin/env bash
# Tests simulation.until: each cell belongs to one shard, shards give the bytes of one process, and verbs that cannot use it refuse it.
# usage: until.sh SPECLAB_BINARY SOURCE_DIR
. "$2/tests/program.bash" "$@"

printf '0.5,0.3,0.2\n0.2,0.5,0.3\n0.1,0.1,0.8\n' >table.csv
models='"models": {"target": {"kind": "table", "file": "table.csv"}, "draft": {"kind": "uniform"}}'

# These verbs run no simulation that could continue.
until='simulation.until={"half_width": 0.01}'
cat >model.json <<JSON
{"title": "Model", "gamma": 2, "simulation": {"trials": 16, "length": 50, "until": {"half_width": 0.01}}, $models}
JSON
refused() {
  expect 2 "$@"
  says err "model.json: /simulation/until: "
  says err "--set simulation.until=null"
}
refused check model.json --set check.samples=20000
refused exact model.json
refused prove model.json
refused record model.json --out record.csv
without=(--set simulation.until=null)
expect 0 check model.json --set check.samples=20000 "${without[@]}"
expect 0 exact model.json "${without[@]}"
expect 0 prove model.json "${without[@]}"
expect 0 record model.json --out record.csv "${without[@]}"
expect 2 run "$source_dir/configs/schedules_iid.json" --set "$until" --out schedules -q
says err "schedules_iid.json: /simulation/until: schedules does not read"

# There are large and small cells, some that are precise at once, one that never is, and two that share a simulation.
cat >cells.json <<JSON
{"title": "Cells", "engine": "plain", $models, "cases": [
  {"label": "large", "set": {"/simulation/trials": 64, "/simulation/until/half_width": 0.004}},
  {"label": "precise", "set": {"/simulation/until/half_width": 0.5}},
  {"label": "precise, too", "set": {"/simulation/until/half_width": 0.5}},
  {"label": "small", "set": {"/gamma": 1, "/simulation/until/half_width": 0.02}},
  {"label": "never", "set": {"/simulation/until/half_width": 1e-9, "/simulation/until/max_rounds": 3000}}],
 "simulation": {"trials": 16, "length": 40, "batches": 12, "until": {"half_width": 0.02, "relative": true}}}
JSON
cat >sweep.json <<JSON
{"title": "Sweep", "simulation": {"trials": 16, "length": 50, "until": {"half_width": 0.02, "relative": true}}, $models,
 "sweep": {"/gamma": [1, 2, 4], "/cost/c": [0.02, 0.3]}}
JSON
cat >coins.json <<'JSON'
{"title": "Coins", "experiment": "iid", "alpha": 0.7, "simulation": {"trials": 40, "length": 100, "until": {"half_width": 0.03}}}
JSON
cat >overlap.json <<JSON
{"title": "Overlap", "experiment": "acceptance", "simulation": {"trials": 8, "length": 50, "until": {"metric": "alpha_overlap", "half_width": 0.004}}, $models}
JSON

for config in cells sweep coins overlap; do
  expect 0 run $config.json --out whole/$config -q
  for shards in 1 3 7; do
    for ((shard = shards; shard >= 1; --shard)); do
      expect 0 run $config.json --out shared/$config-$shards -q --shard $shard/$shards --threads $((1 + shard % 2))
    done
    expect 0 merge shared/$config-$shards -q
    same shared/$config-$shards/result.json whole/$config/result.json
    same shared/$config-$shards/results.csv whole/$config/results.csv
  done
done
python "looks = [cell['until']['looks'] for cell in data['cells']]
assert looks[1] == looks[2] == 1 and max(looks) > 3, looks
assert [cell['until']['reached'] for cell in data['cells']] == [True] * 4 + [False], data['cells']" whole/cells/result.json

# Shards and merges are killed at any time.
cat >kill.py <<'PYTHON'
import random, subprocess, sys

speclab, rng, kills = sys.argv[1], random.Random(5), 0
command = [speclab, "run", "coins.json", "--set", "simulation.length=100000", "--set", "simulation.until.half_width=0.0005", "--set", "sweep={\"/alpha\": [0.5, 0.6, 0.7]}", "--out", "killed", "-q", "--threads", "1"]

def until_it_ends(command):
    global kills
    for attempt in range(60):  # kills come later and later, so that slow builds end, too: a part that is killed starts again
        job = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        try:
            return job.wait(timeout=rng.uniform(0.01, 0.05) * 1.6**attempt)
        except subprocess.TimeoutExpired:
            job.kill()
            job.wait()
            kills += 1

for shard in rng.sample(range(1, 4), 3):
    assert until_it_ends([*command, "--shard", f"{shard}/3"]) == 0
assert until_it_ends([speclab, "merge", "killed", "-q"]) == 0
assert kills >= 2, kills
PYTHON
checks=$((checks + 1))
python3 kill.py "$speclab" >python_out 2>&1 || fail "$(tail -1 python_out)"
expect 0 run coins.json --set simulation.length=100000 --set simulation.until.half_width=0.0005 --set 'sweep={"/alpha": [0.5, 0.6, 0.7]}' --out unkilled -q
same killed/result.json unkilled/result.json

report
