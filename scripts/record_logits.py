#!/usr/bin/env python3
"""Writes logits of a target and a draft from GGUF files after texts of a recording, for the experiment scaling: an .npz archive of two arrays
[contexts, vocabulary], rounded to 1/256. Each context is the first tokens of one recorded sequence.

usage: record_logits.py TARGET.gguf DRAFT.gguf RECORDING.csv OUT.npz [--contexts 8] [--tokens 32]

Needs numpy.
"""

import argparse
import csv
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python/speclab"))
try:
    import numpy as np
    from _gguf.llama_numpy import Llama
except ImportError as missing:
    sys.exit(f"{missing}; pip install numpy")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("target", "draft", "recording", "out"):
        parser.add_argument(name, type=pathlib.Path)
    parser.add_argument("--contexts", type=int, default=8)
    parser.add_argument("--tokens", type=int, default=32)
    options = parser.parse_args()
    texts = {}
    with open(options.recording, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            texts.setdefault(row["sequence"], []).append(int(row["token"]))
    tokens = np.array([text[:options.tokens] for text in list(texts.values())[:options.contexts]])
    rows = {}
    for name in ("target", "draft"):
        model = Llama(getattr(options, name))
        logits = model.logits(tokens, model.start(len(tokens)))[0][:, -1]
        rows[name] = np.round(logits * 256).astype(np.float32) / np.float32(256)
    np.savez_compressed(options.out, **rows)


if __name__ == "__main__":
    main()
