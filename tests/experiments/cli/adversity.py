"""Tests a run in a hostile world: a clock that goes backwards, a disk that is full, a config that changes during the run, and gzip
files that hold far more than their size. Results equal those of an undisturbed run, or the error says what was wrong.

usage: adversity.py SPECLAB_BINARY SOURCE_DIR COMPILER
"""

import gzip
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time
import zipfile

SPECLAB, SOURCE, COMPILER = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3]
# The most memory if at most a gigabyte is read, which takes twice as much while it is copied.
MOST_MEMORY = 3 << 30

BACKWARDS = r"""
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static _Atomic long calls;

/* Every look at the time of day is an hour before the one before it. */
int clock_gettime(clockid_t clock, struct timespec* time) {
  int status = (int)syscall(SYS_clock_gettime, clock, time);
  if (clock == CLOCK_REALTIME) time->tv_sec -= 3600 * ++calls;
  return status;
}
int gettimeofday(struct timeval* restrict now, void* restrict zone) {
  struct timespec time;
  int status = clock_gettime(CLOCK_REALTIME, &time);
  now->tv_sec = time.tv_sec;
  now->tv_usec = time.tv_nsec / 1000;
  return status;
}
time_t time(time_t* out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out) *out = now.tv_sec;
  return now.tv_sec;
}
__attribute__((destructor)) static void tell(void) {
  const char* name = getenv("LOOKS_AT_THE_CLOCK");
  FILE* file = name ? fopen(name, "a") : NULL;
  if (file) fprintf(file, "%ld\n", calls), fclose(file);
}
"""

CONFIG = {
    "title": "Adversity", "experiment": "decode", "seed": 3,
    "models": {"target": {"kind": "table", "rows": [[0.5, 0.3, 0.2]]}, "draft": {"kind": "table", "rows": [[0.1, 0.3, 0.6]]}},
    "rule": {"kind": "block"}, "simulation": {"trials": 64, "length": 20000}, "sweep": {"/gamma": [1, 2, 3, 4, 5, 6, 7, 8]},
}


def speclab(*words, code=0, **options):
    done = subprocess.run([SPECLAB, *words], capture_output=True, text=True, check=False, **options)
    assert done.returncode == code, (words, done.returncode, done.stderr)
    return done


def result(folder):
    return pathlib.Path(folder, "result.json").read_bytes()


def clock_backwards():
    pathlib.Path("backwards.c").write_text(BACKWARDS)
    subprocess.run([COMPILER, "-x", "c", "-shared", "-fPIC", "-O1", "-o", "backwards.so", "backwards.c"], check=True)
    looks = pathlib.Path("looks")
    world = {**os.environ, "LD_PRELOAD": os.path.abspath("backwards.so"), "LOOKS_AT_THE_CLOCK": os.path.abspath(looks)}
    speclab("run", "config.json", "-q", "--out", "backwards", env=world)
    assert result("backwards") == result("whole")
    for index in 1, 2:
        speclab("run", "config.json", "-q", "--out", "shards", "--shard", f"{index}/2", env=world)
    speclab("merge", "shards", "-q", env=world)
    assert result("shards") == result("whole")
    assert sum(map(int, looks.read_text().split())) > 0, "the clock was not looked at, so that nothing was tried"
    if not os.environ.get("LD_PRELOAD"):
        timings = json.loads(pathlib.Path("backwards/timings.json").read_text())
        assert timings["seconds"] >= 0


def while_running(name, what):
    """Starts a run, calls `what(process)` once its first cell is in the journal, and returns its exit code and errors."""
    job = subprocess.Popen([SPECLAB, "run", name, "-q", "--threads", "1", "--out", "disturbed"], stderr=subprocess.PIPE, text=True)
    journal = pathlib.Path("disturbed/journal.jsonl")
    while not (journal.exists() and journal.stat().st_size > 0 and journal.read_text().count("\n") > 1):
        assert job.poll() is None, job.stderr.read()
        time.sleep(0.001)
    what(job)
    errors = job.communicate(timeout=120)[1]
    return job.returncode, errors


def nothing_can_be_written():
    """No file can grow any more, as on a full disk or on one that became read-only."""
    code, errors = while_running("config.json", lambda job: resource.prlimit(job.pid, resource.RLIMIT_FSIZE, (0, 0)))
    assert code == 2, code
    assert "disturbed" in errors and errors.startswith("error: "), errors
    assert not os.path.exists("disturbed/result.json")
    speclab("run", "config.json", "-q", "--out", "disturbed")
    assert result("disturbed") == result("whole")
    assert not [name for name in os.listdir("disturbed") if name.endswith(".tmp") or name == "journal.jsonl"]


def config_changes():
    """A run uses the config that it read. Its journal is not continued under a changed config."""
    subprocess.run(["rm", "-rf", "disturbed"], check=True)
    pathlib.Path("changing.json").write_text(json.dumps(CONFIG))
    code, errors = while_running("changing.json", lambda _: pathlib.Path("changing.json").write_text('{"title": '))
    assert code == 0, errors
    assert result("disturbed") == result("whole")
    subprocess.run(["rm", "-rf", "disturbed"], check=True)
    pathlib.Path("changing.json").write_text(json.dumps(CONFIG))

    def change(job):
        pathlib.Path("changing.json").write_text(json.dumps({**CONFIG, "seed": 4}))
        job.kill()

    while_running("changing.json", change)
    refused = speclab("run", "changing.json", "-q", "--out", "disturbed", code=2)
    assert "another config" in refused.stderr, refused.stderr
    speclab("run", "changing.json", "-q", "--out", "disturbed", "--force")
    speclab("run", "changing.json", "-q", "--out", "anew")
    assert result("disturbed") == result("anew") != result("whole")


def gzip_bombs():
    zeros = bytes(1 << 20)
    with gzip.open("log.jsonl.gz", "wb", compresslevel=9) as out:
        for _ in range(1100):
            out.write(zeros)
    # The same again, with many gzip members.
    pathlib.Path("members.prom.gz").write_bytes(gzip.compress(zeros) * 4000)
    with zipfile.ZipFile("samples.npz", "w", zipfile.ZIP_DEFLATED) as archive, archive.open("samples.npy", "w", force_zip64=True) as out:
        header = f"{{'descr': '<i8', 'fortran_order': False, 'shape': ({5 * (1 << 26)}, 2), }}"
        header += " " * (63 - (10 + len(header)) % 64) + "\n"
        out.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
        for _ in range(5 * 1024):
            out.write(zeros)
    for words in (["plan", "log", "log.jsonl.gz", "--c", "0.1"], ["plan", "log", "members.prom.gz", "--c", "0.1"],
                  ["check", str(SOURCE / "configs/audit.json"), "--samples", "samples.npz"]):
        job = subprocess.Popen([SPECLAB, *words], stdout=subprocess.DEVNULL, stderr=open("errors", "w"))
        _, status, usage = os.wait4(job.pid, 0)
        job.returncode = os.waitstatus_to_exitcode(status)
        errors = pathlib.Path("errors").read_text()
        assert job.returncode == 2, (words, job.returncode, errors)
        assert errors.startswith("error: ") and any(name in errors for name in words if "." in name), errors
        assert usage.ru_maxrss * 1024 < MOST_MEMORY, (words, usage.ru_maxrss)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        pathlib.Path("config.json").write_text(json.dumps(CONFIG))
        speclab("run", "config.json", "-q", "--out", "whole")
        for trial in clock_backwards, nothing_can_be_written, config_changes, gzip_bombs:
            trial()
            print(f"ok: {trial.__name__}", flush=True)
        os.chdir("/")


main()
