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
print("ok")
