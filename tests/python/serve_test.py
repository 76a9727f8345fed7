"""Tests that a server's config, the program's options and `serve` give equal numbers for the same server."""

import json
import os
import pathlib
import random
import subprocess

import pytest

import speclab
from configs_test import own_part

SOURCE = pathlib.Path(os.environ.get("SPECLAB_SOURCE", pathlib.Path(__file__).parents[2]))
BINARY = os.environ.get("SPECLAB_BINARY", str(SOURCE / "build/release/bin/speclab"))

NUMBERS = ("latency mean", "latency p95", "TTFT p95", "TPOT p95", "ITL p95", "accepted", "running", "utilisation")


def drawn(seed):
    """A random server: alpha, the largest gamma, and keys of the section `serving`."""
    rng = random.Random(seed)
    target, draft = rng.choice([("llama-3.1-8b", "llama-3.2-1b"), ("mixtral-8x7b", "mistral-7b")])
    cost = {"kind": "models", "target": target, "draft": draft, "device": rng.choice(["h100-sxm", "a100-80gb"]), "dtype": rng.choice(["bf16", "fp8", "int8"]),
            "devices": rng.choice([4, 8]), "step_ms": rng.choice([0, 0.5])}
    if rng.random() < 0.5:
        cost |= {"bandwidth_efficiency": 0.6, "flops_efficiency": 0.5, "run_overhead_us": 50, "layer_overhead_us": 2, "reduce_latency_us": 20}
    asked = {
        "requests_per_second": rng.choice([0.5, 1.5, 3]), "prompt": rng.randint(20, 3000), "output": rng.randint(20, 200), "length_variation": rng.choice([0, 0.5]),
        "engine": {"max_sequences": rng.choice([4, 64]), "step_tokens": rng.choice([512, 8192]), "cache_tokens": 4_000_000, "draft_budget": rng.choice([0, 256])},
        "acceptance": {"kind": "rate", "spread": rng.choice([0, 0.1])}, "requests": 40, "runs": 2, "percentile": 95,
    }
    if rng.random() < 0.5:
        cost |= {"idle_draft": rng.random() < 0.5, "draft_devices": 1}
    if target == "mixtral-8x7b":
        cost["routing_exponent"] = rng.choice([0.5, 0.79, 1])
    if rng.random() < 0.2:
        # Measured times instead of models.
        costs = SOURCE / "configs/serving/costs"
        cost = {"kind": "times", "target_times": str(costs / "vllm_pair_target.csv"), "step_ms": cost["step_ms"]}
        cost |= rng.choice([{"draft_times": str(costs / "vllm_pair_draft.csv")}, {"c": 0.2}])
        asked["engine"]["draft_budget"] = 0
    return round(rng.uniform(0.4, 0.9), 3), asked | {"cost": cost}


def config_of(alpha, asked, gamma, seed=1):
    """The server as a config, with one gamma; 0: no draft."""
    of_drafts = ("draft", "draft_devices", "idle_draft", "routing_exponent", "draft_times", "c")
    cost = {key: value for key, value in asked["cost"].items() if gamma > 0 or key not in of_drafts or key == "routing_exponent"}
    serving = {"settle": asked["requests"] // 5, "settle_after": asked["requests"] // 10} | asked | {"cost": cost}
    return {"title": "one server", "experiment": "serving", "seed": seed, "gamma": gamma, "alpha": alpha, "serving": serving}


def numbers_of(served):
    return {one["name"]: one["simulated"] for one in served["numbers"]}


def served(config):
    return numbers_of(speclab.run(config).cells[0]["serving"])


@pytest.mark.skipif(not os.path.exists(BINARY), reason=f"no program at {BINARY}")
# Four have every kind of cost, both lengths of requests, and both budgets of drafts.
@pytest.mark.parametrize("seed", [1, 3, 6, 9, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (0, 2, 4, 5, 7, 8, 10, 11))])
def test_a_config_the_program_and_python_give_equal_numbers(seed):
    alpha, asked = drawn(seed)
    plan = speclab.serve(alpha, max_gamma=3, seed=7, **asked)
    words = [BINARY, "plan", "load", str(alpha), "--json", "--quiet", "--max-gamma=3", "--seed=7"]
    sets = [f"--set=serving.{name}={json.dumps(value)}" for name, value in asked.items()]
    made = subprocess.run([*words, *sets], capture_output=True, text=True, check=True)
    assert own_part(made.stdout) == dict(plan)
    # The same with the costs as options.
    beside = ("kind", "step_ms", "idle_draft")
    costs = [f"--{name.replace('_', '-')}={value}" for name, value in asked["cost"].items() if name not in beside]
    costs += [f"--set=serving.cost.{name}={json.dumps(asked['cost'][name])}" for name in beside if name in asked["cost"]]
    sets = [word for word in sets if not word.startswith("--set=serving.cost=")]
    assert own_part(subprocess.run([*words, *costs, *sets], capture_output=True, text=True, check=True).stdout) == dict(plan)
    policies = {policy["name"]: numbers_of(policy["points"][0]) for policy in plan["policies"]}
    for name, gamma in (("plain", 0), ("γ = 2", 2)):
        found = served(config_of(alpha, asked, gamma, seed=7))
        for number in NUMBERS:
            assert policies[name][number] == found[number], (name, number)
    # Planted fault: a slightly different server.
    other = served(config_of(alpha, asked | {"cost": asked["cost"] | {"step_ms": asked["cost"]["step_ms"] + 0.001}}, 2, seed=7))
    assert other["latency mean"]["value"] != policies["γ = 2"]["latency mean"]["value"]


COST = {"kind": "models", "target": "llama-3.1-8b", "draft": "llama-3.2-1b", "device": "h100-sxm"}


def test_the_budget_of_drafts_changes_what_it_should():
    ask = {"cost": COST | {"dtype": "fp8"}, "requests_per_second": 2, "requests": 100, "runs": 2}
    def latency(**more):
        return {policy["name"]: numbers_of(policy["points"][0])["latency mean"]["value"] for policy in speclab.serve(0.75, max_gamma=4, **ask, **more)["policies"]}
    here = latency()
    assert latency(engine={"draft_budget": 100_000})["γ = 4"] == here["γ = 4"]
    assert latency(engine={"draft_budget": 16})["γ = 4"] < here["γ = 4"]


def test_keys_without_an_option_and_a_policy_of_its_own_are_simulated():
    ask = {"cost": COST, "requests_per_second": 2, "requests": 60, "runs": 2, "length_variation": 0, "output": 40}
    def numbers(**more):
        return {policy["name"]: numbers_of(policy["points"][0])["latency mean"] for policy in speclab.serve(0.75, max_gamma=2, **ask, **more)["policies"]}
    here = numbers()
    # Two requests of some 340 ms per second: about half of them wake an idle engine.
    slow = numbers(engine={"wake_ms": 40})
    assert slow["plain"]["value"] > here["plain"]["value"] + 10
    own = {"kind": "clairvoyant"}
    assert set(numbers(policy=own)) - set(here) == {"clairvoyant"}
    config = {"title": "own", "experiment": "serving", "gamma": 2, "alpha": 0.75, "serving": {"settle": 12, "settle_after": 6, "policy": own} | ask}
    cache = speclab.serve(0.75, **ask)["cache_tokens"]
    config["serving"]["engine"] = {"cache_tokens": cache}
    assert served(config)["latency mean"] == numbers(policy=own, engine={"cache_tokens": cache})["clairvoyant"]


def test_rates_that_differ_between_requests_make_the_best_gamma_longer():
    # Half of the requests have acceptance rate .99, half .01.
    cost = COST | {"device": "h100-sxm", "dtype": "fp8"}
    ask = {"cost": cost, "requests_per_second": 1, "requests": 20, "runs": 2}
    alike, apart = (speclab.serve(0.5, max_gamma=8, acceptance={"kind": "rate", "spread": spread}, **ask)["table"][0]["gamma"] for spread in (0, 0.49))
    assert apart > alike
    # The same distribution given by its positions, E[rate^(k + 1)] / E[rate^k], gives the same table.
    a = 0.5 * (0.25 / 0.49**2 - 1)
    positions = {"kind": "positions", "rates": [(a + k) / (2 * a + k) for k in range(8)]}
    assert speclab.serve(max_gamma=8, acceptance=positions, **ask)["table"][0]["gamma"] == apart


@pytest.mark.parametrize(("more", "said"), [
    ({"percentile": 150}, "/serving/percentile: 150"),
    ({"engine": {"draft_budget": -1}}, "/serving/engine/draft_budget"),
    ({"promt": 5}, 'unknown key "promt" in serving; did you mean "prompt"'),
    ({"clients": 5}, "/serving/clients: plan load compares rates"),
    ({"acceptance": {"kind": "all_or_none", "mean": 2}}, "/serving/acceptance/kind: a mean is that of one gamma"),
    ({"cost": {"kind": "steps", "step": 4}}, "/serving/cost/kind: plan load compares drafts by the costs of two models"),
    ({"cost": {"kind": "models", "target": "llama-3.1-8b", "device": "h100-sxm"}}, "/serving/cost/draft: missing"),
])
def test_what_contradicts_itself_is_refused(more, said):
    with pytest.raises((speclab.ConfigError, ValueError), match=said):
        speclab.serve(0.75, **{"cost": COST, "requests_per_second": 1, "requests": 10, "runs": 2} | more)
