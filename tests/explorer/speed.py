#!/usr/bin/env python3
"""Measures rounds per second of the page's engine under node, and of the program on one thread. Not a test.

usage: speed.py SPECLAB SOURCE_DIR FOLDER     FOLDER is where the page is built"""
import json
import pathlib
import subprocess
import sys
import tempfile

from build import built_page

speclab, source, folder = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
page = built_page(source, folder)
rows = {"target": [50, 30, 20], "draft": [10, 30, 60]}
table = {name: {"kind": "table", "rows": [row]} for name, row in rows.items()}
task = {**rows, "rule": "token", "parameter": 0, "gamma": 4, "seed": 1, "anew": 1}
million = 10**6
measured = {
    "token rule on rows of 3 tokens, γ = 4": (
        ["rounds", {**task, "count": 2 * million}], 2 * million,
        {"experiment": "decode", "engine": "plain", "seed": 1, "gamma": 4, "models": table,
         "simulation": {"trials": 2, "length": 5 * million}}, 10 * million),
    "block rule on the same rows": (
        ["rounds", {**task, "rule": "block", "count": 2 * million}], 2 * million,
        {"experiment": "decode", "engine": "plain", "seed": 1, "gamma": 4, "models": table, "rule": {"kind": "block"},
         "simulation": {"trials": 2, "length": 2 * million}}, 4 * million),
    "independent acceptances, γ = 5": (
        ["iid_rounds", {"alpha": 0.7, "gamma": 5, "seed": 1, "length": million, "anew": 1, "count": 20 * million}], 20 * million,
        {"experiment": "iid", "alpha": 0.7, "gamma": 5, "seed": 1, "simulation": {"trials": 64, "length": 15 * million}}, 960 * million),
}


def in_page(query, rounds):
    run = subprocess.run(["node", pathlib.Path(__file__).parent / "answers.mjs", source, page, "--seconds"],
                         input=json.dumps([query, query, query]), capture_output=True, text=True, check=True)
    return rounds / min(json.loads(run.stdout))


def in_program(config, rounds):
    with tempfile.TemporaryDirectory() as scratch:
        file = pathlib.Path(scratch) / "config.json"
        file.write_text(json.dumps({"title": "speed", **config}))
        seconds = []
        for _ in range(3):
            subprocess.run([speclab, "run", file, "--threads", "1", "--out", f"{scratch}/out", "--force"], check=True, capture_output=True)
            seconds.append(json.loads((pathlib.Path(scratch) / "out" / "timings.json").read_text())["seconds"])
        return rounds / min(seconds)


for name, (query, rounds, config, more_rounds) in measured.items():
    ours, theirs = in_page(query, rounds), in_program(config, more_rounds)
    print(f"{name}: page {ours / 1e6:.2f} million rounds a second, program {theirs / 1e6:.2f}, ratio {ours / theirs:.3f}", flush=True)
