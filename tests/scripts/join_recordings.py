"""Tests scripts/join_recordings.py on one text with several drafts.

usage: join_recordings.py SPECLAB SOURCE
"""

import json
import pathlib
import subprocess
import sys
import tempfile

speclab, source = sys.argv[1], pathlib.Path(sys.argv[2])
PAIR = {"title": "pair", "simulation": {"trials": 10, "length": 50},
        "models": {"target": {"kind": "table", "rows": [[0.5, 0.25, 0.25]]}, "draft": {"kind": "uniform"}}}
DRAFTS = {"uniform": {"kind": "uniform"}, "sharp": {"kind": "table", "rows": [[0.8, 0.2, 0]]}}


def expect(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def run(*words):
    return subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)


def alpha(*words):
    return json.loads(run(speclab, "plan", "recording", *words, "--c", "0.1", "--json").stdout)["alpha"]


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    join = source / "scripts/join_recordings.py"
    for draft, model in DRAFTS.items():
        config = PAIR | {"models": PAIR["models"] | {"draft": model}}
        (folder / f"{draft}.json").write_text(json.dumps(config), encoding="utf-8")
        expect(run(speclab, "record", folder / f"{draft}.json", "--out", folder / f"{draft}.csv").returncode == 0, draft)
    words = [f"{draft}={folder / draft}.csv" for draft in DRAFTS]
    done = run(sys.executable, join, "--out", folder / "both.csv", *words)
    expect(done.returncode == 0, done.stderr)
    # Each column equals the draft's own recording.
    for draft in DRAFTS:
        expect(alpha(folder / "both.csv", "--column", draft) == alpha(folder / f"{draft}.csv"), f"alpha of {draft}")
    done = run(sys.executable, join, "--out", folder / "round.csv", "--digits", 3, *words)
    expect(abs(alpha(folder / "round.csv", "--column", "sharp") - alpha(folder / "sharp.csv")) < 1e-3, "digits")
    # Another text is refused; the message names the line.
    run(speclab, "record", folder / "sharp.json", "--out", folder / "other.csv", "--seed", 99)
    done = run(sys.executable, join, "--out", folder / "x.csv", words[0], f"sharp={folder / 'other.csv'}")
    expect(done.returncode != 0 and "another text" in done.stderr, f"another text: {done.stderr}")
    done = run(sys.executable, join, "--out", folder / "x.csv", words[0], words[0])
    expect(done.returncode != 0 and "another name" in done.stderr, "one name twice")
    done = run(sys.executable, join, "--out", folder / "x.csv", "a=none.csv")
    expect(done.returncode != 0 and "none.csv" in done.stderr, "no such file")
    # Columns that would get lost are refused by name: a joined file's drafters, depths, and unknown ones.
    sharp = (folder / "sharp.csv").read_text(encoding="utf-8").splitlines()
    for column in ("logq.a", "logq_depth2", "confidence"):
        wider = [sharp[0] + "," + column, *(line + ",-1" for line in sharp[1:])]
        (folder / "wider.csv").write_text("\n".join(wider) + "\n", encoding="utf-8")
        done = run(sys.executable, join, "--out", folder / "lost.csv", words[0], f"wider={folder / 'wider.csv'}")
        expect(done.returncode != 0 and column in done.stderr and "wider.csv" in done.stderr, f"{column}: {done.stderr}")
        expect(not (folder / "lost.csv").exists(), f"{column}: a file was written")
    # Bad input is refused with its place, and the older file stays.
    (folder / "old.csv").write_text("older", encoding="utf-8")

    def refused(text, *said, words=()):
        (folder / "bad.csv").write_bytes(text)
        done = run(sys.executable, join, "--out", folder / "old.csv", *words, words_of["sharp"], f"bad={folder / 'bad.csv'}")
        expect(done.returncode == 2 and done.stderr.count("\n") == 1 and all(one in done.stderr for one in ("bad.csv", *said)), f"{said}: {done}")
        expect((folder / "old.csv").read_text(encoding="utf-8") == "older" and not list(folder.glob("*.part")), f"{said}: a file was written")

    words_of = dict(zip(DRAFTS, words)) | {"sharp": f"sharp={folder / 'sharp.csv'}"}
    columns = sharp[0].split(",")
    for column, value in (("logp", "nan"), ("logp", "-inf"), ("logp", "0.5"), ("logq", "hello"), ("logq", "0.5"), ("logq", "nan"), ("token", "77"), ("logp", "-9")):
        fields = sharp[300].split(",")
        fields[columns.index(column)] = value
        changed = "\n".join([*sharp[:300], ",".join(fields), *sharp[301:]]) + "\n"
        refused(changed.encode(), ":301", column, value)
    for line in (sharp[300] + ",9", sharp[300].rpartition(",")[0]):
        refused("\n".join([*sharp[:300], line, *sharp[301:]]).encode(), ":301", "fields", words=("--digits", 2))
    refused("\n".join(sharp).encode()[:-2] + b"\xff\n", "UTF-8")
    refused((sharp[0] + "\n").encode(), "no tokens")
    done = run(sys.executable, join, "--out", folder / "sharp.csv", *words)
    expect(done.returncode == 2 and (folder / "sharp.csv").read_text(encoding="utf-8").splitlines() == sharp, f"an input as --out: {done}")
    done = run(sys.executable, join, "--out", folder / "nowhere/x.csv", *words)
    expect(done.returncode == 2 and "nowhere/x.csv" in done.stderr and done.stderr.count("\n") == 1, done)
    done = run(sys.executable, join, "--out", "/dev/stdout", *words)
    expect(done.returncode == 0 and done.stdout.startswith((folder / "both.csv").read_text(encoding="utf-8")), "no regular file")
print("ok")
