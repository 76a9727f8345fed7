"""Drafters as functions from a context to a row: log q of every next token, after each token of a text."""

import collections

import numpy as np

from of_package import llama_numpy

DISCOUNT = 0.75  # subtracted from every count, for tokens not seen in a context


class Neural:
    def __init__(self, model):
        self.model = model

    def rows(self, prompt, tokens):
        """Log-probabilities [T, V] at the positions of `tokens`, which follow the prompt."""
        ids = np.array([list(prompt) + list(tokens)])
        logits, _ = self.model.logits(ids[:, :-1], self.model.start(1))
        return llama_numpy.log_softmax(logits[0, len(prompt) - 1:])


class Ngram:
    """An n-gram model: absolute discounting, interpolated down to a unigram to which half a count per token is added."""

    def __init__(self, order, vocab, texts):
        self.order = order
        counts = np.bincount(np.concatenate(texts), minlength=vocab) + 0.5
        self.unigram = counts / counts.sum()
        self.counts = [collections.defaultdict(collections.Counter) for _ in range(order - 1)]
        for text in texts:
            for length, table in enumerate(self.counts, 1):
                for i in range(length, len(text)):
                    table[tuple(text[i - length:i])][text[i]] += 1
        self.known = {}

    def row(self, context):
        """Probabilities after a context of at most order - 1 tokens."""
        context = tuple(context)
        if context not in self.known:
            row = self.unigram
            for length in range(1, len(context) + 1):
                found = self.counts[length - 1].get(context[len(context) - length:])
                if found:
                    total = sum(found.values())
                    row = row * (DISCOUNT * len(found) / total)
                    row[list(found)] += (np.array(list(found.values())) - DISCOUNT) / total
            self.known[context] = row
        return self.known[context]

    def rows(self, prompt, tokens):
        ids = [int(i) for i in prompt] + [int(i) for i in tokens]
        begin = len(prompt)
        return np.log(np.stack([self.row(ids[max(0, i - self.order + 1):i]) for i in range(begin, begin + len(tokens))]))


class Lookup:
    """Prompt lookup: proposes the token that followed the last occurrence of the previous two tokens, else of the
    previous one; or nothing."""

    def __init__(self, vocab):
        self.vocab = vocab

    def rows(self, prompt, tokens):
        ids = [int(i) for i in prompt] + [int(i) for i in tokens]
        out = np.full((len(tokens), self.vocab), -np.inf)
        last = {}
        for i in range(1, len(ids)):
            # Tokens before i are known. Contexts that end in i - 1 are looked up before they are stored.
            if i >= len(prompt):
                for length in (2, 1):
                    place = last.get(tuple(ids[i - length:i]))
                    if place is not None:
                        out[i - len(prompt), ids[place]] = 0
                        break
            for length in (1, 2):
                last[tuple(ids[max(0, i - length):i])] = i
        return out


def greedy(rows):
    """Rows at temperature 0: all probability is on the likeliest token, the first among equals. A row that proposes
    nothing stays empty."""
    out = np.full_like(rows, -np.inf)
    best = rows.argmax(-1)
    proposes = rows.max(-1) > -np.inf
    out[np.arange(len(rows))[proposes], best[proposes]] = 0
    return out
