"""results/rules/other_rows.py: drafts within a filter or over another vocabulary keep the law; what they gain and lose."""

import os
import pathlib
import subprocess
import sys
from fractions import Fraction

import pytest

from speclab import drafter, optimum, prove

SOURCE = pathlib.Path(os.environ.get("SPECLAB_SOURCE", pathlib.Path(__file__).parents[2]))
sys.path.insert(0, str(SOURCE / "results/rules"))
import other_rows  # noqa: E402

HALF = Fraction(1, 2)


@pytest.fixture(scope="module")
def rows():
    return {row["draft"]: row for row in other_rows.table(30)}


def test_lossless_and_beside_the_optimum(rows):
    assert all(row["lossless"] == 30 for row in rows.values())
    assert all(row["block optimal"] == 30 and 0 < row["least"] <= row["token share"] <= 1 for row in rows.values() if "block optimal" in row)


def test_what_follows(rows):
    """Over the shared tokens q' >= q, so that TLI never emits fewer. Exact match accepts p(x), and the text's own rows
    min(1, p/q) >= p: SLEM never emits more than these."""
    assert rows["TLI"]["fewer"] == 0 < rows["TLI"]["more"]
    assert rows["letters, text with its rows"]["fewer"] == 0 < rows["letters, text with its rows"]["more"]
    assert rows["top-k 2, draft in it"]["fewer"] > 0 and rows["alike, top-k 2, draft in it"]["more"] > 0


def test_a_draft_within_the_filter_can_lose():
    """By hand: 1/2 + 1/4 + 0 of the whole row, 1/2 of the draft's own two likeliest, of which the target has one."""
    target, draft = [HALF, HALF, 0], [Fraction(4, 10), Fraction(1, 4), Fraction(35, 100)]
    assert prove("token", target, draft).acceptance == Fraction(65, 100)
    cut = other_rows.top_k(draft, 2)
    assert cut == [Fraction(8, 15), 0, Fraction(7, 15)] and prove("token", target, cut).acceptance == HALF
    assert optimum(target, cut).expected_emitted < optimum(target, draft).expected_emitted


def test_filter_is_that_of_the_program():
    """The program filters both models by "sampling", or the draft by its own "sampling": the same distribution and tokens, in doubles."""
    target, draft = [[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.3, 0.3, 0.4]], [[0.2, 0.5, 0.3], [0.4, 0.1, 0.5], [0.35, 0.4, 0.25]]
    exact = [[[Fraction(str(p)) for p in row] for row in model] for model in (target, draft)]
    cut = [[other_rows.top_k(row, 2) for row in model] for model in exact]
    models = {"target": {"kind": "table", "rows": target}, "draft": {"kind": "table", "rows": draft}}
    config = {"title": "t", "models": models, "gamma": 2, "rule": {"kind": "block"}, "sampling": {"top_k": 2}}
    for changes, rows in (({}, cut[1]), ({"sampling": {"temperature": 1}}, exact[1])):
        models["draft"] = {"kind": "table", "rows": draft, **changes}
        found, mine = prove(config), prove("block", cut[0], rows, 2)
        assert found.lossless and mine.lossless
        assert float(found.expected_emitted) == pytest.approx(float(mine.expected_emitted), abs=1e-12)


def test_faults_are_refuted():
    """Drawn within the shared tokens, verified against the whole row; and a text's rows that forget what came before."""
    target, whole = [HALF, HALF, 0], [Fraction(1, 5), Fraction(2, 5), Fraction(2, 5)]
    shared = other_rows.within(whole, {0, 1})
    for told in (shared, whole):
        draft = drafter(lambda draw, tokens, gamma, told=told: ([draw.categorical(shared)], [told]))
        assert prove("token", target, draft).lossless == (told is shared)

    texts, letters = [[Fraction(1, 4)] * 4] * 4, [[HALF, HALF, 0, 0]] * 4
    right = other_rows.by_text(letters, True)
    first = drafter(lambda draw, tokens, gamma: (lambda ids, rows: (ids, [rows[0]] * len(ids)))(*right(draw, tokens, gamma)))
    assert prove("token", texts, right, 3).lossless
    assert not prove("token", texts, first, 3).lossless


def test_texts():
    assert [other_rows.in_target_tokens(text) for text in ("", "a", "aba", "bbab")] == [(), (0,), (2, 0), (1, 3, 1)]
    law = other_rows.text_law([[HALF, HALF, 0, 0]] * 4, 3)
    assert sum(law.values()) == 1 and law[(2, 0)] == Fraction(1, 8)


def test_as_a_program():
    run = [sys.executable, "-B", SOURCE / "results/rules/other_rows.py", "--instances"]
    made = subprocess.run([*run, "2"], capture_output=True, text=True, check=True)
    assert made.stdout.splitlines()[0].split()[:2] == ["draft", "lossless"] and len(made.stdout.splitlines()) == 11
    assert subprocess.run([*run, "0"], capture_output=True).returncode == 2
