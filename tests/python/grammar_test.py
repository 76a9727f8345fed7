"""Grammars from regular expressions, against `re` on all short texts; and the same numbers from a config file and from Python."""

import builtins
import itertools
import json
import re

import pytest

import speclab
from configs_test import SOURCE, needs_program, program

pytest.importorskip("interegular")

TEXTS = ["a", "b", "ab", "ba", "c"]
PATTERNS = ["(ab)*", "a+b?c*", "(a|bc)*", "[^a]b+", "(?:ab?){2,3}", ".*c", "a(b|c)?", "(ab|ba|c)*", "b{0,2}(a|ab)*"]


def allowed(table, tokens):
    """The state after tokens, or None where one is not allowed."""
    state = 0
    for token in tokens:
        state = table[state].get(str(token))
        if state is None:
            return None
    return state


@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_short_text(pattern):
    """With an end token: it is allowed after exactly the texts that match whole, and a text is allowed if it begins one."""
    end = len(TEXTS)
    table = speclab.grammar(pattern, [*TEXTS, None], end=end)
    whole = {"".join(letters) for n in range(9) for letters in itertools.product("abc", repeat=n) if re.fullmatch(pattern, "".join(letters))}
    starts = {text[:n] for text in whole for n in range(len(text) + 1)}
    for n in range(5):
        for tokens in itertools.product(range(end), repeat=n):
            text = "".join(TEXTS[token] for token in tokens)
            if len(text) > 5:  # longer texts may need more letters to end than are tried
                continue
            assert (allowed(table, tokens) is not None) == (text in starts), text
            assert (allowed(table, (*tokens, end)) is not None) == (text in whole), text


def test_what_ends_a_text():
    """Without an end token only texts that can go on are allowed; after it only itself follows."""
    assert speclab.grammar("(ab|c)*", ["a", "b", "c"]) == [{"0": 1, "2": 0}, {"1": 0}]
    assert speclab.grammar("a*(b|c)", ["a", "b", "c"]) == [{"0": 0}]
    table = speclab.grammar("ab", ["a", "b", "</s>"], end=2)
    assert table == [{"0": 1}, {"1": 2}, {"2": 3}, {"2": 3}]
    # A token may lead to a character from which no token goes on.
    assert speclab.grammar("(ab|c)*", ["a", "c"]) == [{"1": 0}]


@pytest.mark.parametrize("pattern, texts, end, part", [
    ("ab", ["a", "b"], None, "no text of these tokens matches"),
    ("abc", ["a", "b"], 1, "no text of these tokens matches"),
    ("(a", ["a"], None, "interegular does not take it"),
    (r"(a)\1", ["a"], None, "interegular does not take it"),
    ("a", ["a"], 1, "end: 1 is not the id of one of 1 tokens"),
])
def test_refusals(pattern, texts, end, part):
    with pytest.raises(ValueError, match=re.escape(part)):
        speclab.grammar(pattern, texts, end=end)


def test_without_the_library(monkeypatch):
    real = builtins.__import__

    def missing(name, *rest):
        if name == "interegular":
            raise ModuleNotFoundError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(ModuleNotFoundError, match="pip install interegular"):
        speclab.grammar("a", ["a"])


def config(grammar):
    rows = {"target": [5, 3, 2], "draft": [4, 4, 2]}
    return {"title": "regex", "gamma": 2, "sampling": {"grammar": grammar}, "prove": {"tokens": 4},
            "models": {name: {"kind": "table", "rows": [row]} for name, row in rows.items()}}


@needs_program
def test_equal_from_everywhere(tmp_path):
    path = tmp_path / "config.json"
    whole = config(speclab.grammar("(ab|c)*", ["a", "b", "c"]))
    path.write_text(json.dumps(whole))
    printed = json.loads(program("prove", path, "--json")[1])
    proof = speclab.prove(whole, exact=False)
    assert {",".join(map(str, tokens)): p for tokens, p in proof.law.items()} == printed["distribution"]
    assert all(re.fullmatch("(ab|c)*a?", "".join("abc"[int(token)] for token in tokens.split(","))) for tokens in printed["distribution"])
    other = speclab.prove(config(speclab.grammar("(ab|bc)*", ["a", "b", "c"])), exact=False)
    assert other.law != proof.law
    for given in ("(ab|c)*", {"regex": "(ab|c)*"}):
        path.write_text(json.dumps(config(given)))
        code, _, error = program("prove", path)
        assert code == 2 and "/sampling/grammar" in error and "speclab.grammar" in error


def test_the_shipped_table():
    """The config of records holds what its text says."""
    shipped = json.loads((SOURCE / "configs/compare_records.json").read_text())
    pattern = re.search(r"speclab\.grammar\('(.*)', list", shipped["about"])[1]
    assert speclab.grammar(pattern, list(map(chr, range(256)))) == shipped["sampling"]["grammar"]
