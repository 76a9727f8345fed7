"""Grammars from regular expressions, against `re` on all short texts; and the same numbers from a config file and from Python."""

import itertools
import json
import random
import re

import pytest

import speclab
from configs_test import SOURCE, needs_program, program

TEXTS = ["a", "b", "ab", "ba", "c"]
PATTERNS = ["(ab)*", "a+b?c*", "(a|bc)*", "[^a]b+", "(?:ab?){2,3}", ".*c", "a(b|c)?", "(ab|ba|c)*", "b{0,2}(a|ab)*", "[^]a]*", "[]a]", "(?i:A|B)*?c??"]


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
    """With an end token: it is allowed after exactly the texts that match whole, and leads back; a text is allowed if it begins one."""
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
            assert allowed(table, (*tokens, end)) == (0 if text in whole else None), text


LETTERS = "ab]\nB1"
ATOMS = ["a", "b", "c", ".", "]", "\\.", "[^a]", "[]a]", "[^]a]", "[a-c]", "[ab-]", r"\w", r"\n", r"\x61", r"[^\W]", r"\141", r"[\d_]", r"\s", "(?i:b)", "(?s:.)"]
GROUPS = ["(", "(?:", "(?i:", "(?s:", "(?-i:"]
REPEATS = ["*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}", "{,2}", "{0,1}?", "{2,}", "{2,3}?"]


def drawn(draw, depth):
    """A random pattern."""
    kind = draw.randrange(10) if depth else 0
    if kind < 3:
        return draw.choice(ATOMS)
    if kind < 5:
        return "".join(drawn(draw, depth - 1) for _ in range(draw.randrange(4)))
    if kind < 7:
        return draw.choice(GROUPS) + "|".join(drawn(draw, depth - 1) for _ in range(draw.randrange(1, 4))) + ")"
    return f"(?:{drawn(draw, depth - 1)}){draw.choice(REPEATS)}"


def first_difference(table, matches, texts):
    """The first text for which the table and `re` differ on whether it is whole."""
    return next((text for text in texts if bool(matches(text)) != (allowed(table, [*map(LETTERS.index, text), len(LETTERS)]) == 0)), None)


def test_random_patterns():
    """Against `re` on all texts of three letters, and a planted fault: a way that is missing is found."""
    texts = ["".join(letters) for n in range(4) for letters in itertools.product(LETTERS, repeat=n)]
    draw, whole, planted = random.Random(1), 0, 0
    for _ in range(400):
        pattern = draw.choice(["", "(?i)", "(?s)", "(?x) "]) + drawn(draw, 4)
        matches = re.compile(pattern, re.ASCII).fullmatch
        matching = [text for text in texts if matches(text)]
        try:
            table = speclab.grammar(pattern, [*LETTERS, None], end=len(LETTERS))
        except ValueError as problem:
            assert "no text of these tokens matches" in str(problem) and not matching, pattern
            continue
        assert first_difference(table, matches, texts) is None, pattern
        whole += len(matching)
        if whole_text := next(filter(None, matching), None):
            token = str(LETTERS.index(whole_text[0]))
            less = [{key: to for key, to in table[0].items() if key != token}, *table[1:]]
            assert first_difference(less, matches, texts) is not None, pattern
            planted += 1
    assert whole > 10_000 and planted > 200


def test_what_ends_a_text():
    """Without an end token each allowed text can go on; after it the next match begins."""
    assert speclab.grammar("(ab|c)*", ["a", "b", "c"]) == [{"0": 1, "2": 0}, {"1": 0}]
    assert speclab.grammar("ab", ["a", "b", "</s>"], end=2) == [{"0": 1}, {"1": 2}, {"2": 0}]
    assert speclab.grammar("(yes|no)?", [*"yesno", "</s>"], end=5) == [{"0": 1, "3": 2, "5": 0}, {"1": 3}, {"4": 4}, {"2": 4}, {"5": 0}]
    # A token may lead to a character from which no token goes on.
    assert speclab.grammar("(ab|c)*", ["a", "c"]) == [{"1": 0}]


@pytest.mark.parametrize("pattern, texts, end, part", [
    ("abc", ["a", "b"], None, "no text of these tokens matches"),
    ("abc", ["a", "b"], 1, "no text of these tokens matches"),
    ("(yes|no|maybe a*)!", list("yesnomabe! "), None, "no token can follow 'no!', which matches: give the id of an end token (end=), or a pattern that repeats"),
    ("a*(b|c)", ["a", "b", "c"], None, "no token can follow 'b'"),
    (r'\{"name": "[a-z]+"\}', list(map(chr, range(128))), None, """no token can follow '{"name": "a"}'"""),
    ("", ["a"], None, "no token can follow ''"),
    ("(a", ["a"], None, "Python's re does not take it: missing ), unterminated subpattern at position 0"),
    ("a**", ["a"], None, "Python's re does not take it: multiple repeat at position 2"),
    ("a{1,}{2}", ["a"], None, "Python's re does not take it: multiple repeat at position 5"),
    (r"(a)\1", ["a"], 0, "it has a reference to a group"),
    ("(a)(?(1)b|c)", ["a"], 0, "it has a condition on a group"),
    ("(?!ab)[abc]*", ["a"], 0, "it has a look-ahead or look-behind, which a grammar cannot hold: write it with literals"),
    ("a(?<=a)", ["a"], 0, "it has a look-ahead or look-behind"),
    ("^a", ["a"], 0, "it has an anchor or a boundary"),
    ("a?+a", ["a"], 0, "it has a possessive repeat"),
    ("(?>a)", ["a"], 0, "it has an atomic group"),
    ("(?!)", ["a"], 0, "it has a look-ahead or look-behind"),
    ("a", ["a"], 1, "end: 1; expected 0 to 0"),
    ("(){4000000000}a{4000000000}", ["a"], 0, "its automaton has more than 10,000 states"),
    ("[ab]*a[ab]{30}", ["a", "b"], None, "its automaton has more than 10,000 states: lower the counts of its repeats, such as {30}, or repeat without a count (*, +)"),
])
def test_refusals(pattern, texts, end, part):
    with pytest.raises(ValueError, match=re.escape(part)):
        speclab.grammar(pattern, texts, end=end)


@pytest.mark.parametrize(("pattern", "texts", "end", "part"), [
    ("a+", ["a", "</s>"], 0.5, "end: expected an integer, not float"),
    ("a+", ["a", "</s>"], "1", "end: expected an integer, not str"),
    ("a+", ["a", "</s>"], True, "end: expected an integer, not True"),
    ("a+", ["a", 2], None, "texts[1]: expected a text, not int"),
    (None, ["a"], None, "pattern: expected a text, not NoneType"),
    (b"a", ["a"], None, "pattern: expected a text, not bytes"),
])
def test_wrong_types(pattern, texts, end, part):
    with pytest.raises(TypeError, match=re.escape(part)):
        speclab.grammar(pattern, texts, end=end)


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


def test_texts_one_after_another():
    """A run emits matches, each with its end token, and the last may be cut."""
    end = 2
    law = speclab.prove(config(speclab.grammar("ab*", ["a", "b", None], end=end)) | {"prove": {"tokens": 6}}, exact=False).law
    texts = {"".join("ab;"[token] for token in tokens) for tokens in law}
    assert texts == {text for letters in itertools.product("ab;", repeat=6) if re.fullmatch("(ab*;)*(ab*)?", text := "".join(letters))}


def test_the_shipped_table():
    """The config of records holds what its text says."""
    shipped = json.loads((SOURCE / "configs/compare_records.json").read_text())
    pattern = re.search(r"speclab\.grammar\('(.*)', list", shipped["about"])[1]
    assert speclab.grammar(pattern, list(map(chr, range(256)))) == shipped["sampling"]["grammar"]
