"""A server's config, the program's options and this package's arguments describe one server: equal numbers."""

import json
import os
import pathlib
import random
import subprocess

import pytest

import speclab

SOURCE = pathlib.Path(os.environ.get("SPECLAB_SOURCE", pathlib.Path(__file__).parents[2]))
BINARY = os.environ.get("SPECLAB_BINARY", str(SOURCE / "build/release/bin/speclab"))

# By the result of a config, and by a point of `plan load`.
NUMBERS = {"latency mean": "latency_mean", "latency p95": "latency", "TTFT p95": "ttft", "TPOT p95": "tpot", "ITL p95": "gap"}


def drawn(seed):
    """What is asked, by names of `speclab.serve`."""
    rng = random.Random(seed)
    target, draft = rng.choice([("llama-3.1-8b", "llama-3.2-1b"), ("mixtral-8x7b", "mistral-7b")])
    asked = {
        "target": target, "draft": draft, "device": rng.choice(["h100-sxm", "a100-80gb"]), "dtype": rng.choice(["bf16", "fp8", "int8"]), "devices": rng.choice([4, 8]),
        "rate": rng.choice([0.5, 1.5, 3]), "prompt": rng.randint(20, 3000), "output": rng.randint(20, 200), "length_variation": rng.choice([0, 0.5]),
        "max_sequences": rng.choice([4, 64]), "step_tokens": rng.choice([512, 8192]), "cache_tokens": 4_000_000, "step_ms": rng.choice([0, 0.5]),
        "alpha_spread": rng.choice([0, 0.1]), "draft_budget": rng.choice([0, 256]), "max_gamma": 3, "requests": 40, "runs": 2, "seed": rng.randint(1, 99),
    }
    kind = rng.choice(["none", "hit", "ranks"])
    if kind == "hit":
        asked |= {"draft_hit": round(rng.random(), 3), "plain_after_miss": rng.random() < 0.5}
    elif kind == "ranks":
        asked |= {"rank_shares": [0.6, 0.2, 0.05], "outcomes": rng.randint(1, 12), "plain_after_miss": rng.random() < 0.5}
    else:
        asked |= {"skip_idle_draft": rng.random() < 0.5, "draft_devices": 1}
    if target == "mixtral-8x7b":
        asked["routing_exponent"] = rng.choice([0.5, 0.79, 1])
    return round(rng.uniform(0.4, 0.9), 3), asked


def config_of(alpha, asked, gamma):
    """The same as a config, with one gamma; 0 is plain decoding, without a draft."""
    models = {key: asked[key] for key in ("target", "device", "dtype", "devices", "step_ms", "routing_exponent", "draft_devices") if key in asked}
    if gamma > 0:
        models |= {"draft": asked["draft"], "idle_draft": not asked.get("skip_idle_draft", False)}
    serving = {
        "requests_per_second": asked["rate"], "prompt": asked["prompt"], "output": asked["output"], "length_variation": asked["length_variation"], "models": models,
        "engine": {key: asked[key] for key in ("max_sequences", "step_tokens", "cache_tokens", "draft_budget")},
        "requests": asked["requests"], "settle": asked["requests"] // 5, "settle_after": asked["requests"] // 10, "runs": asked["runs"],
    }
    if asked["alpha_spread"]:
        serving["acceptance"] = {"rate": alpha, "spread": asked["alpha_spread"]}
    names = {"draft_hit": "hit", "rank_shares": "rank_shares", "outcomes": "outcomes", "plain_after_miss": "plain_after_miss"}
    device = {name: asked[key] for key, name in names.items() if key in asked}
    if gamma > 0 and device:
        serving["draft_device"] = device
    return {"title": "one server", "experiment": "serving", "seed": asked["seed"], "gamma": gamma, "alpha": alpha, "serving": serving}


def option(name, value):
    word = "--" + name.replace("_", "-")
    if isinstance(value, bool):
        return [word] if value else []
    return [f"{word}={','.join(map(repr, value)) if isinstance(value, list) else value}"]


def served(config):
    numbers = speclab.run(config).cells[0]["serving"]["numbers"]
    return {one["name"]: one["simulated"] for one in numbers}


@pytest.mark.skipif(not os.path.exists(BINARY), reason=f"no program at {BINARY}")
@pytest.mark.parametrize("seed", range(12))
def test_a_config_the_program_and_python_give_equal_numbers(seed):
    alpha, asked = drawn(seed)
    plan = speclab.serve(alpha, **asked)
    words = [word for name, value in asked.items() for word in option(name, value)]
    made = subprocess.run([BINARY, "plan", "load", str(alpha), "--json", "--quiet", *words], capture_output=True, text=True, check=True)
    assert json.loads(made.stdout) == dict(plan)
    policies = {policy["name"]: policy["points"][0] for policy in plan["policies"]}
    if "draft_hit" in asked or "rank_shares" in asked:
        assert list(policies) == ["plain", "γ = 1", "γ = 2", "γ = 3"]
    for name, gamma in (("plain", 0), ("γ = 2", 2)):
        found = served(config_of(alpha, asked, gamma))
        for number, key in NUMBERS.items():
            assert policies[name][key] == found[number], (name, number)
    # Planted: a server that is hardly another.
    other = served(config_of(alpha, asked | {"step_ms": asked["step_ms"] + 0.001}, 2))
    assert other["latency mean"]["value"] != policies["γ = 2"]["latency_mean"]["value"]


def test_the_draft_device_and_the_budget_change_what_they_should():
    ask = {"target": "llama-3.1-8b", "draft": "llama-3.2-1b", "device": "h100-sxm", "dtype": "fp8", "rate": 2, "requests": 100, "runs": 2, "max_gamma": 4}
    def latency(**more):
        return {policy["name"]: policy["points"][0]["latency_mean"]["value"] for policy in speclab.serve(0.75, **ask, **more)["policies"]}
    here = latency()
    # Every outcome drafted for: the target never waits, but where drafts take longer than it.
    assert latency(draft_hit=1)["γ = 4"] < 0.85 * here["γ = 4"]
    assert latency(draft_hit=1)["plain"] == here["plain"]
    # None: drafts come one after the other, as on one device, whose prompts the draft reads, too.
    assert latency(draft_hit=0)["γ = 4"] == pytest.approx(here["γ = 4"], rel=0.05)
    assert latency(draft_budget=100_000)["γ = 4"] == here["γ = 4"]
    assert latency(draft_budget=16)["γ = 4"] < here["γ = 4"]


@pytest.mark.parametrize(("more", "said"), [
    ({"draft_hit": 0.5, "rank_shares": [0.5]}, "give one of --draft-hit and --rank-shares"),
    ({"outcomes": 4}, "--outcomes: of a draft device"),
    ({"plain_after_miss": True}, "--plain-after-miss: of a draft device"),
    ({"rank_shares": [0.2, 0.3]}, "0.3 is above the share before it"),
    ({"rank_shares": [0.7, 0.4]}, "shares add up to 1.1"),
    ({"draft_hit": 1.5}, "--draft-hit 1.5"),
    ({"draft_budget": -1}, "draft_budget"),
    ({"draft_hit": 0.5, "draft_correlation": 0.5}, "--draft-correlation: adaptive verification"),
])
def test_what_contradicts_itself_is_refused(more, said):
    with pytest.raises((speclab.ConfigError, ValueError), match=said):
        speclab.serve(0.75, target="llama-3.1-8b", draft="llama-3.2-1b", device="h100-sxm", rate=1, requests=10, runs=2, **more)
