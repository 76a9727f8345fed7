"""Tests speclab.audit_greedy: exact rows, the distribution of flips under several kinds of rounding, and engines with planted faults.

Statistical tests have fixed seeds; a false alarm of one of them has the probability that it states."""

import json
import os
import pathlib
import re

import numpy as np
import pytest

import speclab
from speclab._gguf.llama_numpy import Llama
from speclab.engines import _rounding
from speclab.engines._rounding import Noise, detectable_rate, flip_law, judged, rows_along
from speclab.engines._table_models import write_models
from this_python import audit_here, environment, installed

SOURCE = pathlib.Path(os.environ["SPECLAB_SOURCE"])
PAIR = {**json.loads((SOURCE / "configs/audit_engine.json").read_text()), "simulation": {"prompt": [0]}}
TARGET, DRAFT = (np.array(PAIR["models"][side]["rows"], dtype=float) for side in ("target", "draft"))
TIED = [[0, 0.4, 0.4, 0.2], [0, 0.5, 0.3, 0.2], [0, 0.1, 0.45, 0.45], [0, 0.4, 0.2, 0.4]]
TOY = (SOURCE / "tests/python/toy_engine.py").read_text()


def toy(folder, fault="", target=TARGET.tolist()):
    """Writes an adapter file with a fault."""
    file = folder / f"toy_{fault.replace(' ', '_')}.py"
    file.write_text(TOY.replace('FAULT = ""', f"FAULT = {fault!r}").replace("ROWS = [], []", f"ROWS = {target}, {DRAFT.tolist()}"))
    return str(file)


def tied():
    return {**PAIR, "models": {"target": {"kind": "table", "rows": TIED}, "draft": PAIR["models"]["draft"]}}


def audited(engine, config=PAIR, **options):
    return speclab.audit_greedy(engine, config, **{"gamma": 3, "texts": 40, "tokens": 40, "progress": False, **options})


# Exact rows.


def test_rows_of_a_file_are_the_tables(tmp_path):
    """The numpy model of a GGUF file has the rows of the config from which the file was made."""
    write_models(PAIR, tmp_path)
    model = Llama(tmp_path / "target.gguf", np.float64)
    texts = np.array([[2, 2, 3, 3, 2, 1]], dtype=np.int32)
    rows = rows_along(model, [[0, 3]], texts)
    for at, (last, token) in enumerate(zip([3, 2, 2, 3, 3, 2], texts[0])):
        row = TARGET[last] / TARGET[last].sum()
        best = np.sort(row)[::-1]
        assert rows.logp[0, at] == pytest.approx(np.log(row[token]), abs=2e-6)
        assert rows.gaps[0, at, 0] == pytest.approx(np.log(best[0] / best[1]), abs=2e-6)
        assert rows.below[0, at] == pytest.approx(np.log(best[0] / row[token]), abs=2e-6)
        assert rows.moves[0, at] == pytest.approx(np.sqrt(1 - 2 * row[token] + (row**2).sum()), abs=2e-6)
    again = rows_along(None, [[0, 3]], texts, (texts, rows))
    assert (again.gaps == rows.gaps).all()


def test_a_model_that_cannot_be_run_is_refused(tmp_path):
    write_models(PAIR, tmp_path)
    data = (tmp_path / "target.gguf").read_bytes()
    for wrong, sentence in ((data.replace(b"\x05\0\0\0\0\0\0\0llama", b"\x05\0\0\0\0\0\0\0gemma"), "general.architecture is 'gemma'"),
                            (data.replace(b"blk.0.attn_q.weight", b"blk.0.attn_z.weight"), "the tensor blk.0.attn_q.weight is missing"),
                            (b"nothing", "is no GGUF file")):
        (tmp_path / "wrong.gguf").write_bytes(wrong)
        models = {side: {"kind": "gguf", "file": str(tmp_path / "wrong.gguf")} for side in ("target", "draft")}
        with pytest.raises(speclab.ConfigError, match=re.escape(sentence)):
            audited(toy(tmp_path), {"models": models, "simulation": {"prompt": [0]}})


# The distribution of flips.


def unlike(generator, shape):
    """Deviations of very different sizes, like those of bf16 and of 8-bit caches."""
    return generator.normal(0, 1, shape) * np.where(generator.random(shape) < 0.1, 0.12, 0.01)


def synthetic(generator, texts=60, tokens=50):
    gaps = np.full((texts, tokens, 8), np.inf)
    gaps[:, :, 0] = generator.gamma(1.2, 2.0, (texts, tokens))
    return gaps


ALONG = np.arange(60 * 50, dtype=np.int32).reshape(60, 50)  # texts without repetitions


def once(generator, law, rate=0.0, own=unlike, between=unlike):
    """One audit: a text stops at its first flip, by rounding or by a fault that emits the runner-up anywhere."""
    gaps = synthetic(generator)
    first = gaps[:, :, 0] + own(generator, gaps.shape[:2])
    flips = (first * (first + between(generator, gaps.shape[:2])) < 0) | (generator.random(gaps.shape[:2]) < rate)
    different = np.flatnonzero(flips.any(axis=1))
    return gaps, judged(law, ALONG, gaps, different, gaps[different, flips[different].argmax(axis=1), 0])


def test_texts_change_as_often_as_expected_whatever_the_shape_of_the_noise():
    """Null: the mean number is the expected one, but for 4% of it that gaps are not uniform over their noise. A normal law of the same mean
    square, which is refused, expects half as many again. False alarms at a level of 5%: at most 5% of 200 audits (seven standard errors)."""
    generator = np.random.default_rng(11)
    measured = np.abs(unlike(generator, 4000)), np.abs(unlike(generator, 4000))
    law = flip_law(Noise.of(measured[0]), Noise.of(measured[1]))
    found = [once(generator, law)[1] for _ in range(200)]
    mean, expected = np.mean([one.differ for one in found]), np.mean([one.most for one in found])
    error = np.std([one.differ for one in found]) / np.sqrt(len(found))
    assert abs(mean - expected) < 0.04 * expected + 5 * error
    normal = np.sqrt((measured[1] ** 2).mean())
    gaps = synthetic(generator)[:, :, 0]
    wrong = sum(1 - np.prod(1 - speclab.flips(text, normal).probabilities) for text in gaps)
    assert wrong > 1.4 * mean
    assert sum(one.p < 0.05 for one in found) / 200 < 0.05 + 7 * np.sqrt(0.05 * 0.95 / 200)
    # [low, high] has 95% of the law: fewer than 87% of 200 has a probability below 1e-5.
    assert np.mean([one.low <= one.differ <= one.high for one in found]) > 0.87
    assert found[0].least == pytest.approx(found[0].most)


def test_faults_as_rare_as_stated_are_found():
    """A fault in as many rows as `detectable_rate` says for a power of 0.99 is found in 0.99 of audits that see all rows; here texts end at
    their first difference, which leaves it 0.8 of them. P(fewer than 33 of 40 | 0.95) < 1e-3. Noise four times as large is found, too."""
    generator = np.random.default_rng(12)
    measured = np.abs(unlike(generator, 4000))
    law = flip_law(Noise.of(measured), Noise.of(measured))
    rate = detectable_rate(law, synthetic(generator), 1e-6, 0.99)
    assert 0.001 < rate < 0.01
    assert sum(once(generator, law, rate)[1].p < 1e-6 for _ in range(40)) >= 33
    assert sum(once(generator, law, between=lambda *words: 8 * unlike(*words))[1].p < 1e-6 for _ in range(20)) >= 18
    assert detectable_rate(law, np.zeros((2, 2, 8)), 1e-6, 0.99) == 1


def test_exact_ties_may_flip_and_repeated_rows_count_once():
    law = Noise.of(np.zeros(100)).beyond()
    assert law(np.array([0.0, 1e-3])).tolist() == [0.5, 0.0]
    gaps = np.full((2, 8, 8), np.inf)
    gaps[:, :, 0] = [[0, 1, 1, 1] * 2, [1] * 8]
    along = np.array([[1, 2, 3, 3] * 2, range(8)], dtype=np.int32)
    found = judged(law, along, gaps, np.array([0]), np.array([1e-15]))  # a tie between two computations of one row
    assert found.p == 1 and found.most == 0.75
    far = judged(law, along, gaps, np.array([0]), np.array([0.5]))
    assert far.p == 0 and far.p_far == 0 and far.p_many == 0.75
    loop = np.array([[1, 2, 3, 4, 1, 2, 3, 4]], dtype=np.int32)
    assert _rounding.first_times(loop).tolist() == [[True] * 7 + [False]]


# Audits of engines.


def test_a_right_engine_has_the_same_text(tmp_path):
    sentences = []
    found = audited(toy(tmp_path), say=sentences.append)
    assert [row["verdict"] for row in found.rows] == ["likeliest tokens", "same text", "same text", "same text"] and not found.different and not found.failed
    assert {row["setting"] for row in found.rows} == {"plain", "plain, 8 at once", "draft, γ = 3", "draft, γ = 3, 8 at once"}
    # 0.99 of a fault in one of so many rows: 1600 rows, all of them far from ties.
    assert found.rows[0]["detectable"] == pytest.approx(-np.log(0.01) / 1600)
    assert any("a fault in one row of 347 is found with probability 0.99" in one for one in sentences)


def test_a_large_gap_is_refuted_with_its_position(tmp_path):
    found = audited(toy(tmp_path, "runner-up"))
    assert [row["verdict"] for row in found.rows] == ["likeliest tokens", "same text", "more than rounding", "more than rounding"]
    (row,) = (one for one in found.different if one["slots"] == 1)
    assert row["p"] < 1e-9 and row["differ"] > 5 and row["low"] == row["high"] == 0
    worst = row["differences"][0]
    assert worst["gap"] == pytest.approx(max(np.log(np.sort(one)[-1] / np.sort(one)[-2]) for one in TARGET), abs=1e-5)
    assert 1 <= worst["position"] <= 40 and worst["plain"] != worst["emitted"]


def test_flips_at_exact_ties_are_not_refuted(tmp_path):
    found = audited(toy(tmp_path, "other of ties", TIED), tied())
    assert [row["verdict"] for row in found.rows] == ["likeliest tokens", "same text", "near ties", "near ties"]
    row = found.rows[2]
    assert row["differ"] > 10 and row["largest_gap"] < 1e-9 and row["low"] <= row["differ"] <= row["high"]
    # The same fault changes nothing without near ties; a fault that takes the runner-up in those rows does.
    assert audited(toy(tmp_path, "runner-up", TIED), tied(), settings="draft, γ = 3").different


@pytest.mark.parametrize("fault, sentence", [
    ("no logp", "its adapter gives no log-probabilities"), ("other rows", "its plain rows are not the model's: differences of two logits deviate by"),
])
def test_what_cannot_be_judged_is_refused(fault, sentence, tmp_path):
    with pytest.raises(speclab.EngineError, match=sentence):
        audited(toy(tmp_path, fault))


def test_an_engine_that_fails_leaves_the_others(tmp_path):
    found = audited([toy(tmp_path, "no logp"), toy(tmp_path)])
    assert [row["verdict"] for row in found.rows] == ["failed", "likeliest tokens", "same text", "same text", "same text"] and len(found.failed) == 1
    assert "| Toy | plain | FAILED: its adapter gives no log-probabilities" in str(found)


@pytest.mark.parametrize("options, sentence", [
    ({"gamma": 0}, "gamma"), ({"gamma": []}, "gamma: none"), ({"texts": 0}, "texts"), ({"tokens": 1}, "tokens"), ({"level": 0}, "level"),
    ({"settings": "nothing"}, "settings: no setting of .* contains 'nothing': plain; plain, 8 at once; draft, γ = 3"),
])
def test_bad_arguments(options, sentence, tmp_path):
    with pytest.raises(ValueError, match=sentence):
        audited(toy(tmp_path), **options)


def test_a_prompt_that_is_not_in_the_vocabulary(tmp_path):
    with pytest.raises(speclab.ConfigError, match="/simulation/prompt: 9; ids are 0 to 3"):
        audited(toy(tmp_path), {**PAIR, "simulation": {"prompt": [9]}})


def test_the_program(tmp_path):
    pandas = pytest.importorskip("pandas")
    config = tmp_path / "pair.json"
    config.write_text(json.dumps(PAIR))
    words = ["--pair", config, "--greedy", "--sequences", "20", "--settings", "draft, γ = 3", "--out", tmp_path / "out"]
    ran = audit_here(*words, "--engines", toy(tmp_path, "runner-up"))
    assert ran.returncode == 1 and "MORE THAN ROUNDING" in ran.stdout, ran.stderr
    assert re.search(r"Toy, draft, γ = 3: in text \d+ token \d+ is [123], at a gap of 0\.\d+; \d+ such places are in `rows`", ran.stdout)
    read = speclab.GreedyAudit((tmp_path / "out/greedy.json").read_text(), "")
    assert len(read.different) == 2 and isinstance(read.to_pandas(), pandas.DataFrame)
    assert audit_here("--greedy").returncode == 2


# Engines that are installed with the tests.


@pytest.mark.slow
def test_openvino_by_its_own_rounding(tmp_path):
    """In f32 its rows on the neural pair are those of numpy in f64, a second implementation, to 1e-4; its texts are the plain ones."""
    installed("openvino_genai")
    neural = {"models": {side: {"kind": "gguf", "file": str(SOURCE / f"configs/neural/{side}.gguf")} for side in ("target", "draft")},
              "simulation": {"prompt": [1543, 345, 261, 879]}}
    found = audited("openvino", neural, texts=8, tokens=24, settings="draft, γ = 3, 8 at once", environments=environment(tmp_path, "openvino"))
    assert [row["verdict"] for row in found.rows] == ["likeliest tokens", "same text"] and 0 < found.rows[0]["own_noise"] < 1e-4


@pytest.mark.slow
def test_a_token_exchanged_in_an_engines_text(tmp_path):
    """An adapter of llama.cpp, on the tables, exchanges one token of one text."""
    pytest.importorskip("xllamacpp")
    own = tmp_path / "llama_cpp.py"
    own.write_text("""
import dataclasses
from .llama_cpp import ENGINE as RIGHT
def decode(server, settings, numbers, tokens):
    for number, one in zip(numbers, RIGHT.decode(server, settings, numbers, tokens)):
        if settings.gamma and number == 3:
            one.tokens[0][-1] = 1 + one.tokens[0][-1] % 3
        yield one
ENGINE = dataclasses.replace(RIGHT, decode=decode)
""")
    folder = environment(tmp_path, "llama_cpp")
    found = audited(str(own), settings="compared, γ = 3, 8", environments=folder)
    assert [row["verdict"] for row in found.rows] == ["likeliest tokens", "more than rounding"]
    assert found.rows[1]["differ"] == 1 and found.rows[1]["differences"][0]["text"] == 3 and found.rows[1]["differences"][0]["position"] == 40
