#!/usr/bin/env python3
"""Writes logits of a target and a draft for the experiment scaling, after texts of a recording: an .npz archive of two arrays [contexts,
vocabulary]. Each context is the first tokens of one recorded sequence.

usage: record_logits.py TARGET.gguf DRAFT RECORDING.csv OUT.npz [--contexts 8] [--tokens 32] [--parts 256]

DRAFT is a GGUF file, or a text (.txt): then the draft is an interpolated Kneser-Ney bigram of this text in the target's tokens, and the logits
of both are logarithms of probabilities, because a bigram has no others. Logits are rounded to 1/PARTS. Needs numpy; for a text, also tokenizers of PyPI and a target with SmolLM2's
tokenizer.
"""

import argparse
import csv
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python/speclab"))
try:
    import numpy as np
    from _gguf.llama_numpy import Llama
except ImportError as missing:
    sys.exit(f"{missing}; pip install numpy")


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


def smollm_ids(text, values):
    try:
        from tokenizers import Tokenizer, models, pre_tokenizers
    except ImportError as missing:
        sys.exit(f"{missing}; pip install tokenizers")
    if values["tokenizer.ggml.pre"] != "smollm":
        sys.exit(f"the target's tokenizer is {values['tokenizer.ggml.pre']}; a bigram of a text needs smollm")
    coder = Tokenizer(models.BPE(vocab={token: i for i, token in enumerate(values["tokenizer.ggml.tokens"])},
                                 merges=[tuple(pair.split(" ")) for pair in values["tokenizer.ggml.merges"]]))
    coder.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    return np.array(coder.encode(text).ids, np.int64)


class Bigram:
    """The formula of sim/models/kneser_ney.hpp at order 2."""

    def __init__(self, ids, vocab):
        def discount(counts):
            return (counts == 1).sum() / ((counts == 1).sum() + 2 * (counts == 2).sum())
        pairs, self.counts = np.unique(ids[:-1] * vocab + ids[1:], return_counts=True)
        self.before, self.after = pairs // vocab, pairs % vocab
        self.discount = discount(self.counts)
        seen = np.bincount(self.after, minlength=vocab)  # distinct tokens before each token
        d = discount(seen[seen > 0])
        self.unigram = (np.maximum(seen - d, 0) + d * (seen > 0).sum() / vocab) / seen.sum()

    def row(self, last):
        followers = self.before == last
        counts = self.counts[followers]
        if counts.size == 0:
            return self.unigram
        row = self.discount * counts.size / counts.sum() * self.unigram
        row[self.after[followers]] += (counts - self.discount) / counts.sum()
        return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("target", "draft", "recording", "out"):
        parser.add_argument(name, type=pathlib.Path)
    parser.add_argument("--contexts", type=int, default=8)
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--parts", type=int, default=256)
    options = parser.parse_args()
    texts = {}
    with open(options.recording, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            texts.setdefault(row["sequence"], []).append(int(row["token"]))
    tokens = np.array([text[:options.tokens] for text in list(texts.values())[:options.contexts]])
    target = Llama(options.target)
    models = {"target": target}
    rows = {}
    if options.draft.suffix == ".txt":
        bigram = Bigram(smollm_ids(options.draft.read_text(encoding="utf-8"), target.values), target.vocab)
        rows["draft"] = np.log([bigram.row(last) for last in tokens[:, -1]])
    else:
        models["draft"] = Llama(options.draft)
    for name, model in models.items():
        rows[name] = model.logits(tokens, model.start(len(tokens)))[0][:, -1]
    if "draft" not in models:
        rows["target"] = rows["target"] - np.logaddexp.reduce(rows["target"].astype(np.float64), axis=1, keepdims=True)
    np.savez_compressed(options.out, **{name: np.round(rows[name] * options.parts).astype(np.float32) / np.float32(options.parts)
                                        for name in ("target", "draft")})


if __name__ == "__main__":
    main()
