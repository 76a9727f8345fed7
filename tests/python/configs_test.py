"""Tests that run(config) gives the program's bytes, and the other functions its JSON."""

import json
import os
import pathlib
import subprocess
import warnings

import numpy as np
import pytest

import speclab

SOURCE = pathlib.Path(os.environ.get("SPECLAB_SOURCE", pathlib.Path(__file__).parents[2]))
BINARY = os.environ.get("SPECLAB_BINARY", str(SOURCE / "build/release/bin/speclab"))

CONFIGS = sorted([*SOURCE.glob("configs/*.json"), *SOURCE.glob("configs/paper/*.json")])
# These take less than a second; the others run with "-m slow".
QUICK = {"first", "check_token", "exact_markov", "sweep_formula", "table5-factors"}


@pytest.fixture(autouse=True)
def in_the_source_tree(monkeypatch):
    monkeypatch.chdir(SOURCE)


def program(*words):
    made = subprocess.run([BINARY, *map(str, words)], capture_output=True, text=True, timeout=3600)
    return made.returncode, made.stdout, made.stderr


needs_program = pytest.mark.skipif(not os.path.exists(BINARY), reason=f"no program at {BINARY}")


def cases():
    for path in CONFIGS:
        marks = [] if path.stem in QUICK else [pytest.mark.slow]
        yield pytest.param(path, id=path.stem, marks=marks)


@needs_program
@pytest.mark.parametrize("path", [*cases()])
def test_same_bytes_as_the_program(path, tmp_path):
    if json.loads(path.read_text()).get("experiment") == "walltime":
        pytest.skip("measures times, which are not repeated")
    code, _, error = program("run", path, "--quiet", "--out", tmp_path)
    if code == 2:
        # If the program refuses a config, the package refuses it with the same sentence.
        with pytest.raises(speclab.ConfigError) as raised:
            speclab.run(path)
        assert str(raised.value) in error.replace(f"error: {path}", str(path))
        return
    assert code == 0, error
    wanted = (tmp_path / "result.json").read_bytes()
    assert speclab.run(path).to_json() == wanted
    if path.stem in QUICK:
        as_dict = speclab.run(json.loads(path.read_text()))
        assert as_dict.to_json() == wanted
        assert as_dict.to_csv() == (tmp_path / "results.csv").read_text()


def own_part(printed):
    """result.json of a verb without what all such files begin with: the program, the command and its inputs."""
    return {key: value for key, value in json.loads(printed).items() if key not in ("speclab", "format", "command", "config", "inputs")}


@needs_program
def test_other_verbs():
    path = SOURCE / "configs/exact_markov.json"
    assert dict(speclab.exact(path)) == own_part(program("exact", path, "--json")[1]) | {"speclab": speclab.__version__, "config": speclab.exact(path).config}
    path = SOURCE / "configs/check_token.json"
    assert speclab.check(path).tests == own_part(program("check", path, "--json")[1])
    assert dict(speclab.predict(0.75, 0.02, gamma=7)) == json.loads(program("predict", "--alpha", ".75", "--c", ".02", "--gamma", "7", "--json")[1])
    path = SOURCE / "configs/prove_markov.json"
    proof, printed = speclab.prove(path), json.loads(program("prove", path, "--exact", "--json")[1])
    assert {",".join(map(str, tokens)): str(p) for tokens, p in proof.law.items()} == printed["distribution"]
    assert (str(proof.acceptance), proof.lossless, proof.branches) == (printed["acceptance"], printed["lossless"], printed["branches"])
    assert proof.gamma == json.loads(path.read_text())["gamma"]


@needs_program
def test_plans(tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("drafted,accepted\n" + "5,3\n5,5\n5,0\n5,2\n" * 50)
    other = tmp_path / "other.csv"
    other.write_text("drafted,accepted\n" + "5,4\n5,5\n5,1\n5,2\n" * 50)
    table = tmp_path / "sweep.csv"
    table.write_text("K,speed,acceptance\n0,50,\n1,80,.8\n2,90,.6\n3,85,.5\n")
    for words, options in (
        (f"compare {log} {other} --power .9", dict(compare=(log, other), power=0.9)),
        (f"sweep {table} --fields rate=speed --other .5,.9", dict(sweep=table, fields={"rate": "speed"}, other=[0.5, 0.9])),
        ("alpha .75 --c .02", dict(alpha=0.75, c=0.02)),
        ("alpha .75 --alpha-se .01 --c .02 --max-gamma 5", dict(alpha=0.75, alpha_se=0.01, c=0.02, max_gamma=5)),
        ("alpha .511 --of-drafted 3 --c .02", dict(alpha=0.511, of_drafted=3, c=0.02)),
        (f"log {log} --c .05", dict(log=log, c=0.05)),
        ("alpha .75 --target llama-3.1-70b --draft llama-3.2-1b --device h100-sxm --devices 4",
         dict(alpha=0.75, target="llama-3.1-70b", draft="llama-3.2-1b", device="h100-sxm", devices=4)),
    ):
        code, out, error = program("plan", *words.split(), "--json")
        assert code == 0, error
        assert dict(speclab.plan(**options)) == own_part(out)
        assert str(speclab.plan(**options)) == program("plan", *words.split())[1]
    for options, words in (
        (dict(), "give one of"),
        (dict(alpha=0.5, log=log), "give one of"),
        (dict(alpha=1.5, c=0.1), "alpha"),
        (dict(alpha=0.5, c=0.1, of_drafted=0.5), "of-drafted"),
        (dict(alpha=0.5, c=0.1, gamma=10**6), "gamma"),
        (dict(alpha=0.5, c=0.1, gamma=2.5), "gamma"),
        (dict(alpha=0.5, draft="nobody", target="llama-3.1-70b", device="h100-sxm"), "nobody"),
        (dict(log="nowhere.csv", c=0.1), "nowhere.csv"),
    ):
        with pytest.raises(speclab.ConfigError, match=words):
            speclab.plan(**options)
    with pytest.raises(TypeError, match="compare: expected two files"):
        speclab.plan(compare=log)
    with pytest.raises(TypeError, match="gamma: expected a number, not False"):
        speclab.plan(alpha=0.5, c=0.1, gamma=False)
    with pytest.raises(speclab.ConfigError, match="--model goes with speclab plan log"):
        speclab.plan(alpha=0.5, c=0.1, model="x")
    with pytest.warns(UserWarning, match="it does not fit: 143.6 GB"):
        small = speclab.plan(alpha=0.75, target="llama-3.1-70b", draft="llama-3.2-1b", device="h100-sxm")
    assert small.fits is False and small.settings == []


@needs_program
def test_serve_is_plan_load(tmp_path):
    trace = tmp_path / "trace.csv"
    trace.write_text("TIMESTAMP,ContextTokens,GeneratedTokens\n" + "".join(
        f"2023-11-16 23:59:{50 + i / 10:09.6f},{100 + i},{20 + i % 7}\n" for i in range(90)))
    models = dict(kind="models", target="llama-3.1-8b", draft="llama-3.2-1b", device="h100-sxm")
    small = dict(cost=models, requests=60, runs=3, max_gamma=2)
    common = "--target llama-3.1-8b --draft llama-3.2-1b --device h100-sxm --max-gamma 2"
    for words, options in (
        ("--rate 4,30 serving.bursts=3 serving.burst_seconds=0.5 serving.tpot_ms=12 serving.percentile=90",
         dict(requests_per_second=[4, 30], bursts=3, burst_seconds=0.5, tpot_ms=12, percentile=90)),
        (f"serving.trace={trace} --rate 5,20 serving.acceptance.kind=rate serving.acceptance.spread=0.2 serving.cost.idle_draft=false", dict(trace=trace, requests_per_second=(5, 20), acceptance=dict(kind="rate", spread=0.2), cost=models | dict(idle_draft=False))),
        ("--rate 9 serving.prompt=700 serving.output=90 serving.length_variation=0 serving.engine.replicas=2 serving.engine.cache_tokens=20000 --seed 5",
         dict(requests_per_second=9, prompt=700, output=90, length_variation=0, engine=dict(replicas=2, cache_tokens=20000), seed=5)),
    ):
        words = [f"--set={word}" if "=" in word else word for word in f"{common} serving.requests=60 serving.runs=3 {words}".split()]
        code, out, error = program("plan", "load", ".7", *words, "--json", "--quiet")
        assert code == 0, error
        found = speclab.serve(0.7, **small | options)
        assert dict(found) == own_part(out)
        if "bursts" in options:
            assert own_part(program("plan", "load", ".7", *words, "--json", "--quiet", "--threads", "1")[1]) == dict(found)
        frame = found.to_pandas()
        assert len(frame) == sum(len(policy["points"]) for policy in found.policies)
        assert set(frame[frame.policy == "plain"].drafted) == {0}
    for options, words in (
        (dict(requests_per_second=[4, 3]), "increasing"), (dict(requests_per_second=0), "rate"), (dict(prompt=1.5, length_variation=0), "integer"),
        (dict(trace="nowhere.csv"), "nowhere.csv"), (dict(acceptance=dict(kind="rate", spread=0.49)), "standard deviation"),
        (dict(trace=trace, prompt=3), "/serving/prompt: a trace has its own"), (dict(engine=dict(cache_tokens=300), length_variation=0), "needs a cache of"),
    ):
        with pytest.raises(speclab.ConfigError, match=words):
            speclab.serve(0.7, **small | options)
    for cost in (dict(c=0.1), dict(kind="models", c=0.1)):
        with pytest.raises(speclab.ConfigError, match="/serving/cost/target: missing"):
            speclab.serve(0.7, cost=cost)
    with pytest.warns(UserWarning, match="it does not fit"):
        assert speclab.serve(0.7, cost=models | dict(target="llama-3.1-70b")).policies == []


def test_sweep_reads_what_run_reads(tmp_path):
    """Editors on Windows begin files with a byte order mark."""
    file = tmp_path / "bom.json"
    file.write_text(json.dumps({"title": "γ", "experiment": "predict", "alpha": 0.8, "sweep": {"/gamma": [1, 3]}}), encoding="utf-8-sig")
    assert speclab.sweep(file) == speclab.run(file)


def test_sweep_looks_at_the_config():
    with pytest.raises(speclab.ConfigError, match="/sweep"):
        speclab.sweep(SOURCE / "configs/first.json")
    with pytest.raises(speclab.ConfigError, match="nowhere.json"):
        speclab.sweep("nowhere.json")
    assert len(speclab.sweep(SOURCE / "configs/sweep_formula.json").cells) > 1


@pytest.mark.parametrize("path", sorted(SOURCE.glob("tests/malformed/*.json")), ids=lambda path: path.stem)
def test_malformed_configs_are_refused(path):
    """The errors are the program's, with file and JSON path; there is no other exception."""
    with pytest.raises(speclab.ConfigError) as raised:
        speclab.run(path)
    assert raised.value.file == str(path) and str(path) in str(raised.value)


@pytest.mark.parametrize("config", [3, None, [1], b"{}", {"title": {1, 2}}, {"title": float("nan")}])
def test_what_is_no_config(config):
    with pytest.raises((TypeError, speclab.ConfigError)):
        speclab.run(config)


def test_errors_of_dicts_name_the_path():
    with pytest.raises(speclab.ConfigError) as raised:
        speclab.run({"title": "t", "gamma": -1})
    assert raised.value.path == "/gamma" and raised.value.file == "" and "-1" in str(raised.value)


@needs_program
@pytest.mark.parametrize("name", ["pair.csv", "pair.jsonl", "pair.safetensors"])
def test_recordings(name, tmp_path):
    """The file has the program's bytes, and the returned recording equals the file."""
    path = SOURCE / "configs/exact_markov.json"
    words = ["--sequences", 5, "--tokens", 40] + (["--entropy"] if name == "pair.jsonl" else [])
    code, _, error = program("record", path, "--out", tmp_path / name, *words)
    assert code == 0, error
    mine = tmp_path / f"mine_{name}"
    config = json.loads(path.read_text())
    made = speclab.record(config, mine, sequences=5, tokens=40, entropy=name == "pair.jsonl", threads=1)
    assert mine.read_bytes() == (tmp_path / name).read_bytes()
    kept = speclab.read_recording(tmp_path / name)
    assert (made.target == kept.target).all() and (made.draft == kept.draft).all() and len(made) == 200
    assert [sequence.count for sequence in made.sequences] == [40] * 5
    without_file = speclab.record(path, sequences=5, tokens=40)
    assert without_file.target == pytest.approx(made.target, abs=1e-5)
    assert sorted(tmp_path.iterdir()) == sorted([tmp_path / name, mine])


def test_recordings_of_several_drafters(tmp_path):
    file = tmp_path / "several.csv"
    file.write_text("sequence,position,token,logp,logq.one,logq.two\n" + "".join(f"0,{i},7,-1,-1.5,-2\n" for i in range(9)))
    assert (speclab.read_recording(file, column="two").draft[0] == -2).all()
    for column, words in ((None, "one, two"), ("three", "three")):
        with pytest.raises(ValueError, match=words):
            speclab.read_recording(file, column=column)


def test_recordings_are_refused(tmp_path):
    markov = SOURCE / "configs/exact_markov.json"
    for config, options, words in (
        (markov, dict(path=tmp_path / "pair.txt"), "pair.txt: expected a name that ends in .csv"),
        (markov, dict(path=tmp_path / "pair.safetensors", entropy=True), "leave entropy out"),
        (markov, dict(sequences=0), "sequences"),
        ({"title": "t", "models": {"target": {"kind": "nobody"}}}, dict(), "/models/target"),
        (SOURCE / "configs/sweep_formula.json", dict(), "sweep_formula.json"),
    ):
        with pytest.raises(ValueError, match=words):
            speclab.record(config, **options)
    with pytest.raises(TypeError, match="tokens"):
        speclab.record(markov, tokens=2.5)
    assert not list(tmp_path.iterdir())
