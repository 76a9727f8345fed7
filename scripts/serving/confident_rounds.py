"""Measures how well a draft predicts the acceptance of its tokens: writes rounds of a pair of models with a confidence for every drafted
token, for the serving simulator (docs/serving.md, "acceptance": {"kind": "recorded", "file": FILE}).

    python3 scripts/serving/confident_rounds.py configs/exact_austen_bigram.json --gamma 4 --rounds 8000 --out rounds.jsonl

Confidences are those of vLLM's estimator (vllm-project/vllm at 165b366, vllm/v1/worker/gpu/spec_decode/acceptance_estimator.py): a
logistic function, one for each position, of the margin between the draft's two best logits. It is fitted to the first half of the rounds, and the
second half is written. With --exact a confidence is min(1, target / draft) of the drafted token, the exact probability of acceptance. Rounds are
verified by the rule of Leviathan et al. 2023, one after the other along one text.
"""

import argparse
import json
import pathlib
import sys

import numpy as np

import speclab

SOURCE = pathlib.Path(__file__).parents[2]
#: Tokens of a text before the next begins, and of its prompt.
LONGEST, PROMPT = 256, 32
#: Replaces the infinite margin of a row with one token, as in vLLM's estimator.
MOST_MARGIN = 40.0


class Neural:
    """A model of a GGUF file in numpy (python/speclab/_gguf), with a cache of the context that it has read."""

    def __init__(self, path):
        sys.path.insert(0, str(SOURCE / "scripts"))
        from of_package import llama_numpy

        self.model, self.softmax = llama_numpy.Llama(str(path)), llama_numpy.softmax
        self.read, self.state = [], self.model.start(1)

    def __call__(self, context):
        same = 0
        while same < min(len(self.read), len(context) - 1) and self.read[same] == context[same]:
            same += 1
        self.state = [(k[:, :, :same], v[:, :, :same]) for k, v in self.state]
        logits, self.state = self.model.logits(np.array([context[same:]]), self.state)
        self.read = list(context)
        row = self.softmax(logits[0, -1].astype(np.float64))
        return row / row.sum()


def prompts_of(text, tokenizer, rng):
    """Prompts from consecutive parts of a text, in an endless iterator."""
    while True:
        at = int(rng.integers(len(text) - 20 * PROMPT))
        yield tokenizer.encode(text[at : at + 20 * PROMPT])[:PROMPT]


def play(target, draft, gamma, rounds, seed, prompts=None):
    """Margins and exact confidences [rounds, gamma], and the number of accepted tokens per round."""
    rng = np.random.default_rng(seed)
    text: list[int] = []
    margins, exact, accepted = np.zeros((rounds, gamma)), np.zeros((rounds, gamma)), np.zeros(rounds, int)
    for i in range(rounds):
        if len(text) >= LONGEST or not text:
            text = list(next(prompts)) if prompts else []
        drafted, done = [], False
        for j in range(gamma):
            context = text + drafted
            q, p = draft(context), target(context)
            x = int(rng.choice(len(q), p=q / q.sum()))
            second, first = np.sort(q)[-2:]
            margins[i, j] = min(MOST_MARGIN, np.log(first / second)) if second > 0 else MOST_MARGIN
            exact[i, j] = min(1.0, p[x] / q[x])
            drafted.append(x)
            if done:
                continue
            if rng.random() < exact[i, j]:
                accepted[i] += 1
            else:
                done = True
                left = np.maximum(p - q, 0)
                kept = drafted[:-1] + [int(rng.choice(len(p), p=left / left.sum()))]
        if not done:
            p = target(text + drafted)
            kept = drafted + [int(rng.choice(len(p), p=p / p.sum()))]
        text = text + kept
    return margins, exact, accepted


def logistic(margin, yes, steps=50):
    """Weight and bias of P(accepted) = 1 / (1 + exp(-(weight margin + bias))), by Newton's method with a ridge of 1e-3."""
    design = np.column_stack([margin, np.ones(len(margin))])
    found = np.zeros(2)
    for _ in range(steps):
        said = 1 / (1 + np.exp(-design @ found))
        curvature = design.T @ (design * (said * (1 - said))[:, None]) + 1e-3 * np.eye(2)
        found = found + np.linalg.solve(curvature, design.T @ (yes - said) - 1e-3 * found)
    return found


def confidences(margins, accepted):
    """Confidences of the second half of the rounds, fitted by position to the rounds of the first half that reached it."""
    half = len(accepted) // 2
    said = np.zeros_like(margins[half:])
    for j in range(margins.shape[1]):
        reached = accepted[:half] >= j
        weight, bias = logistic(margins[:half][reached, j], (accepted[:half][reached] > j).astype(float))
        said[:, j] = 1 / (1 + np.exp(-(weight * margins[half:, j] + bias)))
    return said


def area(said, yes):
    """P(a confidence of an accepted token is above that of a rejected one), half of ties included (Mann and Whitney 1947)."""
    _, where, counts = np.unique(said, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[where]
    accepted = yes.sum()
    return (ranks[yes].sum() - accepted * (accepted + 1) / 2) / (accepted * (len(yes) - accepted))


def findings(said, accepted):
    """For each position: rounds that reach it, rate of acceptance, mean confidence, correlation of both, and the area under the curve."""
    rows = []
    for j in range(said.shape[1]):
        reached = accepted >= j
        yes, confidence = accepted[reached] > j, said[reached, j]
        some = 0 < yes.sum() < len(yes) and np.ptp(confidence) > 0
        rows.append({
            "position": j + 1, "rounds": int(reached.sum()), "rate": float(yes.mean()), "confidence": float(confidence.mean()),
            "correlation": float(np.corrcoef(confidence, yes)[0, 1]) if some else None, "auc": float(area(confidence, yes)) if some else None,
        })
    return rows


def rounds_of(config, gamma, rounds, seed=1, exact=False):
    """(confidences, accepted) of the rounds to write."""
    models, prompts = config["models"], None
    if models["target"]["kind"] == "gguf":
        target, draft = (Neural(SOURCE / models[name]["file"]) for name in ("target", "draft"))
        text = (SOURCE / config["corpus"]["file"]).read_text(encoding="utf-8")
        prompts = prompts_of(text, target.model.tokenizer(), np.random.default_rng(seed))
    else:
        corpus = {"corpus": config["corpus"]} if "corpus" in config else {}
        target = speclab.models.from_config(corpus | models["target"])
        draft = speclab.models.from_config(corpus | models["draft"], target=target)
    margins, known, accepted = play(target, draft, gamma, rounds, seed, prompts)
    half = rounds // 2
    return (known[half:] if exact else confidences(margins, accepted)), accepted[half:]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("config", type=pathlib.Path, help="with models.target and models.draft")
    parser.add_argument("--gamma", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("--out", type=pathlib.Path)
    asked = parser.parse_args()
    said, accepted = rounds_of(json.loads(asked.config.read_text(encoding="utf-8")), asked.gamma, asked.rounds, asked.seed, asked.exact)
    print("position  rounds   rate  confidence  correlation    AUC")
    for row in findings(said, accepted):
        last = "–" if row["auc"] is None else f"{row['correlation']:11.3f}  {row['auc']:5.3f}"
        print(f"{row['position']:8}  {row['rounds']:6}  {row['rate']:5.3f}  {row['confidence']:10.3f}  {last}")
    if asked.out:
        lines = (json.dumps({"accepted": int(k), "confidences": [round(float(c), 6) for c in row]}) for row, k in zip(said, accepted))
        asked.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
