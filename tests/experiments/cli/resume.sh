#!/usr/bin/env bash
# Tests that a run that was killed continues: same bytes, no finished cell computed twice, nothing taken from other inputs.
# usage: resume.sh SPECLAB_BINARY SOURCE_DIR
. "$2/tests/program.bash" "$@"

# The config has 24 cells of some 20 ms each, on a table in a file.
printf '0.5,0.3,0.2\n0.2,0.5,0.3\n0.1,0.1,0.8\n' >table.csv
cat >sweep.json <<'JSON'
{"title": "Cells to lose", "engine": "plain", "simulation": {"trials": 8, "length": 6000},
 "models": {"target": {"kind": "table", "file": "table.csv"},
            "draft": {"kind": "uniform"}},
 "sweep": {"/gamma": {"from": 1, "to": 8, "step": 1}, "/seed": [1, 2, 3]}}
JSON
expect 0 sweep sweep.json --out whole -q
python "assert [one['file'] for one in data['inputs']] == ['table.csv'] and data['inputs'][0]['bytes'] == 36
assert data['inputs'][0]['sha256'] == '$(sha256sum table.csv | cut -c1-64)'" whole/result.json
checks=$((checks + 1))
[[ ! -e whole/journal.jsonl ]] || fail "the journal of a finished run is left"

# SIGKILL comes at random moments. The journal never loses or repeats a cell, and the final result has the bytes of one run.
cat >kill.py <<'PYTHON'
import json, pathlib, random, re, shutil, subprocess, sys

speclab, whole = sys.argv[1], pathlib.Path("whole/result.json").read_bytes()
folder, rng = pathlib.Path("killed"), random.Random(1)
kills = finished = torn = 0
known = []
longest = 0.4  # seconds until a kill; longer for slow programs, so that the run reaches its end
while kills < 15 or finished == 0:
    job = subprocess.Popen([speclab, "sweep", "sweep.json", "--out", folder, "-q", "--threads", "1"], stderr=subprocess.PIPE)
    try:
        error = job.communicate(timeout=rng.uniform(0.01, longest))[1]
        assert job.returncode == 0, error
    except subprocess.TimeoutExpired:
        job.kill()
        error = job.communicate()[1]
        kills += 1
    said = re.search(rb"(\d+) of 24 cells are finished", error)
    # If the sentence is missing, the run was killed before it looked for a journal.
    assert said is None or int(said[1]) == len(known), (said, known)
    journal = folder / "journal.jsonl"
    # If the journal is missing, the run had ended just before it was killed.
    if job.returncode == 0 or known and not journal.exists():
        finished += 1
        assert (folder / "result.json").read_bytes() == whole, "other bytes"
        # A kill within a line of the journal leaves a damaged line, which the next run keeps beside it.
        names = sorted(one.name for one in folder.iterdir() if one.name != "journal.jsonl.earlier")
        assert names == sorted(one.name for one in pathlib.Path("whole").iterdir()), names
        shutil.rmtree(folder)
        known = []
        continue
    lines = journal.read_bytes().split(b"\n") if journal.exists() else [b""]
    torn += lines.pop() != b""
    cells = [json.loads(line[17:])["cell"] for line in lines[1:]]
    assert len(set(cells)) == len(cells) and cells[:len(known)] == known, (known, cells)
    if len(cells) == len(known):
        longest *= 1.1
    known = cells
print(f"{kills} kills, {finished} runs finished, {torn} torn lines")
PYTHON
checks=$((checks + 1))
python3 kill.py "$speclab" >python_out 2>&1 || fail "$(tail -1 python_out)"

# begun FOLDER: interrupts a run with some cells done and some not.
begun() {
  local run
  [[ $1 == kept ]] || rm -rf "$1"
  "$speclab" sweep sweep.json --out "$1" -q --threads 1 &
  run=$!
  until [[ $(cat "$1/journal.jsonl" 2>/dev/null | wc -l) -ge 3 ]]; do sleep 0.01; done
  kill "$run"
  wait "$run" || true
  [[ -s $1/journal.jsonl ]] || fail "$1: the run ended before it was interrupted"
}

# If another table has the same name, nothing of the earlier run is used, and a message says so.
begun changed
cp table.csv former.csv
sed -i 's/0.8/0.7/; s/^0.1,0.1/0.2,0.1/' table.csv
cp changed/journal.jsonl former.jsonl
expect 2 sweep sweep.json --out changed -q --resume require
says err "table.csv has changed since"
expect 0 sweep sweep.json --out changed -q
says err "table.csv has changed since"
says err "its journal is kept as changed/journal.jsonl.earlier"
same changed/journal.jsonl.earlier former.jsonl
expect 0 sweep sweep.json --out fresh -q
same changed/result.json fresh/result.json
cp former.csv table.csv
expect 0 sweep sweep.json --out fresh -q
says err "fresh: the new result replaces one of other files: table.csv has changed since"
same fresh/result.json whole/result.json
expect 0 sweep sweep.json --out fresh -q
silent err "the same result again"

# An interrupted run leaves a complete result of its config as it is, and continues.
cp -r whole kept
begun kept
same kept/result.json whole/result.json
same kept/report.html whole/report.html
expect 0 sweep sweep.json --out kept -q
says err "cells are finished"
same kept/result.json whole/result.json

# A program with other sources computes every cell anew, and says so: it takes none of the journal's results, not even wrong ones.
begun older
another_program older/journal.jsonl
cp older/journal.jsonl former.jsonl
expect 2 sweep sweep.json --out older -q --resume require
says err "another program wrote it"
same older/journal.jsonl former.jsonl
expect 0 sweep sweep.json --out older -q
says err "the earlier run is not continued: another program wrote it"
same older/result.json whole/result.json
# The SHA-256 of its sources, as sha256sum computes it, identifies the program.
sources=$(cd "$source_dir" && for folder in core sim analysis kernels serving/{advisor,queues,server,study,traces} \
  experiments/{base/format,base/support,catalog,config,recording,run,shards,studies,verify}; do
  find "$folder" -type f | grep -E '\.(cpp|hpp|cu|cuh)$' | LC_ALL=C sort | xargs sha256sum
done | sha256sum | cut -c1-64)
expect 0 version
says out "sources        ${sources:0:12}"
begun own
checks=$((checks + 1))
head -1 own/journal.jsonl | grep -qF "\"program\":\"$sources\"" || fail "the journal is of other sources than these"

# Results of another config are not touched without --force. If continuing is required, a run without anything to continue is refused.
begun foreign
expect 2 sweep sweep.json --out foreign -q --set rule.kind=block --set confidence=0.9
says err "another config"
expect 2 sweep sweep.json --out nothing -q --resume require
says err "no journal"
checks=$((checks + 1))
[[ ! -e nothing ]] || fail "a refused run leaves its folder"

# --force removes another config's results at once, so that the same command, with it and without, continues after a kill.
cp -r whole forced
"$speclab" sweep sweep.json --set confidence=0.9 --out forced -q --threads 1 --force &
forced=$!
until [[ $(cat forced/journal.jsonl 2>/dev/null | wc -l) -ge 3 ]]; do sleep 0.01; done
kill -9 "$forced"
wait "$forced" || true
expect 2 sweep sweep.json --out forced -q
cp -r forced again
expect 2 sweep sweep.json --set confidence=0.9 --out again -q --force --resume require
expect 0 sweep sweep.json --set confidence=0.9 --out again -q --force
says err "cells are finished"
expect 0 sweep sweep.json --set confidence=0.9 --out forced -q --resume require
says err "cells are finished"
same forced/result.json again/result.json

# A damaged line is reported and kept, and its cell is run again; a journal with a damaged first line is not used.
for line in 2 1; do
  begun damaged
  sed -i "${line}s/\"/'/7" damaged/journal.jsonl
  expect 0 sweep sweep.json --out damaged -q
  says err "damaged"
  same damaged/result.json whole/result.json
  checks=$((checks + 1))
  [[ -s damaged/journal.jsonl.earlier ]] || fail "the damaged journal is not kept"
done

# Two runs may not write into one folder.
"$speclab" sweep sweep.json --out shared -q --set simulation.trials=200 2>/dev/null &
first_run=$!
until [[ -e shared/journal.jsonl ]]; do sleep 0.01; done
expect 2 sweep sweep.json --out shared -q
says err "another run is writing into shared"
kill "$first_run"
wait "$first_run" || true

# If the disk is full in the middle of a run, there is an error, and nothing is lost.
checks=$((checks + 1))
status=0
(ulimit -f 12 && "$speclab" sweep sweep.json --out full -q 2>err) || status=$?
[[ $status -eq 2 ]] || fail "exit code $status, not 2, on a full disk"
says err "cannot write full/journal.jsonl"
expect 0 sweep sweep.json --out full -q
says err "cells are finished"
same full/result.json whole/result.json
checks=$((checks + 1))
status=0
"$speclab" list >/dev/full 2>err || status=$?
[[ $status -eq 2 ]] || fail "exit code $status, not 2, on a full device"

# Input that does not end by itself is refused.
expect 2 sweep sweep.json --out device -q --set models.target.file=/dev/zero
says err "not a regular file"

report
