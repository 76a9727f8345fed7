"""Tests speclab.time_pair on an engine in pure Python whose clock counts its steps: nothing waits, and all times are exact."""

import json
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import speclab
from speclab.engines import _acceptance, _clock, engine_of, names

SOURCE = pathlib.Path(os.environ["SPECLAB_SOURCE"])
PAIR = {**json.loads((SOURCE / "configs/audit_engine.json").read_text()), "simulation": {"prompt": [0]}}
TARGET, DRAFT = (np.array(PAIR["models"][side]["rows"], dtype=float) for side in ("target", "draft"))
TOY = (SOURCE / "tests/python/toy_engine.py").read_text().replace("ROWS = [], []", f"ROWS = {TARGET.tolist()}, {DRAFT.tolist()}")
CLOCK = """
import dataclasses
now = 0.0
time.monotonic = lambda: now
def cost(gamma, slots):
    return COST
def timed(loaded, settings, numbers, tokens):
    global now
    for first in range(numbers.start, numbers.stop, settings.slots):
        texts = list(decode(loaded, settings, range(first, first + settings.slots), tokens))
        now += cost(settings.gamma, settings.slots) * sum(text.steps for text in texts) / len(texts)
        yield from texts
ENGINE = dataclasses.replace(ENGINE, decode=timed, slots=SLOTS, ways=(Way("draft", "a token drawn from the draft", "Σ min(p, q)"),))
"""
COST = "(1 + gamma / 4) * (1 + slots / 8)"


def cost(gamma, slots):
    return (1 + gamma / 4) * (1 + slots / 8)


def clocked(folder, of_step=COST, slots=16):
    """An adapter file."""
    file = folder / "clocked.py"
    file.write_text(TOY + CLOCK.replace("COST", of_step).replace("SLOTS", str(slots)))
    return str(file)


SMALL = {"at_once": (1, 4), "sequences": 8, "tokens": 60, "repeats": 4, "progress": False}


@pytest.fixture(scope="module")
def right(tmp_path_factory):
    folder = tmp_path_factory.mktemp("right")
    return speclab.time_pair(clocked(folder), PAIR, out=folder / "out", **SMALL), folder


def test_costs_are_the_engines_and_predictions_follow_from_them(right):
    found, _ = right
    assert [(row["at_once"], row["gamma"]) for row in found.rows] == [(slots, gamma) for slots in (1, 4) for gamma in range(7)]
    assert [row["kind"] for row in found.rows[:7]] == ["plain", "calibrated", "predicted", "predicted", "calibrated", "predicted", "predicted"]
    for row in found.rows:
        gamma, slots = row["gamma"], row["at_once"]
        assert row["seconds_per_step"]["value"] == pytest.approx(cost(gamma, slots), abs=1e-6)
        if gamma == 0:
            assert row["seconds_per_token"]["value"] == pytest.approx(cost(0, slots) / slots, abs=1e-6)
            continue
        assert row["step_predicted"]["value"] == pytest.approx(cost(gamma, slots), abs=1e-6)
        steps = _acceptance.tokens_per_step("Σ min(p, q)", TARGET, DRAFT, gamma, 60, 0, False)
        assert row["expected"]["value"] == pytest.approx(steps, rel=0.005)  # tokens are a Markov chain, so rounds are not independent
        assert row["predicted"]["value"] == pytest.approx(row["expected"]["value"] * cost(0, slots) / cost(gamma, slots), rel=1e-5)
        # The two differ only by chance, over 32 texts: P(beyond six half widths of 95%) < 1e-7 per row.
        assert abs(row["tokens_per_step"]["value"] - steps) < 6 * (row["tokens_per_step"]["high"] - row["tokens_per_step"]["low"]) / 2
        assert row["ratio"]["value"] == pytest.approx(row["predicted"]["value"] / row["speedup"]["value"], rel=1e-9) and row["near"]
        assert row["ratio"]["low"] < row["ratio"]["value"] < row["ratio"]["high"]
    assert found.near() == (8, 8) and found.near("calibrated") == (4, 4)
    assert "**" not in str(found) and "time of a step |" not in str(found) and str(found).count("| Toy, draft |") == 2 and "Toy: 8 of 8 predicted settings within 10%." in str(found)


def test_what_is_measured_is_not_measured_again(right):
    found, folder = right
    said = []
    again = speclab.time_pair(clocked(folder), PAIR, out=folder / "out", say=said.append, **SMALL)
    assert not said and again == found
    file = folder / "out/clock_measured.jsonl"
    file.write_text(file.read_text()[:-20])  # as if interrupted while the last line was written
    assert speclab.time_pair(clocked(folder), PAIR, out=folder / "out", say=said.append, **SMALL) == found
    assert said == [f"{clocked(folder)}: draft, γ = 6, 4 at once, repeat 4"]


def test_a_cost_that_is_not_linear_is_seen(tmp_path):
    found = speclab.time_pair(clocked(tmp_path, f"{COST} * (2 if gamma == 3 else 1)"), PAIR, gammas=[0, 1, 3, 4], **{**SMALL, "at_once": [1]})
    wrong = {row["gamma"]: row for row in found.rows if not row.get("near", True)}
    assert list(wrong) == [3] and wrong[3]["ratio"]["low"] > 1.5
    assert found.near() == (0, 1) and "**" in str(found)
    (why,) = re.findall(r"^\| Toy, draft \| 1 \| 3 \| ([\d.]+) ± [\d.]+ \| ([\d.]+) \| ([\d.]+) \|$", str(found), re.M)
    assert float(why[1]) == 2 and float(why[0]) == pytest.approx(2 * float(why[2]), abs=0.02)  # the step's time alone


def test_more_texts_at_once_than_sequences(tmp_path):
    """With 16 texts at once 16 are decoded, with one at once 4: each text has its share of the time."""
    found = speclab.time_pair(clocked(tmp_path), PAIR, gammas=[0, 1, 4], **{**SMALL, "at_once": (1, 16), "sequences": 4})
    for row in found.rows:
        assert row["seconds_per_step"]["value"] == pytest.approx(cost(row["gamma"], row["at_once"]), abs=1e-6)
        if row["gamma"] == 0:
            assert row["seconds_per_token"]["value"] == pytest.approx(cost(0, row["at_once"]) / row["at_once"], abs=1e-6)
    assert {row["at_once"] for row in found.rows} == {1, 16}


def test_several_numbers_at_once_in_one_process(tmp_path):
    """Loaded for the largest number, an engine has the same step costs at each number, and needs as many processes as for one number."""
    engine = clocked(tmp_path)
    pathlib.Path(engine).write_text(pathlib.Path(engine).read_text().replace("slots=16,", "slots=16, fewer=True,"))
    said = []
    found = speclab.time_pair(engine, PAIR, gammas=[0, 1, 4], say=said.append, out=tmp_path / "out", **SMALL)
    assert len(said) == 3 * SMALL["repeats"] and said[0] == f"{engine}: plain, 1, 4 at once, repeat 1"
    assert [(row["at_once"], row["gamma"]) for row in found.rows] == [(slots, gamma) for slots in (1, 4) for gamma in (0, 1, 4)]
    for row in found.rows:
        assert row["seconds_per_step"]["value"] == pytest.approx(cost(row["gamma"], row["at_once"]), abs=1e-6)
    assert speclab.time_pair(engine, PAIR, gammas=[0, 1, 4], say=said.append, out=tmp_path / "out", **SMALL) == found and len(said) == 3 * SMALL["repeats"]


def test_other_calibrating_gammas(tmp_path):
    found = speclab.time_pair(clocked(tmp_path), PAIR, gammas=[0, 2, 3, 5], calibrate=(2, 5), **{**SMALL, "at_once": [4]})
    assert [row["kind"] for row in found.rows] == ["plain", "calibrated", "predicted", "calibrated"]
    assert found.rows[2]["step_predicted"]["value"] == pytest.approx(cost(3, 4), abs=1e-6)


def test_steps_of_independent_rounds():
    """With equal rows, rounds are independent: the steps equal those of the Markov chain. Certain drafts are all accepted."""
    target, draft = (np.tile(row, (3, 1)) for row in ([0.5, 0.3, 0.2], [0.2, 0.3, 0.5]))
    for gamma in (1, 3, 6):
        emitted = speclab.expected_tokens(0.7, gamma)
        assert _clock.steps_of(emitted, gamma, 50) == pytest.approx(_acceptance.expected_steps("Σ min(p, q)", target, draft, gamma, 50)[0], rel=1e-9)
    assert _clock.steps_of(4, 3, 50) == pytest.approx(13) and _clock.steps_of(1, 3, 50) == pytest.approx(50)


def test_intervals_of_repeats_cover():
    """4,000 means of five normal values: P(coverage below .93 or above .97) < 1e-8 if it is .95. By the normal quantile they would cover .88."""
    values = np.random.default_rng(3).normal(10, 2, (4000, 5))
    found = [_clock.interval(list(row)) for row in values]
    assert 0.93 < np.mean([one["low"] < 10 < one["high"] for one in found]) < 0.97
    few = _clock.interval([1, 2, 3])  # the quantile .975 of two degrees of freedom is 4.302653
    assert (few["value"], few["high"] - 2, 2 - few["low"]) == pytest.approx((2, 4.302653 / 3**0.5, 4.302653 / 3**0.5))


def test_an_engine_that_decodes_one_text_at_a_time(tmp_path):
    engine = clocked(tmp_path, slots=1)
    assert {row["at_once"] for row in speclab.time_pair(engine, PAIR, gammas=[0, 1, 4], **SMALL).rows} == {1}
    with pytest.raises(ValueError, match="at_once: 4; .*clocked.py decodes one text at a time"):
        speclab.time_pair(engine, PAIR, **{**SMALL, "at_once": [4]})


def test_an_engine_that_cannot_be_predicted(tmp_path):
    (tmp_path / "toy.py").write_text(TOY)
    with pytest.raises(speclab.EngineError, match=r"Toy: its adapter does not name the scheme by which draft verifies"):
        speclab.time_pair(str(tmp_path / "toy.py"), PAIR, **SMALL)
    uncounted = tmp_path / "uncounted.py"
    uncounted.write_text(pathlib.Path(clocked(tmp_path)).read_text().replace("        yield from texts\n", "        yield from (dataclasses.replace(text, steps=None) for text in texts)\n"))
    with pytest.raises(speclab.EngineError, match="Toy: plain decoding does not count the target's runs"):
        speclab.time_pair(str(uncounted), PAIR, **SMALL)


def test_every_engine_says_its_schemes():
    rules = speclab.rule_names()
    for name in names():
        for way in engine_of(name).ways:
            assert way.lookup or way.scheme in _acceptance.SCHEMES or way.scheme in rules, (name, way.name)


@pytest.mark.parametrize(("change", "sentence"), [
    ({"gammas": [0, 1, -1, 4]}, "gammas"),
    ({"gammas": [1, 4]}, "gammas: 1, 4; plain decoding's 0 is missing"),
    ({"gammas": [0, 1, 2]}, "gammas: 0, 1, 2; calibrate's 4 is missing"),
    ({"calibrate": [4]}, "calibrate: 4; expected two γ"),
    ({"calibrate": [0, 4]}, "calibrate"),
    ({"at_once": [3]}, "sequences: 8; expected a multiple of at_once's 3"),
    ({"at_once": [0]}, "at_once"),
    ({"repeats": 2}, "repeats"),
    ({"temperature": 0}, "temperature"),
    ({"engines": "nothing"}, "engines: 'nothing' is no engine"),
    ({"config": {"models": {}}}, "/simulation/prompt: expected a list of ids"),
    ({"config": {**PAIR, "simulation": {"prompt": [0], "trials": 1}}}, "/simulation/trials: 1; expected an integer from 2 on"),
    ({"config": {**PAIR, "simulation": {"prompt": [0], "length": "many"}}}, "/simulation/length: 'many'; expected an integer"),
])
def test_bad_arguments(change, sentence, tmp_path):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        speclab.time_pair(**{"engines": clocked(tmp_path), "config": PAIR, **SMALL, **change})


def test_the_program(tmp_path):
    config = tmp_path / "pair.json"
    config.write_text(json.dumps(PAIR))

    def command(*words):
        return subprocess.run([sys.executable, "-m", "speclab.audit", *map(str, words)], capture_output=True, text=True)

    ran = command("--clock", "--pair", config, "--engines", clocked(tmp_path, slots=1), "--sequences", 16, "--tokens", 48, "--out", tmp_path / "out")
    assert ran.returncode == 0 and ran.stdout.count("| Toy, draft |") == 1, ran.stderr
    written = json.loads((tmp_path / "out/clock.json").read_text())
    assert len(written["rows"]) == 7 and written["tokens"] == 48
    assert "--clock: needs --pair" in command("--clock").stderr
    refused = command("--clock", "--pair", config, "--temperatures", "0.7,1", "--engines", clocked(tmp_path))
    assert refused.returncode == 2 and "--temperatures 0.7,1: --clock takes one temperature" in refused.stderr
