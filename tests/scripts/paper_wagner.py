"""Tests `speclab reproduce --paper wagner`: its page, its bytes, and ten of its points against numpy.

usage: paper_wagner.py SPECLAB SOURCE
"""

import csv
import json
import pathlib
import subprocess
import sys
import tempfile
from collections import Counter

try:
    import numpy as np
except ImportError:
    print("skipped: numpy is missing")
    sys.exit(77)

speclab, source = sys.argv[1], pathlib.Path(sys.argv[2])
EXACT = 1e-9  # both compute in double; sums differ in order


def expect(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def run(*words):
    return subprocess.run([speclab, *map(str, words)], cwd=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)


def softmax(z):
    e = np.exp(z - z.max())
    return e / e.sum()


def round_bf16(x):
    """The nearest bfloat16: numpy has none, so that the bits of an f32 are rounded to even."""
    bits = np.asarray(x, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32).astype(np.float64)


ROUND = {"f64": lambda x: np.float64(x), "f32": lambda x: np.float64(np.float32(x)), "f16": lambda x: np.float64(np.float16(x)), "bf16": round_bf16}


def emitted(target, draft, scale, form):
    """Acceptance and total variation to target and draft of Eq. 5 and its residual, or None if a row is invalid."""
    rounded = ROUND[form]
    low = rounded(-scale)
    width = rounded(rounded(scale) - low)
    hat = [rounded(1 / (1 + np.exp(-rounded(rounded(rounded(z) - low) / width)))) for z in (target, draft)]
    p, q = softmax(target), softmax(draft)
    accepted = q * np.minimum(1, rounded(hat[0] / hat[1]))
    left = np.maximum(0, rounded(hat[0] - hat[1]))
    if np.isnan(accepted).any() or (left.sum() == 0 and accepted.sum() < 1 - 1e-12):
        return None
    out = accepted + ((1 - accepted.sum()) * left / left.sum() if left.sum() > 0 else 0)
    return accepted.sum(), np.abs(out - p).sum() / 2, np.abs(out - q).sum() / 2


np.seterr(all="ignore")
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
            theirs = Counter(row["verdict"] for row in csv.DictReader(file) if row["where"].startswith("Table 6"))
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

    rows = np.load(source / "configs/recorded/austen_logits.npz")
    points = 0
    for cell in json.loads((out / "1/table2-7/result.json").read_text())["cells"]:
        form, scale = cell["set"]["/scaling/format"], float(cell["set"]["/scaling/scale"])
        if form == "softmax":
            continue
        each = [emitted(t.astype(float), d.astype(float), scale, form) for t, d in zip(rows["target"], rows["draft"])]
        valid = [one for one in each if one is not None]
        formula = cell["formula"]
        expect(formula["invalid_rows"] == 1 - len(valid) / len(each), f"{form} at {scale}: invalid rows")
        points += 1
        if valid:
            for number, name in zip(np.mean(valid, axis=0), ("first_token_acceptance", "tv_to_target", "tv_to_draft")):
                expect(abs(number - formula[name]) < EXACT, f"{form} at {scale}: {name} {formula[name]}, numpy {number}")
    expect(points == 20, f"{points} points compared with numpy")
    for word, change in (("/printed/quantity", "printed.quantity=speedup"), ("/printed/from", "printed.from=[\"x\"]"), ("/printed/to", "printed.to=[]")):
        bad = run("run", "configs/wagner/table6.json", "--set", change, "--set", "cases=null", "--set", "printed.from=[\"4\"]" if "to" in change else "printed.to=[\"3\"]")
        expect(bad.returncode == 2 and word in bad.stderr, f"{change}: {bad.stderr}")
check = subprocess.run([sys.executable, source / "scripts/gpu/dry_run_csv.py", speclab, "--check"], stderr=subprocess.PIPE, text=True, check=False)
expect(check.returncode == 0, check.stderr)
print("passed")
