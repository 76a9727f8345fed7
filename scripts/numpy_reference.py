#!/usr/bin/env python3
"""Speculative decoding in plain NumPy, as a yardstick for `speclab bench sim`.

Algorithm 1 of Leviathan, Kalman and Matias 2023, "Fast Inference from Transformers via Speculative Decoding",
for one sequence at a time, with a bigram model as the target and another as the draft. FOLDER holds both as
.npy files; for SIDE in target, draft:
  SIDE_unigram        probability of each token without a context
  SIDE_first          by context token: where its followers start in tokens and probabilities
  SIDE_count          by context token: how many followers it has
  SIDE_backoff        by context token: weight of the unigrams for all other tokens
  SIDE_tokens         followers of all contexts
  SIDE_probabilities  their probabilities
Prints JSON: rounds, emitted (tokens), seconds (processor time of decoding, without reading), accepted_lengths (how many
sequences accepted 0, 1, ... gamma drafted tokens in their last round; rounds of one sequence depend on each
other, those of different sequences do not).
"""
import argparse
import json
import pathlib
import time

import numpy as np


class Bigram:
    """A bigram model in back-off form."""

    def __init__(self, folder, side):
        def load(name):
            return np.load(folder / f"{side}_{name}.npy")

        self.unigram = load("unigram")
        self.first = load("first")
        self.count = load("count")
        self.backoff = load("backoff")
        self.tokens = load("tokens")
        self.probabilities = load("probabilities")

    def row(self, last):
        """P(next token | last token), for all of the vocabulary; `last` is None at the beginning."""
        if last is None:
            return self.unigram
        row = self.backoff[last] * self.unigram
        listed = slice(self.first[last], self.first[last] + self.count[last])
        row[self.tokens[listed]] = self.probabilities[listed]
        return row


def sample(weights, generator):
    """A token with probability proportional to its weight."""
    sums = np.cumsum(weights)
    return int(np.searchsorted(sums, generator.random() * sums[-1], side="right"))


def speculative_round(target, draft, last, gamma, generator):
    """One run of Algorithm 1: the new tokens, of which all but the last were drafted."""
    drafted = []
    draft_rows = []
    for _ in range(gamma):
        draft_rows.append(draft.row(drafted[-1] if drafted else last))
        drafted.append(sample(draft_rows[-1], generator))
    target_rows = [target.row(token) for token in [last, *drafted]]

    accepted = 0
    while accepted < gamma:
        token = drafted[accepted]
        if generator.random() > target_rows[accepted][token] / draft_rows[accepted][token]:
            break
        accepted += 1

    weights = target_rows[accepted]
    if accepted < gamma:
        weights = np.maximum(weights - draft_rows[accepted], 0)
    return [*drafted[:accepted], sample(weights, generator)]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--rounds", type=int, default=1000, help="rounds in all (default %(default)s)")
    parser.add_argument("--length", type=int, default=8,
                        help="rounds of a sequence, each from the beginning (default %(default)s)")
    parser.add_argument("--gamma", type=int, default=5, help="drafted tokens a round (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of numpy.random (default %(default)s)")
    options = parser.parse_args()
    if min(options.rounds, options.length, options.gamma) < 1:
        parser.error("--rounds, --length and --gamma are 1 or more")

    target = Bigram(options.folder, "target")
    draft = Bigram(options.folder, "draft")
    generator = np.random.default_rng(options.seed)
    sequences = -(-options.rounds // options.length)
    accepted_lengths = [0] * (options.gamma + 1)
    emitted = 0
    start = time.process_time()
    for _ in range(sequences):
        last = None
        for _ in range(options.length):
            tokens = speculative_round(target, draft, last, options.gamma, generator)
            emitted += len(tokens)
            last = tokens[-1]
        accepted_lengths[len(tokens) - 1] += 1
    seconds = time.process_time() - start
    print(json.dumps({"rounds": sequences * options.length, "emitted": emitted, "seconds": seconds,
                      "accepted_lengths": accepted_lengths}))


if __name__ == "__main__":
    main()
