#!/usr/bin/env bash
# Tests Ctrl-C: results so far are written quickly and marked partial. Background jobs of a script ignore SIGINT, so that python starts the
# program.
# usage: interrupt.sh SPECLAB_BINARY SOURCE_DIR
. "$2/tests/program.bash" "$@"

# The Python programs below import signals.py.
export PYTHONPATH=$source_dir/tests/experiments/cli PYTHONDONTWRITEBYTECODE=1
cat >interrupt.py <<'PYTHON'
import json, os, signal, subprocess, sys
from signals import wait_for

speclab, config, number = sys.argv[1], sys.argv[2], getattr(signal, sys.argv[3])
out = "interrupted_" + sys.argv[3]
job = subprocess.Popen(
    [speclab, "run", config, "--out", out, "--set", "simulation.trials=256", "--set", "simulation.length=10000000"],
    stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    preexec_fn=lambda: (signal.signal(signal.SIGINT, signal.SIG_DFL), signal.signal(signal.SIGTERM, signal.SIG_DFL)))
wait_for(job, number)
job.send_signal(number)
stdout, stderr = job.communicate(timeout=20)
assert job.returncode == 130, job.returncode
assert stderr == b"", stderr
data = json.load(open(out + "/result.json"))
assert data["partial"] is True
for name in "results.csv", "timings.json", "report.html":
    assert os.path.getsize(out + "/" + name) > 0, name
PYTHON
# check has nothing to keep, and says so.
cat >interrupt_check.py <<'PYTHON'
import signal, subprocess, sys
from signals import wait_for

job = subprocess.Popen(
    [sys.argv[1], "check", sys.argv[2], "--set", "check.samples=5000000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
wait_for(job, signal.SIGINT)
job.send_signal(signal.SIGINT)
stdout, stderr = job.communicate(timeout=20)
assert job.returncode == 130, job.returncode
assert stdout == b"" and stderr == b"interrupted: nothing was tested\n", (stdout, stderr)
PYTHON
checks=$((checks + 1))
python3 interrupt_check.py "$speclab" "$check" >python_out 2>&1 || fail "check: $(tail -1 python_out)"
# A merge that is writing more cells than are held in memory ends at the first signal, leaves no files, and is run again.
cat >large.json <<'JSON'
{"title": "Large", "experiment": "predict", "alpha": 0.8,
 "sweep": {"/alpha": {"from": 0.1, "to": 0.9, "count": 500}, "/gamma": [1, 2, 3, 4, 5, 6], "/cost/c": {"from": 0.01, "to": 0.2, "count": 10}}}
JSON
expect 0 run large.json --out large -q --shard 1/1
cat >interrupt_merge.py <<'PYTHON'
import glob, os, signal, subprocess, sys, time

job = subprocess.Popen([sys.argv[1], "merge", "large", "-q"], stderr=subprocess.PIPE,
                       preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
while not any(os.path.getsize(name) > 1_000_000 for name in glob.glob("large/.result.json.*")):
    assert job.poll() is None, "ended by itself"
    time.sleep(0.01)
job.send_signal(signal.SIGINT)
stderr = job.communicate(timeout=20)[1]
assert job.returncode == 130, job.returncode
assert stderr == b"interrupted; the same command starts over\n", stderr
assert sorted(os.listdir("large")) == ["shards"], os.listdir("large")
assert [name for name in os.listdir("large/shards") if not name.startswith("1-of-1")] == [], os.listdir("large/shards")
PYTHON
checks=$((checks + 1))
python3 interrupt_merge.py "$speclab" >python_out 2>&1 || fail "merge: $(tail -1 python_out)"
expect 0 merge large -q
for signal in SIGINT SIGTERM; do
  checks=$((checks + 1))
  python3 interrupt.py "$speclab" "$first" "$signal" >python_out 2>&1 || fail "$signal: $(tail -1 python_out)"
done

report
