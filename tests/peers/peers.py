#!/usr/bin/env python3
"""Compares speclab with established packages that compute the same: mpmath, SciPy, KenLM, transformers.

usage: peers.py SPECLAB_BINARY SOURCE_DIR
A package that is not installed is named and left out; without any of them the exit code is 77 (skipped). Exit code 1 if one
disagrees.
"""
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile

SPECLAB, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
failures = 0


def speclab(*arguments, code=0):
    found = subprocess.run([SPECLAB, *map(str, arguments)], capture_output=True, text=True)
    assert found.returncode == code, (arguments, found.returncode, found.stderr)
    return found.stdout


def near(name, found, expected, relative):
    global failures
    if abs(found - expected) > relative * abs(expected):
        failures += 1
        print(f"FAILED {name}: {found!r}, not {expected!r}")


def mpmath_closed_forms():
    """Compares Eq. 1 and Theorems 3.8 and 3.11 of Leviathan et al. 2023 with 60 digits, also near alpha = 1."""
    from mpmath import mp, mpf
    mp.dps = 60
    for alpha in 0.1, 0.5, 0.8, 0.99, 1 - 1e-6, 1 - 1e-12:
        for gamma in 1, 5, 17, 64:
            for c in 0.0, 0.05, 0.7:
                found = json.loads(speclab("predict", "--alpha", repr(alpha), "--gamma", gamma, "--c", c, "--c-hat", c, "--json"))
                a, cost = mpf(alpha), mpf(c)
                tokens = (1 - a**(gamma + 1)) / (1 - a)
                name = f"alpha {alpha!r}, gamma {gamma}, c {c}"
                near(name + ": Eq. 1", found["tokens_per_target_step"], float(tokens), 1e-12)
                near(name + ": Theorem 3.8", found["speedup"], float(tokens / (1 + gamma * cost)), 1e-12)
                near(name + ": Theorem 3.11", found["operations"], float((1 + gamma + cost * gamma) / tokens), 1e-12)
    return "72 settings of three closed forms"


def scipy_p_values():
    """Compares p-values of Pearson's statistic and of G at their degrees of freedom."""
    from scipy.stats import chi2
    compared = 0
    for seed in range(1, 6):
        found = json.loads(speclab("check", SOURCE / "configs/check_token.json", "--set", "check.samples=20000", "--seed", seed, "--json"))
        tests = [(found["pearson"], found["degrees"], found["pearson_p"]), (found["g"], found["degrees"], found["g_p"])]
        tests += [(at["pearson"], at["degrees"], at["pearson_p"]) for at in found["positions"]]
        for statistic, degrees, p in tests:
            near(f"seed {seed}: p of {statistic} at {degrees} degrees", p, chi2.sf(statistic, degrees), 1e-9)
            compared += 1
    return f"{compared} p-values"


def kenlm_rows():
    """Compares alpha of an ARPA file and its unigrams: rows by KenLM, contexts by the stationary distribution."""
    import kenlm
    file = SOURCE / "tests/fuzz/corpus/arpa/bigram.arpa"
    model, words = kenlm.Model(str(file)), ["a", "b", "</s>"]
    def row(last):
        state, context, out = kenlm.State(), kenlm.State(), kenlm.State()
        model.NullContextWrite(state)
        if last:
            model.BaseScore(state, last, context)
        scores = [10 ** model.BaseScore(context if last else state, word, out) for word in words]
        return [p / sum(scores) for p in scores]  # normalised over the words that can be emitted
    unigrams, rows = row(None), [row(word) for word in words]
    share = [1 / 3] * 3
    for _ in range(10000):
        share = [sum(share[i] * rows[i][j] for i in range(3)) for j in range(3)]
    alpha = sum(share[i] * sum(map(min, rows[i], unigrams)) for i in range(3))
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder) / "arpa.json"
        config.write_text(json.dumps({"title": "t", "models": {"target": {"kind": "arpa", "file": str(file), "row_error": 0.5}, "draft": {"kind": "arpa", "file": str(file), "order": 1, "row_error": 0.5}}}))
        found = json.loads(speclab("exact", config, "--json"))
    near("KenLM: exact alpha", found["classes"][0]["exact"]["alpha"], alpha, 1e-5)
    return "the rows of a bigram model"


def transformers_sampler():
    """Tests that _speculative_sampling has the target's distribution, unless the draft's rows are wrong."""
    for arguments, code in ([], 0), (["--argmax"], 1):
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as samples:
            subprocess.run([sys.executable, SOURCE / "scripts/audit_transformers.py", SOURCE / "configs/audit.json", "--sequences", "4000", *arguments],
                           stdout=samples, check=True)
            speclab("check", SOURCE / "configs/audit.json", "--samples", samples.name, code=code)
    return "its own sampler passes, with a wrong claim it fails"


ran = 0
for check, packages in ((mpmath_closed_forms, ["mpmath"]), (scipy_p_values, ["scipy"]), (kenlm_rows, ["kenlm"]),
                        (transformers_sampler, ["torch", "transformers"])):
    missing = [package for package in packages if importlib.util.find_spec(package) is None]
    if missing:
        print(f"skipped {check.__name__}: {', '.join(missing)} is not installed (python3 -m pip install {' '.join(packages)})")
        continue
    ran += 1
    print(f"{check.__name__}: {check()}")
sys.exit(1 if failures else 0 if ran else 77)
