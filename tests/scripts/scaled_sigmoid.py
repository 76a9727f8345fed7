"""Tests the experiment scaling against numpy, which has its own program of the rule: Wagner et al. 2024, Equations 1 to 3 and 5.

usage: scaled_sigmoid.py SPECLAB SOURCE

It compares every point of the two sections of `reproduce --paper wagner` that read recorded logits (our neural pair, SmolLM2 with a bigram) and,
where libllama and SmolLM2 are installed, ten points of SmolLM2 itself. Both sides compute in double and round after each step, so that points of
recorded logits agree to the order of sums. Rows of SmolLM2 itself are written in f32, which moves a logit by at most 1e-5.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: numpy is missing")
    sys.exit(77)

speclab, source = sys.argv[1], pathlib.Path(sys.argv[2])
EXACT = 1e-9
OF_F32_ROWS = 1e-5
RELATIVE = ("perplexity",)


def expect(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def run(*words):
    return subprocess.run([speclab, *map(str, words)], cwd=source, capture_output=True, text=True, check=False)


def rows_of(path):
    """The log-probabilities of target and draft in the rows that `speclab record` writes as .safetensors."""
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = file.read()
    rows = {}
    for name in ("target", "draft"):
        begin, end = header[name]["data_offsets"]
        rows[name] = np.log(np.frombuffer(data[begin:end], np.float32).reshape(header[name]["shape"]).astype(np.float64))
    return rows


def softmax(z):
    e = np.exp(z - z.max())
    return e / e.sum()


def round_bf16(x):
    """The nearest bfloat16: numpy has none, so that the bits of an f32 are rounded to even."""
    bits = np.asarray(x, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32).astype(np.float64)


ROUND = {"f64": np.float64, "f32": lambda x: np.float64(np.float32(x)), "f16": lambda x: np.float64(np.float16(x)), "bf16": round_bf16}


def sigmoids(z, scale, rounded):
    """Equation 5 with α = -scale and β = scale."""
    low = rounded(-scale)
    width = rounded(rounded(scale) - low)
    return rounded(1 / (1 + np.exp(-rounded(rounded(rounded(z) - low) / width))))


def point(target, draft, scale, form, fault=""):
    """What one position emits; None if the row is invalid. `fault` plants a fault."""
    rounded = ROUND["f64" if fault == "no rounding" else form]
    p, q = softmax(target), softmax(draft)
    p_hat, q_hat = (sigmoids(z, scale, rounded) for z in (target, draft))
    accepted = q * np.minimum(1, p / q if fault == "softmax accepts" else rounded(p_hat / q_hat))
    left = np.maximum(0, p - q if fault == "softmax replaces" else rounded(p_hat - q_hat))
    rejected = (q - accepted).sum()
    if np.isnan(accepted).any() or (left.sum() == 0 and rejected > 0):
        return None
    out = accepted + (rejected * left / left.sum() if left.sum() > 0 else 0)
    return {"first_token_acceptance": accepted.sum(), "tv_to_target": np.abs(out - p).sum() / 2, "tv_to_draft": np.abs(out - q).sum() / 2,
            "perplexity": -(out * np.log(p)).sum(), "greedy_agreement": float(out.argmax() == p.argmax())}


def means(rows, scale, form, fault=""):
    each = [point(target, draft, scale, form, fault) for target, draft in zip(rows["target"].astype(float), rows["draft"].astype(float))]
    valid = [one for one in each if one is not None]
    found = {name: np.mean([one[name] for one in valid]) for name in (valid[0] if valid else ())}
    if valid:
        found["perplexity"] = np.exp(found["perplexity"])
    return {**found, "invalid_rows": 1 - len(valid) / len(each)}


def differences(found, formula):
    """The largest difference of all numbers; infinite if they are not numbers of the same names."""
    if set(found) != set(formula):
        return np.inf
    return max(abs(found[name] - formula[name]) / (formula[name] if name in RELATIVE else 1) for name in found)


def compare(rows, cells, bound, what):
    """Compares the cells, and expects every planted fault to exceed ten times the bound in at least one of them."""
    points = [(float(cell["set"]["/scaling/scale"]), cell["set"]["/scaling/format"], cell["formula"]) for cell in cells
              if cell["set"]["/scaling/format"] != "softmax"]
    for scale, form, formula in points:
        found = means(rows, scale, form)
        expect(differences(found, formula) < bound, f"{what}, {form} at {scale}: {formula}, numpy {found}")
    for fault in ("softmax replaces", "softmax accepts", "no rounding"):
        worst = max(differences(means(rows, scale, form, fault), formula) for scale, form, formula in points)
        expect(worst > 10 * bound, f"{what}: the planted fault \"{fault}\" is found; the largest difference is {worst}")
    return len(points)


np.seterr(all="ignore")
with tempfile.TemporaryDirectory() as folder:
    out = pathlib.Path(folder)
    for name, file, count in (("table2-7", "austen_logits.npz", 20), ("table2-7-smollm2", "smollm2_logits.npz", 15)):
        done = run("run", f"configs/wagner/{name}.json", "--out", out / name, "--quiet")
        expect(done.returncode == 0, done.stderr)
        cells = json.loads((out / name / "result.json").read_text())["cells"]
        compared = compare(np.load(source / "configs/recorded" / file), cells, EXACT, name)
        expect(compared == count, f"{name}: {compared} points compared with numpy")

    few = ("--set", "simulation.trials=2", "--set", "simulation.length=2", "--set", "figures=null")
    done = run("record", "configs/smollm2/scaling.json", *few, "--set", "sweep=null", "--out", out / "rows.safetensors")
    if done.returncode == 2 and ("setup.sh neural" in done.stderr or not (source / "data/smollm2-135m.gguf").exists()):
        print("SmolLM2 itself is left out: libllama or the model is not installed")
    else:
        expect(done.returncode == 0, done.stderr)
        ten = '{"/scaling/format": ["f32", "bf16"], "/scaling/scale": [10, 100, 1000, 10000, 100000]}'
        done = run("run", "configs/smollm2/scaling.json", *few, "--set", f"sweep={ten}", "--out", out / "model", "--quiet")
        expect(done.returncode == 0, done.stderr)
        cells = json.loads((out / "model/result.json").read_text())["cells"]
        compared = compare(rows_of(out / "rows.safetensors"), cells, OF_F32_ROWS, "SmolLM2 itself")
        expect(compared == 10, f"SmolLM2 itself: {compared} points compared with numpy")
print("passed")
