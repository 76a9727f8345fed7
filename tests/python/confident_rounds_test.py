"""scripts/serving/confident_rounds.py: confidences of pairs whose law is known, and the server that is given them."""

import json
import os
import pathlib
import sys

import numpy as np
import pytest

import speclab

SOURCE = pathlib.Path(os.environ.get("SPECLAB_SOURCE", pathlib.Path(__file__).parents[2]))
sys.path.insert(0, str(SOURCE / "scripts/serving"))
import confident_rounds  # noqa: E402

TARGET, DRAFT = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
GAMMA, ROUNDS = 3, 12000


@pytest.fixture(scope="module")
def pair():
    config = {"models": {"target": {"kind": "table", "rows": [list(TARGET)]}, "draft": {"kind": "table", "rows": [list(DRAFT)]}}}
    return confident_rounds.rounds_of(config, GAMMA, ROUNDS, exact=True)


def test_exact_confidences_have_the_law_of_the_pair(pair):
    """Null: a confidence is min(1, p / q) of a token drawn from q, and the token is accepted with that probability: closed forms, 7 standard
    errors of some 4,000 rounds or more. Planted: the correlation of another pair."""
    said, accepted = pair
    def law(target, draft):
        known = np.minimum(1, target / draft)
        alpha = (draft * known).sum()
        return alpha, np.sqrt((draft * known**2).sum() - alpha**2) / np.sqrt(alpha * (1 - alpha))
    alpha, correlation = law(TARGET, DRAFT)
    assert alpha == pytest.approx(0.7)
    for row in confident_rounds.findings(said, accepted):
        error = 1 / np.sqrt(row["rounds"])
        assert row["rounds"] > 2500
        assert abs(row["rate"] - alpha) < 7 * error * np.sqrt(alpha * (1 - alpha))
        assert abs(row["correlation"] - correlation) < 7 * error
        assert abs(row["correlation"] - law(TARGET, np.array([0.45, 0.3, 0.25]))[1]) > 7 * error


def test_area_and_logistic_against_definitions():
    rng = np.random.default_rng(3)
    margin = rng.exponential(2, 4000)
    yes = rng.random(4000) < 1 / (1 + np.exp(-(0.8 * margin - 0.5)))
    said = np.round(margin[:300], 1)
    pairs = [(a > b) + 0.5 * (a == b) for a in said[yes[:300]] for b in said[~yes[:300]]]
    assert confident_rounds.area(said, yes[:300]) == pytest.approx(np.mean(pairs))
    weight, bias = confident_rounds.logistic(margin, yes.astype(float))
    # Standard errors are .04 and .06; 7 of them.
    assert abs(weight - 0.8) < 0.3 and abs(bias + 0.5) < 0.45
    assert abs(confident_rounds.logistic(margin, np.roll(yes, 1).astype(float))[0]) < 0.2  # planted fault: the acceptance of another round


def test_the_server_plays_what_was_recorded(pair, tmp_path):
    """Tokens per round of one client equal those computed from the rounds: each round's budget, and the tokens within it."""
    said, accepted = pair
    file = tmp_path / "rounds.jsonl"
    file.write_text("".join(json.dumps({"accepted": int(k), "confidences": list(map(float, c))}) + "\n" for c, k in zip(said, accepted)))
    step, position = 2.0, 0.9
    budget = np.array([np.argmax([(1 + np.cumprod(c)[:b].sum()) / (step + position * (b + 1)) for b in range(GAMMA + 1)]) for c in said])
    config = {
        "title": "recorded", "experiment": "serving", "gamma": GAMMA, "seed": 5,
        "serving": {"clients": 1, "prompt": 1, "output": 400, "requests": 60, "settle": 0, "runs": 16, "policy": {"kind": "adaptive", "waits": True},
                    "acceptance": {"kind": "recorded", "file": str(file)}, "cost": {"kind": "steps", "step": step, "position": position}},
    }
    found = {one["name"]: one["simulated"] for one in speclab.run(config).cells[0]["serving"]["numbers"]}
    for name, by_rounds in (("verified", budget.mean()), ("accepted", np.minimum(accepted, budget).mean())):
        # 16 runs of about 12,000 rounds: half the width of the interval at 95% is 2.13 standard errors; 8 of them.
        error = (found[name]["high"] - found[name]["value"]) / 2.13
        assert abs(found[name]["value"] - by_rounds) < 8 * error
        assert abs(found[name]["value"] - 1.05 * by_rounds) > 8 * error
