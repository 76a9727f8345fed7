"""Tests `speclab reproduce --paper wagner`: its page, its bytes and its verdicts.

usage: paper_wagner.py SPECLAB SOURCE
"""

import csv
import json
import pathlib
import subprocess
import sys
import tempfile
from collections import Counter

speclab, source = sys.argv[1], pathlib.Path(sys.argv[2])


def expect(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def run(*words):
    return subprocess.run([speclab, *map(str, words)], cwd=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)


with tempfile.TemporaryDirectory() as folder:
    out = pathlib.Path(folder)
    wrong = run("reproduce", "--paper", "wagnr", "--out", out / "x")
    expect(wrong.returncode == 2 and 'did you mean "wagner"' in wrong.stderr, f"an unknown paper: {wrong.stderr}")

    sections = json.loads((source / "configs/papers/wagner.json").read_text())["sections"]
    expect(sorted(sections) == sorted(file.stem for file in source.glob("configs/wagner/*.json")), "the index names every config")
    # The others need data/austen.txt.
    here = [name for name in sections if name not in ("table8", "calls-simulated")]
    for threads in (1, 3):
        done = run("reproduce", "--paper", "wagner", "--only", ",".join(here), "--threads", threads, "--out", out / str(threads), "--quiet")
        expect(done.returncode == 0, done.stderr)
    page = (out / "1/report.html").read_text()
    for name in here:
        expect(f'id="{name}"' in page, f"the page has section {name}")
        expect((out / f"1/{name}/result.json").read_bytes() == (out / f"3/{name}/result.json").read_bytes(), f"{name}: bytes by threads")

    with open(out / "1/summary.csv", encoding="utf-8") as file:
        judged = Counter((row["config"], row["verdict"]) for row in csv.DictReader(file) if row["source"] == "paper")
    claims = out / "claims.csv"
    if (source / "results/claims/sources/wagner-2024.json").exists():
        subprocess.run([sys.executable, source / "results/claims/judge.py", "--only", "wagner-2024", "--csv", claims], check=True, stdout=subprocess.PIPE)
        with open(claims, encoding="utf-8") as file:
            theirs = Counter(row["verdict"] for row in csv.DictReader(file) if row["quantity"].startswith("saving per step"))
        for ours, words in (("reproduces", "follows"), ("cut off instead of rounded", "cut off, not rounded"),
                            ("within input rounding", "within the rounding of its inputs")):
            expect(judged["table6", ours] == theirs[words], f"Table 6, {ours}: {judged['table6', ours]} here, {theirs[words]} in the claims")

    # A planted wrong digit: 11.2% printed as 12.2%.
    planted = json.loads((source / "configs/wagner/table6.json").read_text())
    at = next(i for i, one in enumerate(planted["cases"]) if one["printed"]["percent_saved"] == "11.2")
    planted["cases"][at]["printed"]["percent_saved"] = "12.2"
    (out / "planted.json").write_text(json.dumps(planted))
    run("run", out / "planted.json", "--out", out / "planted", "--quiet")
    cell = json.loads((out / "planted/result.json").read_text())["cells"][at]
    expect(cell["verdict"]["percent_saved"] == "does not reproduce", f"a planted digit is found: {cell['verdict']}")

    for word, change in (("/printed/quantity", "printed.quantity=speedup"), ("/printed/from", "printed.from=[\"x\"]"), ("/printed/to", "printed.to=[]")):
        bad = run("run", "configs/wagner/table6.json", "--set", change, "--set", "cases=null", "--set", "printed.from=[\"4\"]" if "to" in change else "printed.to=[\"3\"]")
        expect(bad.returncode == 2 and word in bad.stderr, f"{change}: {bad.stderr}")
check = subprocess.run([sys.executable, source / "scripts/gpu/dry_run_csv.py", speclab, "--check"], stderr=subprocess.PIPE, text=True, check=False)
expect(check.returncode == 0, check.stderr)
print("passed")
