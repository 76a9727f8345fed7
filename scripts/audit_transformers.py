#!/usr/bin/env python3
"""Emits sequences by the function that verifies drafts in Hugging Face transformers, as JSON lines for speclab check
CONFIG --samples FILE. The config's models must be tables with a row for each last token.

Needs torch and transformers. --ensemble W passes assistant_ensemble_weight; --argmax plants a mistake: the draft's most
probable token is drafted, but its softmax is passed as the distribution from which it was drawn.
"""
import argparse
import json
import sys

import torch
from transformers.generation.utils import _speculative_sampling


def rows_of(model):
    rows = torch.tensor(model["rows"], dtype=torch.float64)
    return rows / rows.sum(dim=1, keepdim=True)


def sequence(target, draft, gamma, tokens, ensemble, argmax):
    """The first tokens after token 0."""
    text = [0]
    while len(text) <= tokens:
        drafted = text[:]
        for _ in range(gamma):
            row = draft[drafted[-1]]
            drafted.append(int(row.argmax() if argmax else torch.multinomial(row, 1)))
        contexts = drafted[len(text) - 1:]
        emitted, _ = _speculative_sampling(
            torch.tensor([drafted]), draft[contexts[:-1]].log()[None], gamma, target[contexts].log()[None],
            **({"assistant_ensemble_weight": ensemble} if ensemble is not None else {}))
        text += emitted[0].tolist()
    return text[1:tokens + 1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config")
    parser.add_argument("--sequences", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ensemble", type=float)
    parser.add_argument("--argmax", action="store_true")
    arguments = parser.parse_args()
    torch.manual_seed(arguments.seed)
    torch.set_num_threads(1)
    with open(arguments.config, encoding="utf-8") as file:
        config = json.load(file)
    target, draft = (rows_of(config["models"][side]) for side in ("target", "draft"))
    for _ in range(arguments.sequences):
        tokens = sequence(target, draft, config["gamma"], config["check"]["tokens"], arguments.ensemble, arguments.argmax)
        json.dump({"tokens": tokens}, sys.stdout)
        print()


if __name__ == "__main__":
    main()
