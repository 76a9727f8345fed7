"""Tests the texts of servers: those of two servers against each other, and tokens against returned log-probabilities."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import _core
from ._server import Answer, Row

TOP = 20  #: returned tokens of each row
MIN_EXPECTED = 10  #: expected samples of a cell, as the tests count them
MAX_GROUPS = 64  #: cells that hold the rare sequences
NOT_RETURNED = 1e-4  #: lowest probability of the tokens that a row does not have: returned log-probabilities are rounded
RANKS = (1, 2, 3, 6, 12, TOP)  #: last ranks of the classes of tokens that are tested together
MIN_TEXTS = 4 * MIN_EXPECTED
END = "end of text"

Texts = list[tuple[int, Answer]]  #: number of the prompt, and the answer
Prefix = tuple[Any, ...]  #: number of the prompt, and the tokens so far


def planned_variation(requests: int, prompts: int, tokens: int, sides: int, rows: bool, level: float, power: float) -> float:
    """The total variation that the first test finds with probability `power`, for the largest number of classes that it can have."""
    if sides == 1:
        return detectable(prompts * TOP + 1, 1, requests, level, power, 1)
    return detectable(requests // MIN_EXPECTED + MAX_GROUPS, tokens, requests, level / (4 if rows else 1), power, 2)


def detectable(classes: int, tokens: int, samples: int, level: float, power: float, sides: int) -> float:
    """The total variation that a test of `samples` samples, from each of two sides or from one against a known distribution, finds
    with this power. Its noncentrality n Σ (p - q)² / (p + q) is at least 2 n TV², or with one side 4 n TV² (Cauchy-Schwarz)."""
    small = 1e-3
    length = tokens + 2 if sides == 2 else 1  # the number of the prompt comes first; rare texts have a test of their own
    return min(1.0, small * math.sqrt(sides * _core.samples_for(max(2, classes), length, small, level, power) / samples))


def judged_texts(texts: Sequence[Texts], tokens: int, rows: bool, level: float, power: float) -> list[dict[str, Any]]:
    """The tests of a speculative and perhaps a plain sample, with p-values adjusted over all."""
    speculative, plain = texts[0], texts[1] if len(texts) > 1 else None
    found: list[dict[str, Any]] = []
    if plain is not None:
        found.append({"test": "speculative and plain texts", **_two_samples(speculative, plain, tokens)})
    if rows:
        own = _rows_of(speculative, tokens)
        found.append({"test": "speculative tokens, its own rows", **_against(speculative, own, tokens)})
        if plain is not None:
            other = _rows_of(plain, tokens)
            found.append({"test": "speculative tokens, the plain server's rows", **_against(speculative, other, tokens)})
            found.append({"test": "plain tokens, its own rows", **_against(plain, other, tokens)})
    for one, p in zip(found, _core.holm([one["p"] for one in found])):
        one["p"] = p
        one["verdict"] = "different" if p <= level else "equal" if one["degrees"] else "not tested"
        # The run of the prompt emits first tokens, mostly without speculation, so only later ones count here.
        samples, sides = one.pop("later", one["samples"]), one.pop("sides")
        one["detectable_tv"] = detectable(one["degrees"] + 1, tokens, samples, level / len(found), power, sides) if one["degrees"] and samples else None
    return found


def _two_samples(first: Texts, second: Texts, tokens: int) -> dict[str, Any]:
    """Texts with the number of their prompt before them, so that a text is compared with those of its prompt. Rare texts share classes
    with their neighbours in the order of numbers, so the numbers of tokens must not depend on the sample in which they come."""
    if len({(prompt, *answer.tokens) for prompt, answer in first + second}) == len({prompt for prompt, _ in first}):
        return {"p": 1.0, "pearson": 0.0, "degrees": 0, "samples": len(first), "sides": 2, "worst": None}  # one text for each prompt
    padded = [[(prompt, [*answer.tokens, *[END] * (tokens - len(answer.tokens))]) for prompt, answer in texts] for texts in (first, second)]
    number_of = {token: at for at, token in enumerate(sorted({token for texts in padded for _, text in texts for token in text}))}
    test = _core.two_samples(*(np.array([[prompt, *map(number_of.__getitem__, text)] for prompt, text in texts], np.int32) for texts in padded))
    return {"p": test["adjusted_p"], "pearson": test["pearson"], "degrees": test["degrees"], "samples": len(first), "sides": 2, "worst": _worst(first, second, tokens)}


def _nexts(texts: Texts, tokens: int) -> dict[Prefix, Counter[str]]:
    """The tokens that came after each beginning."""
    found: dict[Prefix, Counter[str]] = defaultdict(Counter)
    for prompt, answer in texts:
        for at, token in enumerate(answer.tokens[:tokens]):
            found[(prompt, *answer.tokens[:at])][token] += 1
    return found


def _worst(first: Texts, second: Texts, tokens: int) -> dict[str, Any] | None:
    """The next token whose shares after one beginning differ by the most standard errors."""
    ours, theirs = _nexts(first, tokens), _nexts(second, tokens)
    worst: dict[str, Any] | None = None
    for prefix in ours.keys() & theirs.keys():
        n, m = ours[prefix].total(), theirs[prefix].total()
        for token in sorted(ours[prefix].keys() | theirs[prefix].keys()):
            one, two = ours[prefix][token], theirs[prefix][token]
            share = (one + two) / (n + m)
            errors = abs(one / n - two / m) / math.sqrt(share * (1 - share) * (1 / n + 1 / m)) if share < 1 else 0.0
            if worst is None or (errors, prefix, token) > (worst["errors"], worst["prefix"], worst["token"]):
                worst = {"errors": errors, "prefix": prefix, "token": token, "speculative": [one, n], "plain": [two, m]}
    return None if worst is None else {"prompt": worst["prefix"][0], "after": list(worst["prefix"][1:]), **{name: worst[name] for name in ("token", "errors", "speculative", "plain")}}


def _rows_of(texts: Texts, tokens: int) -> dict[Prefix, Row]:
    """Mean probabilities after each beginning: of the tokens that all of its rows have, because the last ones of a row change with
    rounding and with the emitted token. A text that several tokens can have is not among them. Rows are used up to the first
    position at which some are missing: llama.cpp returns none for accepted tokens, and to test only the others would select tokens."""
    sums: dict[Prefix, Row] = {}
    for at in range(tokens):
        counts: dict[Prefix, int] = defaultdict(int)
        here: dict[Prefix, Row] = {}
        for prompt, answer in texts:
            if at >= len(answer.tokens):
                continue
            row = answer.rows[at]
            if row is None:
                return sums
            if not row:
                continue
            prefix = (prompt, *answer.tokens[:at])
            counts[prefix] += 1
            top = sorted(row, key=lambda token: -row[token])[:TOP]
            kept = here.setdefault(prefix, dict.fromkeys((token for token in top if "\ufffd" not in token), 0.0))
            here[prefix] = {token: kept[token] + math.exp(row[token]) for token in top if token in kept}
        sums |= {prefix: {token: value / counts[prefix] for token, value in row.items()} for prefix, row in here.items()}
    return sums


def _against(texts: Texts, rows: Mapping[Prefix, Row], tokens: int) -> dict[str, Any]:
    """Tokens against rows at the same beginnings; tokens that a row does not have are one class. A beginning is tested alone if its
    likeliest class is expected often enough. All other ones are tested together, with the ranks of their tokens as classes; as their
    rows differ, their counts vary less than those of one row, and this part is conservative."""
    counts, expected = [], []
    together = np.zeros((2, len(RANKS) + 1))
    later = 0
    for prefix, seen in sorted(_nexts(texts, tokens).items()):
        if prefix not in rows:
            continue
        row = dict(sorted(rows[prefix].items(), key=lambda one: -one[1]))
        probabilities = np.array([*row.values(), max(NOT_RETURNED, 1 - sum(row.values()))])
        probabilities /= probabilities.sum()
        own = np.array([*(seen[token] for token in row), 0])
        own[-1] = seen.total() - own.sum()
        later += seen.total() * (len(prefix) > 1)
        if seen.total() * probabilities.max() >= MIN_EXPECTED:
            counts.append(own)
            expected.append(probabilities)
            continue
        classes = [*np.searchsorted(RANKS, np.arange(1, len(row) + 1)), len(RANKS)]
        np.add.at(together[0], classes, own)
        np.add.at(together[1], classes, seen.total() * probabilities)
    if together[0].sum() >= MIN_TEXTS:
        counts.append(together[0])
        expected.append(together[1] / together[1].sum())
    if not counts:
        return {"p": 1.0, "pearson": 0.0, "degrees": 0, "samples": 0, "later": 0, "sides": 1}
    width = max(map(len, counts))
    arrays = [np.array([np.pad(row, (0, width - len(row))) for row in values], kind) for values, kind in ((counts, np.uint64), (expected, np.float64))]
    test = _core.transitions(*arrays)
    return {"p": test["p"], "pearson": test["pearson"], "degrees": test["degrees"], "samples": test["samples"], "later": later, "sides": 1}
