"""Tests the audit of a server that runs: its tests of texts and rows, with planted faults, its journal, its errors, and llama.cpp's server."""

import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pytest

import speclab
from speclab import _core
from completions_server import DRAFT, TARGET, VOCAB, serving
from speclab.engines._server import Answer
from speclab.engines._server_audit import audit_server
from speclab.engines._server_tests import detectable, judged_texts
from speclab.engines._table_models import write_models
from this_python import audit_here, installed

SOURCE = pathlib.Path(os.environ["SPECLAB_SOURCE"])
TWO, OWN, OTHER, PLAIN = ("speculative and plain texts", "speculative tokens, its own rows", "speculative tokens, the plain server's rows", "plain tokens, its own rows")


def command(*words, **options):
    return subprocess.run([sys.executable, "-m", "speclab.audit", *map(str, words)], capture_output=True, text=True, **options)


def audited(at, plain=None, **options):
    return audit_server(at.url, plain_url=None if plain is None else plain.url, **{"requests": 600, "tokens": 4, "progress": False, **options})


def by_name(found):
    return {one["test"]: one for one in found["tests"]}


# The tests themselves, on texts without a server.


def texts(rows, count, seed, tokens=3, emitted=None):
    """Texts drawn from `emitted` (None: from the rows), with the rows as answers."""
    ids = speclab.sample(rows if emitted is None else emitted, None, tokens=tokens, samples=count, seed=seed, prompt=[0], threads=1).tolist()
    said = [{f"{token:03}": float(value) for token, value in enumerate(np.log(row))} for row in rows]
    return [(at % 2, Answer([f"{token:03}" for token in text], [said[last] for last in [0, *text[:-1]]], None)) for at, text in enumerate(ids)]


@pytest.mark.parametrize("repetitions, bound", [(30, 0.48), pytest.param(80, 0.294, marks=pytest.mark.slow)])
def test_false_alarms(repetitions, bound, monkeypatch):
    """Null: both samples have one law, which is that of the rows. The p-values of the repetitions, not adjusted, are uniform or larger:
    their one-sided distance is below the bound but for a probability of 1e-6 (Dvoretzky, Kiefer, Wolfowitz and Massart). Planted: texts that
    come twice."""
    monkeypatch.setattr(_core, "holm", list)

    def distance(p_values):
        values = np.sort(p_values)
        return ((np.arange(len(values)) + 1) / len(values) - values).max()

    found = {name: ([], []) for name in (TWO, OWN, OTHER, PLAIN)}
    for repetition in range(repetitions):
        first, second = texts(TARGET, 200, 2 * repetition), texts(TARGET, 200, 2 * repetition + 1)
        for at, samples in enumerate(([first, second], [2 * first, 2 * second])):
            for one in judged_texts(samples, 3, True, 1e-6, 0.99):
                found[one["test"]][at].append(one["p"])
    for right, doubled in found.values():
        assert distance(right) < bound < distance(doubled)


@pytest.mark.parametrize("repetitions, least", [(20, 15), pytest.param(40, 33, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", [TWO, OTHER])
def test_the_stated_difference_is_found_with_the_stated_power(name, repetitions, least):
    """A change of every token's law by the stated total variation is found in at least 0.99 of the samples: fewer than 15 of 20, or 33 of 40,
    with probability below 1e-7. A third of it is found less often."""
    rows, tokens, level = np.full((4, 4), 0.25), 2, 1e-6
    if name == TWO:
        count = 1500
        wanted = detectable(2 * 16, tokens, count, level / 4, 0.99, 2)
        # Texts of the second sample have the odds 1 + e and 1 - e in their first token only, so the texts' total variation is e / 2.
        change = 2 * wanted
    else:
        count = 600
        wanted = detectable(2 * 4 * 4 + 1, 1, count, level / 4, 0.99, 1)
        change = 2 * wanted
    shares = []
    for part in (1, 1 / 3):
        other = rows + change * part * 0.25 * np.array([1, -1, 1, -1])
        emitted = np.vstack([other[:1], rows[1:]]) if name == TWO else other
        found = 0
        for repetition in range(repetitions):
            given = [texts(rows, count, 2 * repetition, tokens, emitted), texts(rows, count, 2 * repetition + 1, tokens)]
            found += {one["test"]: one for one in judged_texts(given, tokens, True, level, 0.99)}[name]["verdict"] == "different"
        shares.append(found)
    assert shares[0] >= least > repetitions / 2 > shares[1], shares


def test_texts_that_come_once_are_no_difference():
    """100,000 equally likely tokens: every text comes once. Null: one law; P(a false alarm in 20 at 1e-6) = 2e-5."""
    generator = np.random.default_rng(6)
    for _ in range(20):
        both = [[(0, Answer([str(token) for token in text], [None] * 3, None)) for text in generator.integers(10**5, size=(300, 3))] for _ in range(2)]
        (two,) = judged_texts(both, 3, False, 1e-6, 0.99)
        assert two["verdict"] == "equal" and two["degrees"] > 0


def test_returned_rows_of_few_tokens_are_pooled():
    """Rows of 20 of 60 tokens, with the emitted one if it is another: the others are one class. A server that emits those too often is found."""
    rows = np.random.default_rng(8).dirichlet(np.full(60, 0.5), 60)

    def cut(answers):
        out = []
        for prompt, answer in answers:
            tops = [sorted(row, key=lambda token: -row[token])[:20] for row in answer.rows]
            out.append((prompt, Answer(answer.tokens, [{one: row[one] for one in {*top, token}} for row, top, token in zip(answer.rows, tops, answer.tokens)], None)))
        return out

    order = np.argsort(-rows, axis=1)
    flatter = rows.copy()
    np.put_along_axis(flatter, order[:, 20:], 3 * np.take_along_axis(rows, order[:, 20:], 1), 1)
    flatter /= flatter.sum(axis=1, keepdims=True)
    for emitted, verdict in ((rows, "equal"), (flatter, "different")):
        (own,) = judged_texts([cut(texts(rows, 1000, 5, 4, emitted))], 4, True, 1e-6, 0.99)
        assert own["verdict"] == verdict and own["samples"] > 3900


# A server that decodes speculatively by speclab's rules.


def test_a_right_server_is_equal(tmp_path):
    """Null: the speculative server has the plain one's law. The chance of a false alarm is 1e-6."""
    with serving(3) as server, serving(0) as plain:
        ran = command("--url", server.url, "--plain-url", f"{plain.url}/v1", "--requests", 600, "--tokens", 4, "--out", tmp_path)
        assert ran.returncode == 0, ran.stderr
        assert "verdict  equal: no difference found (level 1e-06)" in ran.stdout and "(it drafted tokens)" in ran.stdout
        assert re.search(r"vLLM, m: 600 requests to each server, seeds made from 1.*\na total variation of 0\.\d+ between", ran.stderr)
        found = json.loads((tmp_path / "server.json").read_text())
        assert [one["verdict"] for one in found["tests"]] == ["equal"] * 4 and found["answered"] == 600
        # Both servers get the same prompts, and never the same seed.
        asked, others = ({body["seed"] for body in one.asked} for one in (server, plain))
        assert len(asked) == len(others) == 600 and not asked & others
        assert all(body["max_tokens"] == 12 and body["logprobs"] == 20 and body["temperature"] == 1 and body["top_k"] == -1 for body in server.asked)


@pytest.mark.parametrize("rule, gamma", [("fault-resample-target", 3), *(
    pytest.param(name, gamma, marks=pytest.mark.slow) for name, gamma in (("fault-accept-all", 3), ("fault-swapped-residual", 3), ("fault-draft-bonus", 1)))])
def test_planted_faults_are_found(rule, gamma, tmp_path):
    """The total variation of these faults, here in the first two tokens, is above the stated one, which is found with probability 0.99."""
    with serving(gamma, rule) as server, serving(0) as plain:
        ran = audit_here("--url", server.url, "--plain-url", plain.url, "--requests", 1000, "--tokens", 5, "--out", tmp_path)
        assert ran.returncode == 1, ran.stdout + ran.stderr
        found = by_name(json.loads((tmp_path / "server.json").read_text()))
        assert found[OTHER]["verdict"] == "different" and found[PLAIN]["verdict"] == "equal" and "verdict  different\n" in ran.stdout
        law = speclab.law(TARGET, 2, context=[0])
        emitted = speclab.sample(TARGET, DRAFT, gamma, rule, tokens=2, samples=100_000, prompt=[0])
        shares = np.bincount(emitted[:, 0] * VOCAB + emitted[:, 1], minlength=VOCAB**2) / 100_000
        assert abs(shares - [law[one, two] for one in range(VOCAB) for two in range(VOCAB)]).sum() / 2 > found[OTHER]["detectable_tv"]
    with serving(gamma, rule) as server:
        assert audited(server, requests=1000, tokens=5).different  # by its own rows alone


def test_another_model_without_speculation_is_found_and_the_largest_difference_named():
    with serving(3) as server, serving(0, target=np.roll(TARGET, 1, axis=1)) as plain:
        found = audited(server, plain, requests=300)
    assert found.different and by_name(found)[TWO]["verdict"] == by_name(found)[OTHER]["verdict"] == "different"
    assert by_name(found)[OWN]["verdict"] == by_name(found)[PLAIN]["verdict"] == "equal"
    assert re.search(r"largest  ' w\d' after \".*\" and \[.*\]: [\d,]+ of [\d,]+ with speculation, [\d,]+ of [\d,]+ without \(\d+\.\d standard errors\)", str(found))


def test_rows_that_plain_decoding_contradicts_say_nothing_about_speculation():
    with serving(3, fault="other rows") as server, serving(0, fault="other rows") as plain:
        found = audited(server, plain, requests=300)
    assert by_name(found)[TWO]["verdict"] == "equal" and by_name(found)[PLAIN]["verdict"] == "different"
    assert "rows say nothing here about speculation" in str(found)


def test_requests_that_switch_speculation_off():
    with serving(3, owner="llamacpp") as server:
        assert not audited(server, plain_fields={"no_speculation": True}, requests=300).different
    with serving(3, "fault-accept-all", owner="llamacpp") as server:
        assert audited(server, plain_fields={"no_speculation": True}, requests=300).different
    with serving(3, owner="llamacpp", fault="ignores fields") as server, pytest.raises(speclab.EngineError, match="drafted tokens in requests that are to be without"):
        audited(server, plain_fields={"no_speculation": True}, requests=40)


def test_rows_are_used_up_to_the_first_position_where_some_are_missing():
    with serving(3, owner="llamacpp") as server, serving(0, owner="llamacpp") as plain:
        found = by_name(audited(server, plain))
    assert found[OWN]["samples"] == 600 and found[OWN]["detectable_tv"] is None and 2350 < found[PLAIN]["samples"] <= 2400
    assert 2200 < found[OTHER]["samples"] <= 2400  # at texts that the plain server has not begun, there are no rows


def test_texts_that_end(tmp_path):
    with serving(3, fault="ends") as server, serving(0, fault="ends") as plain:
        assert not audited(server, plain, requests=300).different
    with serving(3, fault="ends") as server, serving(0) as plain:
        found = by_name(audited(server, plain, requests=300))
        assert found[TWO]["verdict"] == "different" and found[OTHER]["verdict"] == "equal"


def test_other_distributions_are_compared_as_texts_only():
    with serving(3) as server, serving(0) as plain:
        for options in ({"temperature": 0.7}, {"fields": {"top_k": 3}}):
            assert [one["test"] for one in audited(server, plain, requests=100, **options)["tests"]] == [TWO]
            with pytest.raises(ValueError, match="plain_url: missing"):
                audited(server, **options)
        assert len(audited(server, plain, requests=100, fields={"logprobs": 2})["tests"]) == 4
        assert server.asked[-1]["logprobs"] == 2


# The journal.


def test_a_killed_audit_goes_on_to_the_same_result(tmp_path):
    with serving(3, delay=0.002) as server, serving(0) as plain:
        words = ["--url", server.url, "--plain-url", plain.url, "--requests", "250", "--tokens", "3", "--out"]
        assert audit_here(*words, tmp_path / "whole").returncode == 0
        asked = len(server.asked)
        for word, code in ((signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 130)):
            audit = subprocess.Popen([sys.executable, "-m", "speclab.audit", *words, tmp_path / "cut"], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            before = len(server.asked)
            while len(server.asked) < before + 60:
                assert audit.poll() is None
                time.sleep(0.01)
            audit.send_signal(word)
            assert audit.wait(20) == code
        (journal,) = (tmp_path / "cut").glob("*.jsonl")
        with journal.open("a") as file:
            file.write('{"side": "plain", "num')  # a line that was cut
        done = audit_here(*words, tmp_path / "cut")
        assert done.returncode == 0 and re.search(rf"\d+ answers are from {re.escape(str(journal))}; remove it if", done.stderr), done.stderr
        assert len(server.asked) - asked < 250 + 2 * 8 + 1  # only requests that ran were lost
        whole, cut = (json.loads((tmp_path / name / "server.json").read_text()) for name in ("whole", "cut"))
        assert whole.pop("date") and cut.pop("date") and whole == cut
        asked = len(server.asked)
        assert audit_here(*words, tmp_path / "cut").stdout == done.stdout and len(server.asked) == asked  # nothing is asked again
        journal.write_text(journal.read_text().replace('"number"', '"numbers"', 1))
        broken = audit_here(*words, tmp_path / "cut")
        assert broken.returncode == 2 and "no journal of an audit; remove it" in broken.stderr


def test_requests_and_seconds_are_bounded(tmp_path):
    with serving(3, delay=0.05) as server, serving(0) as plain:
        start = time.monotonic()
        found = audited(server, plain, requests=100_000, seconds=4, tokens=3)
        assert time.monotonic() - start < 30 and 40 <= found["answered"] < 5000 and f"{found['answered']} of 100,000 requests" in str(found)
        assert len(server.asked) - found["answered"] <= 4
        with pytest.raises(speclab.EngineError, match=r"\d+ requests to each server in 0.1 s; expected 40 or more"):
            audited(server, plain, seconds=0.1)


# Errors are one sentence, with exit code 2.


@pytest.mark.parametrize("fault, sentence", [
    ("HTTP 500", r"http://.*/v1/completions: HTTP 500: the GPU is on fire \(\d+ of 100 requests are answered; the same command goes on\)"),
    ("no JSON", "the answer is no JSON object: '<html>"),
    ("no choices", "the answer is no completion with log-probabilities in a form that is known"),
    ("odd", "is no completion with log-probabilities in a form that is known"),
    ("few rows", "the answer has 11 rows for 12 tokens"),
    ("short", "the answer has 11 tokens, and 12 were asked"),
    ("no logprobs", "the answer has no log-probabilities, from which its tokens are read; start the server so that it returns them"),
    ("no logarithms", "is no completion with log-probabilities"),
    ("too much", "has a row whose probabilities sum to 6.000"),
    ("other model", "the answer is of the model 'other', and 'm' was asked"),
    ("two models", "serves several models; --model names one of m, n"),
    ("no models", "/v1/models: lists no models"),
    ("never drafts", "drafted no tokens in 100 requests, so there is no speculation to audit"),
])
def test_a_server_that_fails(fault, sentence, tmp_path):
    with serving(3, fault=fault) as server:
        ran = audit_here("--url", server.url, "--requests", 100, "--tokens", 4, "--out", tmp_path)
    assert ran.returncode == 2 and re.search(sentence, ran.stderr), ran.stderr
    assert ran.stderr.splitlines()[-1].startswith("error: http://127.0.0.1:") and not ran.stdout


def test_other_servers_and_models_are_refused_with_a_way_out(tmp_path):
    with serving(3, owner="openai") as server:
        with pytest.raises(speclab.EngineError, match=r"says no known server \(`owned_by` is 'openai'\); --server names one of vllm, sglang, llamacpp, tensorrt_llm"):
            audited(server)
        found = audited(server, server="sglang", requests=100)
        assert found["server"] == "SGLang" and found["drafted"] is None and "it does not say whether it drafted tokens" in str(found)
        with pytest.raises(speclab.EngineError, match="does not serve 'x'; --model names one of m"):
            audited(server, server="sglang", model="x")
        with serving(0) as plain, pytest.raises(speclab.EngineError, match="does not serve 'y'; --plain-model names one of m"):
            audited(server, plain, server="sglang", plain_model="y")


def test_a_plain_server_that_speculates_and_one_that_answers_all_alike():
    with serving(3) as server, serving(3) as plain, pytest.raises(speclab.EngineError, match="drafted tokens in requests that are to be without speculation"):
        audited(server, plain, requests=60)
    with serving(3, fault="one text") as server, serving(0, fault="one text") as plain:
        with pytest.raises(speclab.EngineError, match="all texts of each prompt are the same, which leaves nothing to test"):
            audited(server, plain, temperature=0.5, prompts=["a"], requests=100)


def test_a_server_that_is_slow_or_away(tmp_path):
    with serving(3, delay=30) as server:
        start = time.monotonic()
        ran = audit_here("--url", server.url, "--timeout", 0.3, "--out", tmp_path)
        assert ran.returncode == 2 and "no answer within 0.3 s; --timeout sets another bound" in ran.stderr and time.monotonic() - start < 25
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    ran = audit_here("--url", f"http://127.0.0.1:{port}", "--out", tmp_path)
    assert ran.returncode == 2 and f"error: http://127.0.0.1:{port}/v1/models: " in ran.stderr and "does a server run there?" in ran.stderr


@pytest.mark.parametrize("words, sentence", [
    (["--url", "localhost:8000"], "--url localhost:8000: expected the address of a server"),
    (["--url", "http://127.0.0.1:99999"], "--url http://127.0.0.1:99999: expected the address of a server"),
    (["--url", "http://h", "--temperature", "0"], "temperature: 0; expected more"),
    (["--url", "http://h", "--requests", "10"], "requests: 10; expected 40 to"),
    (["--url", "http://h", "--seconds", "0"], "seconds: 0.0; expected above 0"),
    (["--url", "http://h", "--plain-url", "http://g", "--plain-fields", '{"a": 1}'], "plain_fields: need no plain_url"),
    (["--url", "http://h", "--plain-fields", "[1]"], "--plain-fields"),
    (["--url", "http://h", "--fields", '{"seed": 1}'], "fields: seed is set by the audit"),
    (["--url", "http://h", "--header", "Bearer x"], "--header Bearer x: expected NAME:VALUE"),
    (["--url", "http://h", "--engines", "vllm"], "--engines: is not for --url"),
    (["--url", "http://h", "--prompts", "no_such_file"], "no_such_file"),
    (["--plain-url", "http://h"], "--plain-url: needs --url"),
])
def test_bad_arguments(words, sentence):
    ran = audit_here(*words)
    assert ran.returncode == 2 and sentence in ran.stderr, ran.stderr


# The server of llama.cpp, if it is installed with the tests. Above, completions_server.py answers as it does.


@pytest.fixture
def llama():
    """A function that starts servers of a pair, with speculation and without, and returns their addresses."""
    installed("xllamacpp")
    running = []

    def started(target, draft):
        running.append(subprocess.Popen([sys.executable, SOURCE / "scripts/llama_cpp_servers.py", target, draft, "0", "0"], stdout=subprocess.PIPE, text=True))
        return running[-1].stdout.readline().split()

    yield started
    for process in running:
        process.kill()
        process.wait()


@pytest.mark.slow
def test_llama_cpp(llama, tmp_path):
    """Null: its server emits with speculation what it emits without; the chance of a false alarm is 1e-6. Planted: the plain server has
    the draft's model. The returned rows are those of the table."""
    pair = json.loads((SOURCE / "configs/audit_engine.json").read_text())
    write_models(pair, tmp_path)
    (tmp_path / "prompts").write_text("ab\nabc\ncba\n")
    speculative, plain = llama(tmp_path / "target.gguf", tmp_path / "draft.gguf")
    _, other = llama(tmp_path / "draft.gguf", tmp_path / "draft.gguf")
    words = ("--url", speculative, "--prompts", tmp_path / "prompts", "--requests", 300, "--out", tmp_path / "out")
    names = ("--model", tmp_path / "target.gguf", "--plain-model")
    right = command(*words, "--plain-url", plain, *names, tmp_path / "target.gguf")
    assert right.returncode == 0 and "llama.cpp" in right.stdout and "(it drafted tokens)" in right.stdout, right.stdout + right.stderr
    wrong = command(*words, "--plain-url", other, *names, tmp_path / "draft.gguf")
    assert wrong.returncode == 1 and "verdict  different" in wrong.stdout, wrong.stdout + wrong.stderr
    ignored = command(*words, "--plain-fields", '{"speculative.n_max": 0}')
    assert ignored.returncode == 2 and "some ignore request fields" in ignored.stderr
    journal = next((tmp_path / "out").glob("*.jsonl"))
    rows = np.array(pair["models"]["target"]["rows"], float)
    rows /= rows.sum(axis=1, keepdims=True)
    entry = next(one for one in map(json.loads, journal.read_text().splitlines()[1:]) if one["side"] == "speculative")
    last = ord(("ab", "abc", "cba")[entry["number"] % 3][-1]) - ord("a") + 1
    assert {token: np.exp(value) for token, value in entry["rows"][0].items() if value > -20} == pytest.approx(
        {f"token_id:{token}": p for token, p in enumerate(rows[last]) if p > 0}, rel=1e-3)
