"""Measures how acceptance changes when a draft proposes from other rows than its own: restricted to the request's top-k, or over another
vocabulary than the target's. Each method is proved or refuted on random instances, and compared with the optimum (results/rules/README.md).

    python3 results/rules/other_rows.py --instances 500

Sources: drafts within the request's filter, vLLM pull request 56724; TLI and SLEM, Timor et al. 2025 (arXiv 2502.05202), as
`AssistantToTargetTranslator` and `AssistedCandidateGeneratorDifferentTokenizers` of transformers have them.
"""

import argparse
import itertools
import random
from fractions import Fraction

import speclab

#: The target's vocabulary and the draft's, for the pair that is compared as text.
TARGET_TOKENS, DRAFT_TOKENS = ("a", "b", "ab", "ba"), ("a", "b")


def normalised(weights):
    return [Fraction(weight) / sum(weights) for weight in weights]


def top_k(row, k):
    """The k most probable tokens; among equals those of lower id."""
    kept = sorted(range(len(row)), key=lambda x: (-row[x], x))[:k]
    return normalised([row[x] if x in kept else 0 for x in range(len(row))])


def within(row, ids):
    """TLI: the draft's row restricted to the tokens of both vocabularies; uniform over these if they have no probability."""
    weights = [row[x] if x in ids else 0 for x in range(len(row))]
    return normalised(weights if sum(weights) > 0 else [int(x in ids) for x in range(len(row))])


def row_after(rows, tokens):
    return rows[tokens[-1] if tokens else 0]


def in_target_tokens(text):
    """Tokenizes a text, longest token first, as most tokenizers do."""
    ids = []
    while text:
        ids.append(max((x for x, token in enumerate(TARGET_TOKENS) if text.startswith(token)), key=lambda x: len(TARGET_TOKENS[x])))
        text = text[len(TARGET_TOKENS[ids[-1]]) :]
    return tuple(ids)


def by_text(draft, own_rows):
    """A drafter over another vocabulary: it draws gamma tokens of its own, and proposes their text in the target's tokens. SLEM
    accepts a token if a token drawn from the target is the same; this is verification of a certain draft. With `own_rows` each
    token comes with its true probabilities, given the tokens before it."""

    @speclab.drafter
    def proposes(draw, tokens, gamma):
        drawn = ()
        for _ in range(gamma):
            drawn += (draw.categorical(row_after(draft, drawn)),)
        ids = in_target_tokens("".join(DRAFT_TOKENS[x] for x in drawn))
        law = text_law(draft, gamma) if own_rows else {ids: 1}
        rows = []
        for i in range(len(ids)):
            alike = [(other[i], p) for other, p in law.items() if other[:i] == ids[:i] and len(other) > i]
            rows.append(normalised([sum(p for x, p in alike if x == token) for token in range(len(TARGET_TOKENS))]))
        return ids, rows

    return proposes


def text_law(draft, gamma):
    """P(the drafted text is these tokens of the target). All texts have gamma letters, so the tokens so far tell where a text
    ends."""
    law = {}
    for drawn in itertools.product(range(len(DRAFT_TOKENS)), repeat=gamma):
        p = Fraction(1)
        for i, x in enumerate(drawn):
            p *= row_after(draft, drawn[:i])[x]
        ids = in_target_tokens("".join(DRAFT_TOKENS[x] for x in drawn))
        law[ids] = law.get(ids, 0) + p
    return law


def random_rows(draws, vocab, ids, count):
    return [normalised([draws.choice([0, 1, 2, 3, 5, 9]) * (x in ids) or int(x == min(ids)) for x in range(vocab)]) for _ in range(count)]


def instance(seed):
    """{name: (name to compare with, target, draft, gamma)}. Rows by the last token, over the union of both vocabularies. A draft
    that resembles the target is the mean of the target before its top-k and of other rows."""
    draws = random.Random(seed)
    vocab, gamma = draws.randint(3, 4), draws.randint(1, 3)
    everything = range(vocab)
    p, q = (random_rows(draws, vocab, everything, vocab) for _ in range(2))
    cut = [top_k(row, 2) for row in p]
    alike = [normalised([a + b for a, b in zip(*rows)]) for rows in zip(p, q)]
    # Token 0 is in both vocabularies; each other token is in one or both.
    places = [3] + [draws.choice([1, 2, 3]) for _ in range(vocab - 1)]
    of_target, of_draft = ([x for x in everything if places[x] & side] for side in (1, 2))
    theirs, own = random_rows(draws, vocab, of_target, vocab), random_rows(draws, vocab, of_draft, vocab)
    letters = random_rows(draws, 2, range(2), 2)
    texts = random_rows(draws, 4, range(4), 4)
    padded = [row + [0, 0] for row in letters * 2]  # the letters are the first two tokens of either vocabulary
    return {
        "top-k 2, draft whole": (None, cut, q, gamma),
        "top-k 2, draft in it": ("top-k 2, draft whole", cut, [top_k(row, 2) for row in q], gamma),
        "alike, top-k 2, draft whole": (None, cut, alike, gamma),
        "alike, top-k 2, draft in it": ("alike, top-k 2, draft whole", cut, [top_k(row, 2) for row in alike], gamma),
        "vocabularies as they are": (None, theirs, own, gamma),
        "TLI": ("vocabularies as they are", theirs, [within(row, set(of_target) & set(of_draft)) for row in own], gamma),
        "letters, TLI": (None, texts, padded, gamma),
        "letters, SLEM": ("letters, TLI", texts, by_text(padded, False), gamma),
        "letters, text with its rows": ("letters, SLEM", texts, by_text(padded, True), gamma),
    }


def measure(seed):
    """{name: tokens per round by token and by block verification, whether both are lossless, and the optimum}."""
    found = {}
    for name, (_, target, draft, gamma) in instance(seed).items():
        token, block = (speclab.prove(rule, target, draft, gamma) for rule in ("token", "block"))
        optimum = speclab.optimum(target, draft, gamma).expected_emitted if isinstance(draft, list) else None
        found[name] = (token.expected_emitted, block.expected_emitted, token.lossless and block.lossless, optimum)
    return found


def table(count):
    beside = {name: other for name, (other, *_) in instance(0).items()}
    measured = [measure(seed) for seed in range(count)]
    rows = []
    for name, other in beside.items():
        mine = [one[name] for one in measured]
        row = {"draft": name, "lossless": sum(one[2] for one in mine), "token": sum(one[0] for one in mine) / count, "block": sum(one[1] for one in mine) / count}
        if mine[0][3] is not None:
            shares = [one[0] / one[3] for one in mine]
            row |= {"token share": sum(shares) / count, "least": min(shares), "block optimal": sum(one[1] == one[3] for one in mine)}
        if other is not None:
            row |= {"more": sum(one[name][0] > one[other][0] for one in measured), "fewer": sum(one[name][0] < one[other][0] for one in measured)}
        rows.append(row)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--instances", type=int, default=500)
    count = parser.parse_args().instances
    if count < 1:
        parser.error(f"--instances {count}: expected 1 or more")
    rows = table(count)
    columns = ["draft", "lossless", "token", "block", "token share", "least", "block optimal", "more", "fewer"]
    text = [[f"{float(row[name]):.4f}" if isinstance(row.get(name), Fraction) else str(row.get(name, "")) for name in columns] for row in rows]
    widths = [max(len(line[i]) for line in [columns, *text]) for i in range(len(columns))]
    for line in [columns, ["─" * width for width in widths], *text]:
        print("  ".join(word.ljust(width) if i == 0 else word.rjust(width) for i, (word, width) in enumerate(zip(line, widths))).rstrip())


if __name__ == "__main__":
    main()
