"""Reproduces failures of a cluster with real processes: in every case the merged result is that of one process.

usage: failures.py SPECLAB_BINARY SOURCE_DIR [--shards N]

First it kills shards and the merge 15 times or more (with N of 1000 or more 30 times) at random times: no finished work is lost or computed
again. Then it runs N shards of ten cells each as separate processes. Some of these crash, are started twice, or lose their journal; some journals are copied or damaged.
"""

import argparse
import collections
import json
import pathlib
import random
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable


class Run:
    """One config in one folder, run in shards."""

    def __init__(self, speclab: str, config: dict, folder: pathlib.Path, shards: int) -> None:
        self.speclab, self.folder, self.shards, self.out = speclab, folder, shards, folder / "out"
        (folder / "config.json").write_text(json.dumps(config))
        start = time.monotonic()
        self.call("run", folder / "config.json", "--out", folder / "alone", "--threads", "1")
        self.seconds = time.monotonic() - start

    def call(self, *arguments) -> subprocess.CompletedProcess:
        return subprocess.run([self.speclab, *map(str, arguments), "-q"], check=True, capture_output=True, text=True)

    def start(self, shard: int) -> subprocess.Popen:
        return subprocess.Popen([self.speclab, "run", self.folder / "config.json", "--out", self.out, "-q", "--threads", "1", "--shard",
                                 f"{shard}/{self.shards}"])

    def journals(self, shard: int) -> list[pathlib.Path]:
        return sorted((self.out / "shards").glob(f"{shard}-of-{self.shards}.*.jsonl"))

    def incomplete(self) -> list[int]:
        answer = subprocess.run([self.speclab, "status", self.out, "--json"], check=True, capture_output=True, text=True)
        return [state["shard"] for state in json.loads(answer.stdout)["states"] if not state["complete"]]

    def check_same(self) -> None:
        for file in ("result.json", "results.csv"):
            assert (self.out / file).read_bytes() == (self.folder / "alone" / file).read_bytes(), file


def killed_at_random(process: subprocess.Popen, seconds: float) -> bool:
    """Kills the process after some time. Returns whether it was still running then."""
    try:
        assert process.wait(timeout=seconds) == 0
        return False
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return True


def killed_after(process: subprocess.Popen, count: Callable[[], int], more: int, seconds: float) -> bool:
    """Kills the process once `count` has grown by `more` and some time has passed. Returns whether it was still running then."""
    begin = count()
    while process.poll() is None and count() < begin + more:
        time.sleep(1e-4)
    return killed_at_random(process, seconds)


def finished(run: Run, shard: int) -> int:
    """Returns the cells in the journals of a shard."""
    return sum(journal.read_bytes().count(b"\n") - 1 for journal in run.journals(shard))


def check_kills(speclab: str, folder: pathlib.Path, rng: random.Random, least: int) -> None:
    cells, shards = 8 * least, 4
    run = Run(speclab, {"title": "Kills", "experiment": "iid", "alpha": 0.7, "simulation": {"trials": 64, "length": 12000},
                        "sweep": {"/gamma": [1, 2, 3, 4, 5, 6, 7, 8], "/seed": {"from": 1, "to": cells // 8, "step": 1}}}, folder, shards)
    kills = 0
    for shard in range(1, shards + 1):
        while killed_after(run.start(shard), lambda: finished(run, shard), rng.randint(0, 8), rng.uniform(0, run.seconds / cells)):
            kills += 1
    times = collections.Counter()
    for shard in range(1, shards + 1):
        for journal in run.journals(shard):
            lines = journal.read_bytes().split(b"\n")[1:-1]  # the last line has no end if its process was killed
            times.update(json.loads(line[17:])["cell"] for line in lines)
    assert sorted(times) == list(range(cells)) and set(times.values()) == {1}, "a cell was lost, or computed again"
    assert kills >= least, kills

    start = time.monotonic()
    run.call("merge", run.out)
    seconds = time.monotonic() - start
    run.check_same()
    merges = 0
    for _ in range(2 * least // 3):
        for file in ("result.json", "results.csv", "report.html"):
            (run.out / file).unlink(missing_ok=True)
        merges += killed_at_random(subprocess.Popen([speclab, "merge", run.out, "-q"]), rng.uniform(0, seconds))
        for file in ("result.json", "results.csv"):
            if (run.out / file).exists():  # the file is whole, or missing
                assert (run.out / file).read_bytes() == (folder / "alone" / file).read_bytes(), file
    run.call("merge", run.out)
    run.check_same()
    print(f"{kills} kills of shards, {merges} of merges: no cell lost or computed twice, the bytes of one process")


def check_failures(speclab: str, folder: pathlib.Path, rng: random.Random, shards: int) -> None:
    run = Run(speclab, {"title": "Failures", "experiment": "iid", "simulation": {"trials": 8, "length": 40},
                        "sweep": {"/alpha": {"from": 0.001, "to": 0.999, "count": shards}, "/gamma": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}},
              folder, shards)
    count = collections.Counter()
    for shard in range(1, shards + 1):
        what = rng.choices(("none", "crash", "slow", "lost", "duplicate", "damaged"), (85, 3, 3, 3, 3, 3))[0]
        if what == "slow":  # a second process takes over while the first still runs
            both = [run.start(shard), run.start(shard)]
            assert [process.wait() for process in both] == [0, 0]
        elif what == "crash":
            killed_at_random(run.start(shard), rng.uniform(0, 0.02))
        else:
            assert run.start(shard).wait() == 0
        journals = run.journals(shard)
        if what == "lost":
            journals[0].unlink()
        elif what == "duplicate":
            shutil.copy(journals[0], journals[0].with_name(f"{shard}-of-{shards}.copy.jsonl"))
        elif what == "damaged":
            text = bytearray(journals[0].read_bytes())
            text[rng.randrange(text.index(b"\n"), len(text) - 1)] ^= 1
            journals[0].write_bytes(text)
        count[what] += 1
    start = time.monotonic()
    again = run.incomplete()
    status = time.monotonic() - start
    assert count["lost"] <= len(again) <= count["crash"] + count["lost"] + count["damaged"], (again, count)
    for shard in again:
        assert run.start(shard).wait() == 0
    assert run.incomplete() == []
    start = time.monotonic()
    run.call("merge", run.out)
    run.check_same()
    print(f"{shards} shards, {shards * 10} cells, {dict(count)}: {len(again)} run again; status {status:.1f} s, "
          f"merge {time.monotonic() - start:.1f} s; the bytes of one process")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("speclab")
    parser.add_argument("source_dir")
    parser.add_argument("--shards", type=int, default=100)
    options = parser.parse_args()
    rng = random.Random(21)
    with tempfile.TemporaryDirectory() as name:
        for part in ("kills", "failures"):
            (pathlib.Path(name) / part).mkdir()
        check_kills(options.speclab, pathlib.Path(name) / "kills", rng, 30 if options.shards >= 1000 else 15)
        check_failures(options.speclab, pathlib.Path(name) / "failures", rng, options.shards)


main()
