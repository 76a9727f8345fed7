"""Tests that proofs use the decimals as they were written: in a config, as arrays, and on the command line."""

import json
import os
import random
import subprocess
from fractions import Fraction

import numpy as np
import pytest

import speclab
from configs_test import own_part
from speclab import prove

PROGRAM = os.environ.get("SPECLAB_BINARY")


def written_row(draws, vocab, digits):
    """Positive numbers with this many digits, as text, that sum to 1 within the tolerance."""
    weights = [draws.expovariate(1) + 0.01 for _ in range(vocab)]
    row = [float(f"{weight / sum(weights):.{digits}g}") for weight in weights]
    return row if abs(sum(row) - 1) < 1e-3 else [*row[:-1], round(1 - sum(row[:-1]), 3)] if sum(row[:-1]) < 1 else [1.0] + [0.0] * (vocab - 1)


def pairs(count, seed):
    draws = random.Random(seed)
    for number in range(count):
        vocab, digits = draws.choice([2, 3, 4]), 1 + number % 17
        contexts = draws.choice([1, vocab])
        yield tuple([written_row(draws, vocab, digits) for _ in range(contexts)] for _ in range(2))


def exactly(rows):
    fractions = [[Fraction(repr(p)) for p in row] for row in rows]
    return tuple(tuple(p / sum(row) for p in row) for row in fractions)


def config(target, draft, rule="token", gamma=1):
    models = {"target": {"kind": "table", "rows": target}, "draft": {"kind": "table", "rows": draft}}
    return {"title": "t", "models": models, "rule": {"kind": rule}, "gamma": gamma}


@pytest.mark.parametrize("count", [300, pytest.param(1000, marks=pytest.mark.slow)])
def test_many_tables(count):
    for target, draft in pairs(count, 5):
        by_config = prove(config(target, draft))
        given = len(target) == 1
        by_rows = prove("token", target[0] if given else target, np.array(draft), 1)
        assert by_config.target == by_rows.target == exactly(target)
        assert by_config.draft == by_rows.draft == exactly(draft)
        assert by_config.law == by_rows.law and by_config.acceptance == by_rows.acceptance
        assert by_config.lossless and by_rows.lossless


@pytest.mark.skipif(PROGRAM is None, reason="SPECLAB_BINARY is not set")
def test_on_the_command_line(tmp_path):
    file = tmp_path / "pair.json"

    def told(*arguments):
        return own_part(subprocess.run([PROGRAM, "prove", *arguments, "--exact", "--json"], check=False, capture_output=True, text=True).stdout)

    def text(rows):
        return ";".join(",".join(map(repr, row)) for row in rows)

    for target, draft in pairs(17, 6):  # each number of digits once
        file.write_text(json.dumps(config(target, draft, "fault-accept-all")))
        by_config = told(str(file))
        by_options = told("--rule", "fault-accept-all", "--target", text(target), "--draft", text(draft))
        assert by_config == by_options
        if by_config["rows"] == "given":
            assert [[Fraction(p) for p in row] for row in by_config["target"]] == [list(row) for row in exactly(target)]


def test_models_of_configs_have_the_same_rows():
    for target, _ in pairs(100, 7):
        model = speclab.models.from_config({"kind": "table", "rows": target})
        for last, row in enumerate(exactly(target)):
            assert model([last]) == pytest.approx([float(p) for p in row], rel=1e-14)
