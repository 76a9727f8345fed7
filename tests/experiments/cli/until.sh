#!/usr/bin/env bash
# Tests simulation.until: shards look together and give the bytes of one process; verbs for which it has no meaning refuse it.
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
refused plan config model.json
refused record model.json --out record.csv
without=(--set simulation.until=null)
expect 0 check model.json --set check.samples=20000 "${without[@]}"
expect 0 exact model.json "${without[@]}"
expect 0 prove model.json "${without[@]}"
expect 0 plan config model.json "${without[@]}"
expect 0 record model.json --out record.csv "${without[@]}"
expect 2 run "$source_dir/configs/schedules_iid.json" --set "$until" --out schedules -q
says err "schedules_iid.json: /simulation/until: is for decode, iid, acceptance, compare"

# There are large and small cells, some that are precise at once, one that never is, and two that share a simulation.
cat >cells.json <<JSON
{"title": "Cells", "engine": "plain", $models, "cases": [
  {"label": "large", "set": {"/simulation/trials": 64, "/simulation/until/half_width": 0.004}},
  {"label": "precise", "set": {"/simulation/until/half_width": 0.5}},
  {"label": "precise, too", "set": {"/simulation/until/half_width": 0.5}},
  {"label": "small", "set": {"/gamma": 1, "/simulation/until/half_width": 0.02}},
  {"label": "never", "set": {"/simulation/until/half_width": 1e-9, "/simulation/until/most_rounds": 3000}}],
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

# looks OUT CONFIG SHARDS [OPTIONS]: runs shards, in turns, until they merge; stores the number of turns in `turns`.
looks() {
  local out=$1 config=$2 shards=$3 status=2
  shift 3
  turns=0
  while [[ $status -eq 2 && $turns -lt 30 ]]; do
    for ((shard = shards; shard >= 1; --shard)); do
      expect 0 run "$config" --out "$out" -q --shard $shard/"$shards" --threads $((1 + shard % 2)) "$@"
    done
    turns=$((turns + 1))
    status=0
    "$speclab" merge "$out" -q 2>err || status=$?
    [[ $status -eq 0 ]] || says err "are wider than asked for; shards run look $((turns + 1)) at them"
  done
  checks=$((checks + 1))
  [[ $status -eq 0 ]] || fail "$out is not merged after $turns turns"
}
for config in cells sweep coins overlap; do
  expect 0 run $config.json --out whole/$config -q
  for shards in 1 3 7; do
    looks shared/$config-$shards $config.json $shards
    same shared/$config-$shards/result.json whole/$config/result.json
    same shared/$config-$shards/results.csv whole/$config/results.csv
    checks=$((checks + 1))
    [[ $turns -gt 2 ]] || fail "$config: only $turns looks"
  done
done
python "looks = [cell['until']['looks'] for cell in data['cells']]
assert looks[1] == looks[2] == 1 and max(looks) > 3, looks
assert [cell['until']['reached'] for cell in data['cells']] == [True] * 4 + [False], data['cells']" whole/cells/result.json
# Every look of the large cell was divided among shards, and nothing was run twice.
checks=$((checks + 1))
python3 - shared/cells-3/shards <<'PYTHON' >python_out 2>&1 || fail "$(tail -1 python_out)"
import json, pathlib, sys
parts = []
for file in pathlib.Path(sys.argv[1]).glob("*-of-3.*.jsonl"):
    lines = [json.loads(line[17:]) for line in file.read_text().splitlines()[1:]]
    parts += [(line["cell"], line["part"]["look"], line["part"]["first"], len(line["part"]["tallies"]), file.name[0])
              for line in lines if "part" in line]
assert len({part[:3] for part in parts}) == len(parts), parts
large = [part for part in parts if part[0] == 0]
for look in {part[1] for part in large}:
    mine = [part for part in large if part[1] == look]
    assert len({part[4] for part in mine}) >= (2 if look == 1 else 3), mine
    assert sum(part[3] for part in mine) == (12 if look == 1 else 6), mine
PYTHON

# Output of merge and status.
expect 0 run coins.json --out told -q --shard 1/2
expect 2 merge told
says err "1 of 2 shards are not complete"
expect 0 run coins.json --out told -q --shard 2/2
expect 2 merge told
says err "speclab run coins.json --out told --shard 1/2"
expect 0 status told
says out "0 of 2 shards are complete, look 2"
expect 0 status told --json
python "assert data['look'] == 2 and [one['finished'] for one in data['states']] == [1, 1]" out
checks=$((checks + 1))
[[ ! -e told/result.json ]] || fail "an incomplete merge leaves a result"

# The list of a look, or a journal of an early look, is lost or damaged: the commands in the message repair it.
cp -r shared/coins-3 lost
rm lost/shards/look-2.jsonl lost/result.json
expect 0 merge lost -q
same lost/result.json whole/coins/result.json
sed -i 's/"look":3/"look":4/' lost/shards/look-3.jsonl
expect 0 merge lost -q
same lost/result.json whole/coins/result.json
rm lost/shards/2-of-3.*
expect 2 merge lost
says err "1 of 3 shards are not complete"
looks lost coins.json 3
same lost/result.json whole/coins/result.json

# Shards and merges are killed at any time.
cat >kill.py <<'PYTHON'
import random, subprocess, sys

speclab, rng, kills, looks = sys.argv[1], random.Random(5), 0, 1
command = [speclab, "run", "coins.json", "--set", "simulation.length=100000", "--set", "simulation.until.half_width=0.0003", "--out", "killed", "-q", "--threads", "1"]

def until_it_ends(command):
    global kills
    for attempt in range(60):  # kills come later and later, so that slow builds end, too: a part that is killed starts again
        job = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        try:
            return job.wait(timeout=rng.uniform(0.01, 0.1) * 1.3**attempt)
        except subprocess.TimeoutExpired:
            job.kill()
            job.wait()
            kills += 1

while True:
    for shard in rng.sample(range(1, 4), 3):
        assert until_it_ends([*command, "--shard", f"{shard}/3"]) == 0
    code = until_it_ends([speclab, "merge", "killed", "-q"])
    if code == 0:
        break
    assert code == 2, code
    looks += 1
print(kills, looks)
assert kills >= 2 and looks >= 3, (kills, looks)
PYTHON
checks=$((checks + 1))
python3 kill.py "$speclab" >python_out 2>&1 || fail "$(tail -1 python_out)"
expect 0 run coins.json --set simulation.length=100000 --set simulation.until.half_width=0.0003 --out unkilled -q
same killed/result.json unkilled/result.json

# submit runs all looks, by processes and by Slurm (a stand-in that loses the first task of the second array).
expect 0 submit cells.json --out local --shards 3
says err "look 2: the intervals of 3 cells are wider than asked for"
same local/result.json whole/cells/result.json
slurm_losing 1 2
PATH=$PWD/bin:$PATH expect 0 submit cells.json --out slurm --shards 2 --scheduler slurm -q --retries 1
says err "1 of 2 shards are not complete; submitted again"
same slurm/result.json whole/cells/result.json
checks=$((checks + 1))
[[ $(head -3 submitted | tr '\n' ' ') = "1,2 1,2 1 " ]] || fail "submitted: $(cat submitted)"

report
