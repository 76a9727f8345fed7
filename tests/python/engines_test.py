"""Tests speclab.audit on an engine in pure Python with planted faults, its errors, and two real engines if they are installed."""

import itertools
import json
import mmap
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import time
import types

import numpy as np
import pytest

import speclab
from speclab import _core
from speclab._configs import config_text
from speclab.engines import _acceptance, _audit, _pairs, _process, _settings, engine_of, litgpt, names
from speclab.engines._table_models import write_models
from this_python import audit_here, environment, installed

SOURCE = pathlib.Path(os.environ["SPECLAB_SOURCE"])
PAIR = json.loads((SOURCE / "configs/audit_engine.json").read_text())
TARGET, DRAFT = (np.array(PAIR["models"][side]["rows"], dtype=float) for side in ("target", "draft"))
TOY = (SOURCE / "tests/python/toy_engine.py").read_text()


def toy(folder, fault=""):
    """Writes an adapter file with a fault."""
    file = folder / f"toy_{fault.replace(' ', '_')}.py"
    file.write_text(TOY.replace('FAULT = ""', f"FAULT = {fault!r}").replace("ROWS = [], []", f"ROWS = {TARGET.tolist()}, {DRAFT.tolist()}"))
    return str(file)


def audited(engine, settings="γ = 3", **options):
    return speclab.audit(engine, settings=settings, progress=False, **options)


def of(result, setting="γ = 3"):
    return next(one for one in result.settings if one.way and one.setting == setting)


# Measured tokens per step, and those of lossless schemes.


@pytest.mark.parametrize("gamma", [1, 2, 3])
def test_two_tokens_take_a_step_more_unless_one_is_accepted(gamma):
    """Expected steps from every token equal an enumeration in fractions."""
    certain = np.eye(len(DRAFT), dtype=int)[DRAFT.argmax(axis=1)]
    for scheme, rule, draft in (("Σ p q", "match", DRAFT), ("p(argmax q)", "match", certain), ("Σ min(p, q)", "token", DRAFT), ("block", "block", DRAFT)):
        steps = _acceptance.expected_steps(scheme, TARGET, DRAFT, gamma, 2)
        for before in range(len(TARGET)):
            assert steps[before] == pytest.approx(2 - float(speclab.prove(rule, TARGET, draft, gamma=gamma, context=[before]).acceptance), abs=1e-12)
        assert (_acceptance.expected_steps(scheme, TARGET, DRAFT, gamma, 1) == 1).all()


def test_long_texts_have_the_steps_of_the_markov_chain():
    text = str(speclab.exact({**PAIR, "gamma": 3}, simulation=False))
    exact = float(re.search(r"tokens per target step +[\d.]+ +([\d.]+)", text)[1])
    values = [_acceptance.tokens_per_step("Σ min(p, q)", TARGET, DRAFT, 3, tokens, 0, True) for tokens in (1000, 2000)]
    assert 2 * values[1] - values[0] == pytest.approx(exact, abs=1e-5)  # the end of the text costs a constant


@pytest.mark.parametrize("options", [{"temperature": 0.7}, {"top_k": 2}, {"top_p": 0.55}, {"temperature": 0.5, "top_k": 2, "top_p": 0.9}])
def test_filtered_rows_are_the_programs(options):
    """The statistic of the same samples is equal for rows filtered in Python and by the program."""
    config = {"title": "t", "models": PAIR["models"], "gamma": 3, "check": {"tokens": 3}}
    rows = _acceptance.filtered(TARGET, **options)
    likely = _acceptance.filtered(TARGET, min_p=0.5, **options)
    assert (likely > 0).tolist() == (rows >= 0.5 * rows.max(axis=1, keepdims=True)).tolist() and likely.sum(axis=1) == pytest.approx(1)
    samples = np.ascontiguousarray(speclab.sample(rows, None, tokens=3, samples=5000, seed=3).astype(np.int32))
    filtered = {**config, "models": {**PAIR["models"], "target": {"kind": "table", "rows": rows.tolist()}}}
    here, program = (json.loads(_core.check_emitted(config_text(one), samples)) for one in (filtered, {**config, "sampling": options}))
    assert here["pearson"] == pytest.approx(program["pearson"], rel=1e-9) and here["verdict"] == program["verdict"] == "equal"


def test_intervals_of_steps_cover():
    """2,000 ratios of 30 groups: P(coverage below .92) < 1e-6 if it is .95; half as wide they cover .67, and fail."""
    generator = np.random.default_rng(5)
    covered = narrow = 0
    for _ in range(2000):
        steps = 40 + generator.binomial(60, 0.5, 30)
        groups = np.stack([np.ones(30), np.zeros(30), np.zeros(30), steps], axis=1).astype(np.int64)
        found = _acceptance.measured(groups, 192, False)
        covered += 192 / 70 in found
        narrow += abs(192 / 70 - found.value) < (found.high - found.value) / 2
    assert covered > 0.92 * 2000 > narrow
    assert _acceptance.measured(groups * [1, 1, 1, -1], 192, False) is None
    assert _acceptance.measured(groups[:1], 192, False) is None  # one group does not show how much groups differ


# The models.


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    assert audit_here("--models", folder).returncode == 0
    return folder


def safetensors(file):
    data = file.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    head = json.loads(data[8 : 8 + length])
    return {name: np.frombuffer(data[8 + length + one["data_offsets"][0] : 8 + length + one["data_offsets"][1]], "<f4").reshape(one["shape"])
            for name, one in head.items() if name != "__metadata__"}


@pytest.mark.parametrize("side", ["target", "draft"])
def test_rows_of_the_weights_are_the_configs(models, side):
    weights = safetensors(models / side / "model.safetensors")
    rows = np.array(PAIR["models"][side]["rows"], dtype=float)
    embedding = weights["model.embed_tokens.weight"].astype(float)
    for name, weight in weights.items():
        if "layers" in name and "norm" not in name:
            assert not weight.any(), name  # the block adds nothing
    normed = embedding / np.sqrt((embedding**2).mean(axis=1, keepdims=True) + 1e-6)
    logits = normed @ weights["lm_head.weight"].astype(float).T
    made = np.exp(logits - logits.max(axis=1, keepdims=True))
    assert np.abs(made / made.sum(axis=1, keepdims=True) - rows / rows.sum(axis=1, keepdims=True)).max() < 1e-6


@pytest.mark.parametrize("config", ["first.json", "rules_austen.json", "no_such.json"])
def test_other_configs_are_refused(config, tmp_path):
    made = audit_here("--models", tmp_path / "m", "--config", SOURCE / "configs" / config)
    assert made.returncode == 2 and not (tmp_path / "m").exists() and len(made.stderr.splitlines()) == 1
    assert ("/models/target" if config != "no_such.json" else "no_such.json") in made.stderr


# An engine in pure Python.


@pytest.fixture(scope="module")
def right(tmp_path_factory):
    folder = tmp_path_factory.mktemp("right")
    return audited(toy(folder), out=folder / "out", long=60), folder


def test_a_right_engine_is_equal_and_accepts_as_algorithm_1(right):
    result, _ = right
    assert [one.verdict for one in result.settings] == ["equal", "equal"] and not result.different and not result.failed
    one = of(result)
    assert one.like == ["Σ min(p, q)"] and one.left == pytest.approx(one.possible["block"] - one.tokens_per_step.value)
    assert one.sequences == 2000 and 0 < one.detectable_tv < 0.2 and one.law == ""


def test_what_is_done_is_not_done_again(right):
    result, folder = right
    sentences = []
    again = audited(toy(folder), out=folder / "out", long=60, say=sentences.append)
    assert not sentences and again.to_json() == result.to_json() == speclab.Audit.load(folder / "out").to_json()
    (folder / "out/toy_/draft-gamma3-2000-1.json").unlink()
    again = audited(toy(folder), out=folder / "out", long=60, say=sentences.append)
    assert len(sentences) == 1 and sentences[0].startswith(f"{toy(folder)}: draft, γ = 3: 2,000 sequences; a total variation of 0.12")
    assert of(again).statistic == of(result).statistic
    assert of(audited(toy(folder), out=folder / "out", long=5, seed=2)).statistic != of(result).statistic


def test_results_as_tables(right):
    result, _ = right
    frame = result.to_pandas()
    assert list(frame["verdict"]) == ["equal", "equal"] and frame["possible_block"][1] == of(result).possible["block"]
    assert result.to_csv().splitlines()[0] == ",".join(frame.columns)
    assert "### Toy\ntoy, " in str(result) and "| draft, γ = 3 | equal |" in str(result) and "| draft, γ = 3 | equal |" in result._repr_html_()


@pytest.mark.parametrize("fault, law", [("resample target", "fault-resample-target"), ("accept all", "fault-accept-all"), ("one seed", "none known"),
                                        ("loses the first", "none known")])
def test_planted_faults_are_found_and_named(fault, law, tmp_path):
    plain, one = audited(toy(tmp_path, fault), sequences=2000, long=20).settings
    assert one.verdict == "different" and law in one.law and plain.verdict == "equal"


@pytest.mark.parametrize("fault, verdict", [("request", "equal"), ("request, plain bonus", "different"), pytest.param("request, late counts", "different", marks=pytest.mark.slow)])
def test_penalties_of_a_request(fault, verdict, tmp_path):
    """Null: texts under a frequency penalty have the exact distribution, whose rows depend on the whole text. Planted: a bonus token without
    the penalty, and counts of a round that miss its own tokens. Both have a total variation above the one that is found with power 0.99."""
    plain, one = audited(toy(tmp_path, fault), "request, frequency penalty 1", sequences=4000, long=20).settings
    assert plain.verdict == "equal" and one.verdict == verdict and one.late_p is None and one.possible == {} and one.tokens_per_step.value > 1.5


@pytest.mark.parametrize("name, least", [("llama_cpp", 0.29), ("mlx", 0.14), ("openvino", 0.17), ("transformers", 0.17)])
def test_another_order_is_seen(name, least):
    """Where a setting has several options, each other order of them has the law of the engine's order or is at least this far from it."""
    engine = engine_of(name)

    def law(setting, filters):
        sampling = {**setting.options, **setting.request, **engine.request_law, "order": filters, "logit_offset": 0.0}
        return speclab.prove({"title": "t", "models": PAIR["models"], "rule": {"kind": "token"}, "gamma": 1, "prove": {"tokens": 4}, "sampling": sampling}, exact=False).law

    settings = [one for one in _settings.settings_of(engine, False) if one.request and len(one.request) + len(one.sampling) > 1]
    apart = []
    for setting in settings:
        own = law(setting, engine.request_law["order"])
        others = [law(setting, list(filters)) for filters in itertools.permutations([*setting.request, *setting.sampling])]
        distances = [sum(abs(own.get(text, 0) - other.get(text, 0)) for text in own.keys() | other.keys()) / 2 for other in others]
        assert min(distances) < 1e-9
        apart += [distance for distance in distances if distance > 1e-9]
    assert len(settings) >= 3 and len(apart) >= 6 and min(apart) > least


def test_differences_at_temperature_0(tmp_path):
    assert of(audited(toy(tmp_path), "temperature 0", sequences=200), "temperature 0").greedy == {"texts": 150, "different": 0, "first": []}
    plain, other = np.array([[1, 1, 1], [1, 1, 1]]), np.array([[1, 1, 1], [1, 2, 1]])
    found = _audit.greedy_differences(plain, other, TARGET, 0)
    assert found["different"] == 1 and found["first"] == [{"position": 2, "gap": pytest.approx(np.log(0.5 / 0.3)), "plain": 1, "speculative": 2}]


# Texts that may end.


def test_a_right_engine_ends_its_texts(tmp_path):
    """Null: ended texts have the distribution of the rows, lengths included. Their mean length is that of the absorbing chain, to five
    standard errors (6e-7)."""
    result = audited(toy(tmp_path), "end of text", out=tmp_path / "out")
    assert {one.setting: one.verdict for one in result.settings} == {"end of text": "equal", "end of text, γ = 8": "equal"}
    assert [one.overcounted for one in result.settings if one.way] == [0, 0] and not result.failed
    rows = _audit.endings(PAIR)["target"]
    alive, left = np.eye(len(rows))[1], 0.0  # a text of at most 16 tokens, after token 1
    for _ in range(16):
        left += alive.sum()
        alive = alive @ rows * (np.arange(len(rows)) > 0)
    emitted = np.load(next((tmp_path / "out/toy_").glob("draft-end_of_text-2000-1.npz")))["first"]
    lengths = np.where((emitted == 0).any(axis=1), (emitted == 0).argmax(axis=1) + 1, 16)
    assert abs(lengths.mean() - left) < 5 * lengths.std() / np.sqrt(len(lengths)) and 6 < left < 8


def test_a_token_behind_the_end_is_found(tmp_path):
    plain, *speculative = audited(toy(tmp_path, "behind the end"), "end of text", sequences=300).settings
    assert plain.verdict == "equal" and [one.verdict for one in speculative] == ["different", "different"]
    assert all(one.rows_p == 0 or one.rows_p < 1e-12 for one in speculative)


def test_accepted_tokens_that_are_counted_behind_the_end_are_said(tmp_path):
    result = audited(toy(tmp_path, "counts behind the end"), "end of text", sequences=300)
    _, three, eight = result.settings
    assert three.verdict == eight.verdict == "equal" and 0 < three.overcounted < eight.overcounted < 300
    assert f"| equal; counts more accepted tokens than it emits in {eight.overcounted} texts |" in str(result)


def test_a_text_that_stops_without_its_end_fails(tmp_path):
    assert re.match(r"Toy emitted \d+ tokens in sequence \d+ without the end of text; expected 16",
                    audited(toy(tmp_path, "no end"), "end of text", sequences=20).settings[-1].failed)


def test_an_end_of_text_that_would_be_emitted_is_refused():
    rows = [[0.1, 0.9], [0, 1]]
    with pytest.raises(speclab.ConfigError, match="a row gives token 0 a probability"):
        speclab.audit("llama_cpp", config={**PAIR, "models": {side: {"kind": "table", "rows": rows} for side in ("target", "draft")}}, progress=False)


def on_pair(engine, **options):
    config = {**PAIR, "simulation": {"prompt": [0]}}
    return speclab.audit_pair(engine, config, progress=False, **options)


def test_tokens_on_a_pair_are_those_of_the_engines_rule(tmp_path):
    """Null: the engine's tokens per step are Algorithm 1's. The chance that a right engine differs from its scheme is 0.05 a temperature; the seed is
    fixed. An engine that accepts all emits more than any lossless scheme."""
    rows = on_pair(toy(tmp_path), sequences=200).rows
    assert [row["temperature"] for row in rows] == [0.7, 1.0]
    for row in rows:
        assert "Σ min(p, q)" in row["like"] and "p(argmax q)" not in row["like"] and row["left"] > 0
        target, draft = (_acceptance.filtered(one, temperature=row["temperature"]) for one in (TARGET, DRAFT))
        assert row["possible"]["block"]["value"] == pytest.approx(_acceptance.tokens_per_step("block", target, draft, 3, 2000, 0, True), rel=1e-3)
    (row,) = on_pair(toy(tmp_path, "accept all"), temperature=1, sequences=50).rows
    assert row["like"] == [] and row["left"] < 0


def test_lossless_schemes_on_other_models_are_simulated():
    """With rows that are equal in every context a round emits (1 - a^4) / (1 - a) tokens, where a is the scheme's acceptance. The interval of each estimate is
    widened to 5.1 times its half-width, 10 standard errors."""
    models = {"target": {"kind": "zipf", "vocab": 8}, "draft": {"kind": "zipf", "vocab": 8, "exponent": 0.4, "reversed": True}}
    p, q = (speclab.models.from_config(models[side])([]) for side in ("target", "draft"))
    acceptance = {"Σ p q": p @ q, "p(argmax q)": p[q.argmax()], "Σ min(p, q)": np.minimum(p, q).sum()}
    assert q.argmax() != p.argmax() and len(set(np.round(list(acceptance.values()), 2))) == 3
    found = _pairs._possible({"models": models, "simulation": {"prompt": [0]}}, 3, 1.0, 100, 400, 1)
    assert list(found) == list(_acceptance.SCHEMES)
    for scheme, a in acceptance.items():
        assert found[scheme]["value"] == pytest.approx((1 - a**4) / (1 - a), abs=5.1 * _pairs._half(found[scheme]))
    assert found["block"]["value"] > found["Σ min(p, q)"]["value"]
    # With as many likely tokens as there are, the cut leaves the token rule's drafts as they were.
    whole = _pairs._simulated({"models": models, "simulation": {"prompt": [0]}}, 3, 1.0, 100, 400, 1, "token", {"temperature": 1.0, "top_k": 8})
    assert whole == found["Σ min(p, q)"]


def test_a_pair_as_tables(tmp_path):
    pandas = pytest.importorskip("pandas")
    found = on_pair(toy(tmp_path), sequences=20, tokens=30)
    frame = found.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and {"measured_low", "block", "left", "like"} <= set(frame.columns) and len(frame) == 2
    assert str(found).count("| Toy, draft |") == 2


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"simulation": {"prompt": "text"}}, "/simulation/prompt: expected a list of ids"),
        ({"simulation": {}}, "/simulation/prompt: expected a list of ids"),
        ({"models": {"target": {"kind": "bigram"}, "draft": {"kind": "bigram"}}}, "/models: engines decode two models"),
        ({"models": {"target": {"kind": "gguf", "file": "no.gguf"}, "draft": {"kind": "gguf", "file": "no.gguf"}}}, "/models/target/file: no.gguf: no such file"),
    ],
)
def test_a_pair_that_engines_cannot_decode(change, sentence, tmp_path):
    with pytest.raises(speclab.ConfigError, match=re.escape(sentence)):
        speclab.audit_pair(toy(tmp_path), {**PAIR, "simulation": {"prompt": [0]}, **change}, progress=False)


def test_the_program_on_a_pair(tmp_path):
    config = tmp_path / "pair.json"
    config.write_text(json.dumps({**PAIR, "simulation": {"prompt": [0]}}))
    words = ("--engines", toy(tmp_path), "--pair", config, "--sequences", 10, "--temperatures", 1, "--out", tmp_path / "out")
    ran = audit_here(*words)
    assert ran.returncode == 0 and ran.stdout.count("| Toy, draft | 1 |") == 1, ran.stderr
    assert len(json.loads((tmp_path / "out/pair.json").read_text())["rows"]) == 1
    assert audit_here(*words[:-4], "--temperatures", "warm").returncode == 2


def test_controls_are_uniform(tmp_path):
    """p-values of 100 tests of plain decoding against itself are uniform. Samples that are the same are found."""
    count, sequences, tokens = 100, 60, PAIR["check"]["tokens"]
    adapter = toy(tmp_path)
    engine = engine_of(adapter)
    settings = _audit.Settings(folder=tmp_path, prompt=[0], way="", gamma=0, slots=engine.slots, context=tokens + 1, seed=1, temperature=1.0, top_k=0, top_p=1.0, min_p=0.0)
    python = pathlib.Path(sys.executable)
    (part,) = _process.decode(adapter, engine, python, settings, len(TARGET), [_process.Asked(2 * count * sequences, tokens)])
    halves = part.tokens.reshape(count, 2, sequences, tokens)
    # By the inequality of Dvoretzky, Kiefer, Wolfowitz and Massart a distance above 0.263 has a probability below 1e-6.
    assert distance_from_uniform([_core.two_samples(*map(np.ascontiguousarray, pair))["p"] for pair in halves]) < 0.263
    assert distance_from_uniform([1.0] * 100) > 0.263
    same = np.ascontiguousarray(halves[0, 0])
    assert distance_from_uniform([_core.two_samples(same, same)["p"] for _ in range(count)]) > 0.263


def distance_from_uniform(p_values):
    values = np.sort(p_values)
    steps = np.arange(len(values) + 1) / len(values)
    return max((steps[1:] - values).max(), (values - steps[:-1]).max())


def test_the_table_of_the_page_is_of_its_results():
    table = (SOURCE / "results/engines/audit.csv").read_text(encoding="utf-8")
    assert table == speclab.Audit.load(SOURCE / "results/engines").to_csv()


def test_the_program_shows_tables():
    missing = audit_here("--show", "no/such/folder")
    assert missing.returncode == 2 and missing.stderr.count("\n") == 1 and "no/such/folder" in missing.stderr and "results/engines" in missing.stderr
    shown = audit_here("--show", SOURCE / "results/engines")
    assert shown.returncode == 0 and shown.stdout == speclab.Audit.load(SOURCE / "results/engines").to_markdown()


def test_litgpt_without_it(monkeypatch, tmp_path):
    """Its adapter makes a text from rounds: it loses or restores the token of the prompt's run, emits the end, and counts what the text needed."""
    rounds = [(2, [1, 2, 3]), (2, [3]), (2, [2, 0, 1])]  # number drafted, emitted ids

    class Ids(list):
        tolist = list.copy

    def generate(draft, target, prompt, most, *, speculative_k, stop_tokens, **_):
        emitted, before = Ids(), 3
        for _, ids in rounds:
            before = code.speculative_decoding(token=before, speculative_k=speculative_k, ids=ids)[-1]
            for one in ids:
                if one in stop_tokens:
                    return emitted, 0.5
                emitted.append(one)
        return emitted, 0.5

    torch, base, code = (types.ModuleType(name) for name in ("torch", "base", "code"))
    torch.tensor, torch.manual_seed = list, lambda seed: None
    code.generate = generate
    code.speculative_decoding = litgpt.Rounds(lambda ids, **_: Ids(ids))
    package = types.ModuleType("litgpt.generate")
    package.base, package.speculative_decoding = base, code
    for name, module in (("torch", torch), ("litgpt", types.ModuleType("litgpt")), ("litgpt.generate", package)):
        monkeypatch.setitem(sys.modules, name, module)

    def decoded(way, tokens, ends):
        asked = _audit.Settings(folder=tmp_path, prompt=[0], way=way, gamma=2, temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, slots=1, context=64, seed=1, ends=ends)
        (one,) = litgpt.decode((None, None, code.speculative_decoding), asked, range(1), tokens)
        return one.tokens[0], one.drafted, one.accepted, one.steps

    assert decoded("draft", 4, False) == ([1, 2, 3, 3], 2, 2, 1)
    assert decoded("draft", 5, False) == ([1, 2, 3, 3, 2], 4, 2, 2)
    assert decoded("first token kept", 5, False) == ([3, 1, 2, 3, 3], 4, 2, 2)
    assert decoded("draft", 16, True) == ([1, 2, 3, 3, 2, 0], 6, 4, 3)
    assert decoded("first token kept", 16, True) == ([3, 1, 2, 3, 3, 2, 0], 6, 4, 3)


# A failure is reported in one sentence, and no process keeps running.


@pytest.mark.parametrize("fault, sentence", [
    ("dies", r"Toy: its process was ended by SIGSEGV after \d+ sequences"),
    ("wrong id", r"Toy emitted the id 99 in sequence 1; ids are 0 to 3"),
    ("short", r"Toy emitted 7 tokens in sequence 1; expected 20 sequences of 8"),
    ("refuses", r"Toy: the model has 3 layers too many"),
    ("listens", r"Toy listens on 0\.0\.0\.0:\d+, not only on the loopback address; it was ended"),
])
def test_an_engine_that_fails(fault, sentence, tmp_path):
    ran = audit_here("--engines", toy(tmp_path, fault), "--settings", "γ = 3", "--sequences", 20, "--long", 5, "--out", tmp_path / "out")
    assert ran.returncode == 1 and "FAILED" in ran.stdout
    one = of(speclab.Audit.load(tmp_path / "out"))
    assert one.verdict == "failed" and re.match(sentence, one.failed), one.failed


def test_what_failed_is_run_again(tmp_path):
    engine, out = toy(tmp_path, "dies"), tmp_path / "out"
    audited(engine, sequences=20, long=5, out=out)
    files = [file for file in out.glob("*/*.json") if json.loads(file.read_text())["failed"]]
    assert files
    for file in files:
        file.write_text(json.dumps({**json.loads(file.read_text()), "failed": "of before"}))
    assert "SIGSEGV" in of(audited(engine, sequences=20, long=5, out=out)).failed


def test_models_that_an_engine_has_mapped_are_not_changed(tmp_path):
    write_models(PAIR, tmp_path)
    with (tmp_path / "target.gguf").open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        before = mapped[:]
        write_models({**PAIR, "models": {**PAIR["models"], "target": PAIR["models"]["draft"]}}, tmp_path)
        assert mapped[:] == before != (tmp_path / "target.gguf").read_bytes()


def test_an_engine_may_listen_on_the_loopback_address(tmp_path):
    assert of(audited(toy(tmp_path, "listens on loopback"), sequences=20, long=5)).verdict == "equal"


def test_what_is_not_installed_is_skipped_by_name(tmp_path):
    with pytest.raises(speclab.EngineError, match=r"llama_cpp: not installed in .*`scripts/engines.sh llama_cpp`"):
        audited("llama_cpp", environments=tmp_path)
    with pytest.raises(speclab.EngineError, match="toy_missing_package.py: .* cannot import it: ModuleNotFoundError: No module named 'no_such_package'"):
        audited(toy(tmp_path, "missing package"))
    ran = audit_here("--engines", f"{toy(tmp_path)},vllm", "--settings", "γ = 3", "--sequences", 200, "--long", 5, "--environments", tmp_path, "--out", tmp_path / "out")
    assert ran.returncode == 0 and "vllm: skipped, not installed" in ran.stdout and ran.stdout.count("| equal |") == 2
    assert audit_here("--engines", "openvino", "--environments", tmp_path, "--out", tmp_path / "out").returncode == 2


@pytest.mark.parametrize("arguments, sentence", [
    ({"engines": "nothing"}, "engines: 'nothing' is no engine; give litgpt, llama_cpp, "),
    ({"engines": "no_such.py"}, "engines: no_such.py: no such file"),
    ({"settings": "γ = 9"}, r"settings: no setting of llama_cpp contains 'γ = 9': plain, as it is, compared, γ = 3"),
    ({"sequences": 3}, "sequences"),
    ({"prompt": [0, 4]}, "prompt: 4; expected 0 to 3"),
    ({"prompt": [0] * 57}, "prompt: 57 ids; expected 1 to 56, as the models read 256"),
    ({"level": 2}, "level"),
    ({"config": {"models": {"target": {"kind": "bigram"}}}}, "/models/target: engines decode models of the kind"),
    ({"config": {**PAIR, "models": {**PAIR["models"], "draft": {"kind": "table", "rows": [[0, 1], [0, 1]]}}}}, "/models/draft/rows: 2 tokens, and target 4"),
])
def test_bad_arguments(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        speclab.audit(**{"engines": "llama_cpp", "progress": False, **arguments})


def processes_of(adapter):
    """Processes that decode with this adapter."""
    found = []
    for file in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if file.read_bytes().endswith(f"decode\0{adapter}\0".encode()):
                found.append(file.parent.name)
        except OSError:
            continue
    return found


@pytest.mark.parametrize("word", [signal.SIGINT, signal.SIGKILL])
def test_interrupted(word, tmp_path):
    adapter = toy(tmp_path, "slow")
    audit = subprocess.Popen([sys.executable, "-m", "speclab.audit", "--engines", adapter, "--out", tmp_path / "out"], stderr=subprocess.PIPE, text=True,
                             stdout=subprocess.DEVNULL, start_new_session=True)
    audit.stderr.readline()  # the first setting is announced
    for _ in range(200):
        if processes_of(adapter):
            break
        time.sleep(0.05)
    assert processes_of(adapter)
    audit.send_signal(word)
    assert audit.wait(60) == (130 if word == signal.SIGINT else -signal.SIGKILL)
    for _ in range(100):
        if not processes_of(adapter):
            break
        time.sleep(0.05)
    assert not processes_of(adapter)


# Engines that are installed with the tests (tests/python/requirements.txt).


@pytest.fixture(scope="module")
def environments(tmp_path_factory):
    """Environments that use this Python."""
    folder = tmp_path_factory.mktemp("environments")
    for name in names():
        environment(folder, name)
    return folder


def test_llama_cpp(environments, tmp_path):
    installed("xllamacpp")
    result = audited("llama_cpp", environments=environments, sequences=400, long=8)
    assert {one.verdict for one in result.settings} == {"equal"} and not result.different
    for way, scheme, other in (("compared", "p(argmax q)", "Σ p q"), ("probabilistic", "Σ min(p, q)", "Σ p q")):
        one = next(one for one in result.settings if one.way == way)
        six = 3 * (one.tokens_per_step.high - one.tokens_per_step.low) / 2  # half widths of 1.96 deviations: P < 1e-8
        assert abs(one.tokens_per_step.value - one.possible[scheme]) < six
        assert abs(one.tokens_per_step.value - one.possible[other]) > six / 3


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["probabilistic, end of text, γ = 8", "ngram_simple, repeated prompt, temperature", "probabilistic, request, frequency"])
def test_other_settings_of_llama_cpp(setting, environments):
    installed("xllamacpp")
    assert {one.verdict for one in audited("llama_cpp", setting, environments=environments, sequences=400, long=5).settings} == {"equal"}


@pytest.mark.slow
def test_openvino(environments):
    installed("openvino_genai")
    result = audited("openvino", environments=environments, sequences=600, long=20)
    assert [one.verdict for one in result.settings] == ["equal", "different"]  # results/engines/openvino.md


@pytest.mark.slow
def test_lookup_of_openvino(environments):
    installed("openvino_genai")
    assert {one.verdict for one in audited("openvino", "lookup, repeated prompt, temperature", environments=environments, sequences=600, long=20).settings} == {"equal"}
    plain, lookup = audited("openvino", "lookup, repeated prompt, request, presence", environments=environments, sequences=600).settings
    assert plain.verdict == lookup.verdict == "different" and lookup.plain_p > 1e-6  # its presence penalty rewards a token


def test_litgpt(environments):
    installed("litgpt")
    result = audited("litgpt", environments=environments, sequences=600, long=20)
    assert [one.verdict for one in result.settings] == ["equal", "different", "equal"]  # results/engines/litgpt.md


@pytest.mark.slow
def test_faults_of_an_adapter_are_found(environments, tmp_path):
    """The audit finds exchanged models, and one seed for all sequences, in an engine that is none of Python, as above."""
    installed("xllamacpp")
    own = tmp_path / "llama_cpp.py"
    head = "import dataclasses, pathlib, tempfile\nfrom .llama_cpp import ENGINE as RIGHT\nfrom ._engine import Settings\n"
    swapped = """
def load(settings):
    folder = pathlib.Path(tempfile.mkdtemp())
    for one, other in (("target", "draft"), ("draft", "target")):
        (folder / f"{one}.gguf").symlink_to(settings.folder / f"{other}.gguf")
    return RIGHT.load(dataclasses.replace(settings, folder=folder))
ENGINE = dataclasses.replace(RIGHT, load=load)
"""
    seeds = """
class OneSeed(Settings):
    def seed_of(self, sequence):
        return 7
def decode(server, settings, numbers, tokens):
    return RIGHT.decode(server, OneSeed(**vars(settings)), numbers, tokens)
ENGINE = dataclasses.replace(RIGHT, decode=decode)
"""
    for fault in swapped, seeds:
        own.write_text(head + fault)
        result = audited(str(own), "compared, γ = 3", environments=environments, sequences=500, long=10)
        assert [one.verdict for one in result.settings] == ["different", "different"]


def test_a_broken_model_is_one_sentence(environments, models, tmp_path):
    installed("xllamacpp")
    (tmp_path / "target.gguf").write_bytes(b"GGUF nothing")
    asked = _audit.Settings(folder=tmp_path, prompt=[0], way="", gamma=0, temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, slots=1, context=64, seed=1)
    with pytest.raises(speclab.EngineError, match=r"^llama.cpp: .+") as problem:
        _process.decode("llama_cpp", engine_of("llama_cpp"), environments / "llama_cpp/bin/python", asked, 4, [_process.Asked(10, 8)])
    assert "\n" not in str(problem.value)


LATE = """
def load(settings):
    from transformers.generation.logits_process import RepetitionPenaltyLogitsProcessor as Penalty
    right = Penalty.__call__
    if settings.gamma:
        Penalty.__call__ = lambda self, ids, scores: right(self, ids[:, : max(1, ids.shape[1] - 1)], scores)
    return RIGHT.load(settings)
"""
SHORT = """
def load(settings):
    target, options = RIGHT.load(settings)
    if settings.gamma:
        options["min_length"] = options.pop("min_new_tokens")
    return target, options
"""
ORDER = """
def load(settings):
    from transformers import LogitsProcessorList
    target, options = RIGHT.load(settings)
    right = target.model._get_logits_processor
    if settings.gamma:
        target.model._get_logits_processor = lambda **named: LogitsProcessorList(reversed(right(**named)))
    return target, options
"""


@pytest.mark.slow
@pytest.mark.parametrize("fault, setting, sequences", [
    ("", "assisted, request, logit bias 1, repetition", 200), (LATE, "assisted, request, logit bias 1, repetition", 700),
    (SHORT, "assisted, request, at least 3", 100), (ORDER, "assisted, request, repetition penalty 2, top-k 2", 100),
])
def test_requests_of_transformers(fault, setting, sequences, environments, tmp_path):
    """Planted in speculation alone: a penalty that counts a token late, a minimal length that counts the prompt, filters in the reverse order.
    The first needs most sequences: with n the statistic's noncentrality is 0.222 n."""
    installed("transformers")
    own = tmp_path / "transformers.py"
    own.write_text(f"import dataclasses\nfrom .transformers import ENGINE as RIGHT\nload = RIGHT.load\n{fault}\nENGINE = dataclasses.replace(RIGHT, load=load)\n")
    plain, one = audited(str(own), setting, environments=environments, sequences=sequences).settings
    assert plain.verdict == "equal" and one.verdict == ("different" if fault else "equal")
