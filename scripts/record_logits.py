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
import pathlib
import sys

from of_package.whole_file import lines_of, one_line, positive, whole_file

try:
    import numpy as np
    from of_package.llama_numpy import Llama
except ImportError as missing:
    sys.exit(f"{missing}; pip install numpy")


def smollm_ids(text, values):
    try:
        from tokenizers import Tokenizer, models, pre_tokenizers
    except ImportError as missing:
        raise ValueError(f"{missing}; pip install tokenizers") from None
    if values["tokenizer.ggml.pre"] != "smollm":
        raise ValueError(f"the target's tokenizer is {values['tokenizer.ggml.pre']}; a bigram of a text needs smollm")
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


def contexts_of(path, options, vocab):
    """The first tokens of the first sequences."""
    texts, reader = {}, csv.DictReader(lines_of(path))
    try:
        for row in reader:
            word = row.get("token")
            if not word or row.get("sequence") is None or not word.isdecimal() or int(word) >= vocab:
                raise ValueError(f"{path}:{reader.line_num}: token {word!r}; expected columns sequence and token, with ids of the target, 0 to {vocab - 1}")
            texts.setdefault(row["sequence"], []).append(int(word))
    except csv.Error as error:
        raise ValueError(f"{path}: is no recording in CSV ({error})") from None
    long = [text[:options.tokens] for text in texts.values() if len(text) >= options.tokens]
    if len(long) < options.contexts:
        raise ValueError(f"{path}: {len(long)} of {len(texts)} sequences have {options.tokens} tokens, fewer than {options.contexts}; "
                         "give smaller --contexts or --tokens")
    return np.array(long[:options.contexts])


@one_line()
def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("target", "draft", "recording", "out"):
        parser.add_argument(name, type=pathlib.Path)
    parser.add_argument("--contexts", type=positive, default=8)
    parser.add_argument("--tokens", type=positive, default=32)
    parser.add_argument("--parts", type=positive, default=256)
    options = parser.parse_args()
    target = Llama(options.target)
    tokens = contexts_of(options.recording, options, target.vocab)
    models = {"target": target}
    rows = {}
    if options.draft.suffix == ".txt":
        bigram = Bigram(smollm_ids("".join(lines_of(options.draft)), target.values), target.vocab)
        rows["draft"] = np.log([bigram.row(last) for last in tokens[:, -1]])
    else:
        models["draft"] = Llama(options.draft)
        if models["draft"].vocab != target.vocab:
            raise ValueError(f"{options.draft}: {models['draft'].vocab} tokens, but {target.vocab} of {options.target}; both need one vocabulary")
    for name, model in models.items():
        rows[name] = model.logits(tokens, model.start(len(tokens)))[0][:, -1]
    if "draft" not in models:
        rows["target"] = rows["target"] - np.logaddexp.reduce(rows["target"].astype(np.float64), axis=1, keepdims=True)
    if odd := [name for name in rows if not np.isfinite(rows[name]).all()]:
        raise ValueError(f"{getattr(options, odd[0])}: logits of the {odd[0]} are not finite; is the file damaged, or a text too short?")
    with whole_file(options.out, "wb") as file:
        np.savez_compressed(file, **{name: np.round(rows[name] * options.parts).astype(np.float32) / np.float32(options.parts)
                                     for name in ("target", "draft")})


if __name__ == "__main__":
    main()
