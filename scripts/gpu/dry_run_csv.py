#!/usr/bin/env python3
"""Writes kernels/results/dry-run.csv: launches, bytes and scratch memory of one sequence's call, by method, number of drafted tokens and
vocabulary, as the dry run counts them for fp16 logits and an acceptance of .5.

usage: dry_run_csv.py SPECLAB [--check]      --check compares the file with the program instead
"""

import json
import pathlib
import subprocess
import sys

FILE = pathlib.Path(__file__).resolve().parents[2] / "kernels/results/dry-run.csv"
GAMMAS = (1, 2, 3, 5, 10, 15, 20)
VOCABS = (32000, 51865, 151936, 256000)  # Llama 2, Whisper, Qwen, Gemma


def main():
    sizes = ";".join(f"1,{gamma},{vocab}" for vocab in VOCABS for gamma in GAMMAS)
    words = [sys.argv[1], "bench", "kernels", "--dry-run", "--json", "--sizes", sizes, "--dtype", "f16", "--alpha", ".5"]
    points = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)["points"]
    lines = ["requests,gamma,vocab,dtype,alpha,method,launches,bytes_moved,workspace_bytes"]
    for point in points:
        for method in point["methods"]:
            moved = method["bytes_read"] + method["bytes_written"]
            lines.append(",".join(map(str, (point["requests"], point["gamma"], point["vocab"], point["dtype"], point["alpha"], method["method"],
                                            len(method["launches"]), round(moved), method["workspace_bytes"]))))
    text = "\n".join(lines) + "\n"
    if "--check" in sys.argv:
        sys.exit(None if FILE.read_text() == text else f"{FILE} is not what the program counts: run {sys.argv[0]} {sys.argv[1]}")
    FILE.write_text(text)


if __name__ == "__main__":
    main()
