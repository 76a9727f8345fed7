"""Random requests give the same bytes and numbers from a config file, from the command line and from Python."""

import json
import os
import random

import pytest

import speclab
from configs_test import needs_program, own_part, program

RULES = ["token", "block", "match", "fault-accept-all"]
ENGINES = ["transformers", "vllm", "llama.cpp", "sglang", "sglang-verify"]


def drawn_sampling(draw):
    """Sampling options over three tokens; most are set half of the time. Token 0 is always allowed."""
    options = {}
    for key, value in (
        ("temperature", round(draw.uniform(0.3, 2), 3)),
        ("top_k", draw.randint(1, 3)),
        ("top_p", round(draw.uniform(0.3, 1), 3)),
        ("min_p", round(draw.uniform(0, 0.5), 3)),
        ("frequency_penalty", round(draw.uniform(-1, 2), 3)),
        ("presence_penalty", round(draw.uniform(-1, 2), 3)),
        ("penalty_window", draw.randint(0, 5)),
        ("penalty_prompt", draw.choice(["none", "repetition", "all"])),
        ("logit_bias", {str(draw.randrange(3)): round(draw.uniform(-2, 2), 3)}),
    ):
        if draw.random() < 0.5:
            options[key] = value
    if draw.random() < 0.5:
        options |= {"repetition_penalty": round(draw.uniform(0.5, 2), 3), "logit_offset": round(draw.uniform(-1, 4), 3)}
    if draw.random() < 0.5:
        options |= {"min_tokens": draw.randint(1, 4), "end_tokens": [2]}
    if draw.random() < 0.3:
        options["banned"] = [1]
    if draw.random() < 0.4:
        options["grammar"] = [{"0": draw.randrange(2), **draw.choice([{"1": 1, "2": 0}, {"2": 1}, {"*": 0}])} for _ in range(2)]
    if draw.random() < 0.5:
        options["order"] = draw.choice(ENGINES)
    elif draw.random() < 0.5:
        # Masks come before the filters that cut, which might keep masked tokens alone otherwise.
        masks = ["min_tokens", "banned", "grammar"]
        others = ["repetition_penalty", "frequency_penalty", "presence_penalty", "logit_bias", "temperature", "top_k", "top_p", "min_p"]
        draw.shuffle(others)
        joined = draw.randrange(len(others) - 1)
        options["order"] = masks + others[:joined] + [" & ".join(others[joined:joined + 2])] + others[joined + 2:]
    return options


def drawn_config(number):
    draw = random.Random(2026_1100 + number)
    rows = [[[draw.randint(1, 9) for _ in range(3)] for _ in range(3)] for _ in range(2)]
    config = {
        "title": f"request {number}",
        "seed": number,
        "models": {"target": {"kind": "table", "rows": rows[0]}, "draft": {"kind": "table", "rows": rows[1]}},
        "rule": {"kind": draw.choice(RULES)},
        "gamma": draw.randint(1, 2),
        "sampling": drawn_sampling(draw),
        "simulation": {"trials": 64, "length": 20, "prompt": [draw.randrange(3) for _ in range(draw.randint(0, 3))]},
        "check": {"samples": 1000, "tokens": 2},
    }
    if draw.random() < 0.3:  # the draft has options of its own
        config["models"]["draft"]["sampling"] = drawn_sampling(draw)
    return config


def on_the_command_line(config):
    """The config's file without its sampling options, and these as --set."""
    rest = json.loads(json.dumps(config))
    words = [f"sampling.{key}={json.dumps(value)}" for key, value in rest.pop("sampling").items()]
    words += [f"models.draft.sampling.{key}={json.dumps(value)}" for key, value in rest["models"]["draft"].pop("sampling", {}).items()]
    return rest, [part for word in words for part in ("--set", word)]


@needs_program
@pytest.mark.parametrize("number", range(12))
def test_equal_from_everywhere(number, tmp_path):
    config = drawn_config(number)
    whole, rest = tmp_path / "whole.json", tmp_path / "rest.json"
    whole.write_text(json.dumps(config))
    bare, assignments = on_the_command_line(config)
    rest.write_text(json.dumps(bare))

    results = []
    for words in ([whole], [rest, *assignments]):
        code, _, error = program("run", *words, "--quiet", "--force", "--out", tmp_path / "out")
        assert code == 0, error
        results.append((tmp_path / "out/result.json").read_bytes())
    assert speclab.run(config).to_json() == speclab.run(whole).to_json() == results[0]
    # The title of a run says what --set gave.
    by_file, by_words = (json.loads(result) for result in results)
    for result in (by_file, by_words):
        del result["title"], result["config"]["title"]
    assert by_file == by_words

    printed = [own_part(program("check", *words, "--json")[1]) for words in ([whole], [rest, *assignments])]
    assert speclab.check(config).tests == printed[0] == printed[1]

    printed = [own_part(program("prove", *words, "--json")[1]) for words in ([whole], [rest, *assignments])]
    proof = speclab.prove(config, exact=False)
    assert printed[0] == printed[1]
    assert {",".join(map(str, tokens)): p for tokens, p in proof.law.items()} == printed[0]["distribution"]
    assert (proof.tv, proof.lossless, proof.branches) == (printed[0]["tv"], printed[0]["lossless"], printed[0]["branches"])


def test_another_value_is_seen():
    """The comparison above can fail: each option changes the proof's probabilities."""
    config = drawn_config(0) | {"rule": {"kind": "token"}, "gamma": 1}
    laws = []
    for sampling in ({}, {"logit_bias": {"0": 1}}, {"frequency_penalty": 1}, {"min_tokens": 1, "end_tokens": [2]}, {"grammar": [{"0": 0, "1": 0}]}):
        proof = speclab.prove(config | {"sampling": sampling, "prove": {"tokens": 3}}, exact=False)
        assert proof.lossless and proof.law not in laws
        laws.append(proof.law)


@needs_program
def test_the_same_refusals(tmp_path):
    path = tmp_path / "config.json"
    for sampling, where in (({"grammar": [{"0": 1}, {}]}, "/sampling/grammar/1"), ({"grammar": [{"0": 3}]}, "/sampling/grammar/0/0"),
                            ({"grammar": [{"0": 1}, {"2": 0}], "banned": [2]}, "/sampling/grammar/1"), ({"min_tokens": 1, "end_tokens": [0, 1, 2]}, "/sampling/end_tokens")):
        path.write_text(json.dumps(drawn_config(0) | {"sampling": sampling}))
        with pytest.raises(speclab.ConfigError) as raised:
            speclab.prove(path)
        assert raised.value.path == where
        code, _, error = program("prove", path)
        assert code == 2 and str(raised.value).removeprefix(f"{path}: ") in error


@needs_program
def test_forced_tokens_by_hand(tmp_path):
    """After token 0 (probability 1/2) only token 1 may follow: the second of three tokens is forced in 1/2, the third in 1/4 of all texts."""
    path = tmp_path / "config.json"
    rows = [{"kind": "table", "rows": [weights]} for weights in ([5, 3, 2], [4, 4, 2])]
    path.write_text(json.dumps({"title": "forced", "models": dict(zip(("target", "draft"), rows)), "gamma": 2, "prove": {"tokens": 3},
                                "sampling": {"grammar": [{"0": 1, "*": 0}, {"1": 0}]}}))
    assert json.loads(program("prove", path, "--json")[1])["forced"] == pytest.approx((1 / 2 + 1 / 4) / 3, abs=1e-12)
