#!/usr/bin/env python3
"""A server of llama.cpp under load, beside the simulator: measures what a step costs with clients that wait for their answers, predicts
latencies of Poisson arrivals and of bursts from that by `speclab run`, then measures them.

usage: build/engines/llama_cpp/bin/python scripts/serving/llama_cpp.py --speclab build/release/bin/speclab --out configs/serving/llama_cpp.json

Needs xllamacpp (scripts/engines/install.sh llama_cpp) and an idle machine: about six minutes. The server runs in this process with a
thread of its own and one for the model; it decodes configs/neural/target.gguf with draft.gguf at temperature 1. The config that is written
has the costs, the cells, and what was measured in each; `speclab run` shows both side by side.
"""
import argparse
import datetime
import importlib.metadata
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import xllamacpp

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SLOTS, CHARACTERS, OUTPUT = 8, 100, 64
GAMMA = 3
APART = 0.3e-3  # seconds: tokens that come closer together are of one round


TEXT = (SOURCE / "data/austen.txt").read_text()


def server(gamma):
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(SOURCE / "configs/neural/target.gguf")
    parameters.n_ctx = SLOTS * 512
    parameters.n_parallel = SLOTS
    parameters.cpuparams.n_threads = 1
    parameters.verbosity = 0
    parameters.cache_prompt = False
    if gamma > 0:
        parameters.speculative.types = [xllamacpp.common_speculative_type.COMMON_SPECULATIVE_TYPE_DRAFT_SIMPLE]
        draft = parameters.speculative.draft
        draft.mparams.path = str(SOURCE / "configs/neural/draft.gguf")
        draft.cpuparams.n_threads = 1
        draft.n_max, draft.p_min, draft.probabilistic = gamma, 0.0, True
    return xllamacpp.Server(parameters)


class Answer:
    """One request: when it was sent, when its tokens came, and what was accepted."""

    def __init__(self, engine, seed, sent, characters=CHARACTERS):
        self.sent, self.times, self.counts = sent, [], {}
        first = random.Random(seed).randrange(len(TEXT) - characters)
        engine.handle_completions(
            {"prompt": TEXT[first : first + characters], "n_predict": OUTPUT, "temperature": 1.0, "samplers": ["temperature"], "seed": seed, "ignore_eos": True,
             "cache_prompt": False, "stream": True}, self.take)

    def take(self, chunk):
        if "timings" in chunk:
            self.counts = chunk["timings"]
        if chunk["choices"][0].get("finish_reason") is None:
            self.times.append(time.perf_counter())

    def prompt(self):
        return self.counts["prompt_n"]

    def ttft(self):
        return 1e3 * (self.times[0] - self.sent)

    def tpot(self):
        return 1e3 * (self.times[-1] - self.times[0]) / (OUTPUT - 1)

    def gaps(self):
        return [1e3 * gap for gap in (b - a for a, b in zip(self.times, self.times[1:])) if gap > APART]


def closed_loop(engine, clients, requests, characters=CHARACTERS):
    """Answers to `requests` requests of as many clients, the first round of each left out."""
    answers, lock, left = [], threading.Lock(), list(range(requests))

    def client():
        while True:
            with lock:
                if not left:
                    return
                seed = left.pop()
            answer = Answer(engine, seed + 1, time.perf_counter(), characters)
            with lock:
                answers.append(answer)

    workers = [threading.Thread(target=client) for _ in range(clients)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return answers[clients:-clients] if requests > 2 * clients else answers


def arrivals(rate, bursts, count, seed):
    """Times in seconds: Poisson, or with bursts of a second on average, a fifth of the time, at `bursts` times the rate between them."""
    draw, now, times = random.Random(seed), 0.0, []
    quiet = rate / (0.8 + 0.2 * bursts)
    burst = draw.random() < 0.2
    ends = draw.expovariate(1 if burst else 1 / 4)
    while len(times) < count:
        wait = draw.expovariate(quiet * bursts if burst else quiet)
        if now + wait < ends:
            now += wait
            times.append(now)
        else:
            now, burst = ends, not burst
            ends = now + draw.expovariate(1 if burst else 1 / 4)
    return times


def open_loop(engine, times):
    """A request at each of these times, whatever becomes of those before."""
    answers, begin = [None] * len(times), time.perf_counter() + 0.05

    def one(i):
        answers[i] = Answer(engine, i + 1, begin + times[i])

    workers = []
    for i, at in enumerate(times):
        time.sleep(max(0, begin + at - time.perf_counter()))
        workers.append(threading.Thread(target=one, args=(i,)))
        workers[-1].start()
    for worker in workers:
        worker.join()
    return answers


def mean_gap(answers):
    return statistics.mean(gap for answer in answers for gap in answer.gaps())


def line(points):
    """Intercept and slope, by least squares."""
    x, y = statistics.mean(a for a, _ in points), statistics.mean(b for _, b in points)
    slope = sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)
    return y - slope * x, slope


def calibrated():
    """Costs of a step, the time before a queue, and acceptance, from clients that wait for their answers."""
    steps, acceptance = {}, {}
    for gamma in (0, GAMMA):
        engine = server(gamma)
        closed_loop(engine, 2, 8)
        steps[gamma] = [(clients, mean_gap(closed_loop(engine, clients, 12 * clients))) for clients in (1, 2, 4, 8)]
        intercept, per_token = line([(answer.prompt(), answer.ttft()) for characters in (50, 100, 200, 400)
                                     for answer in closed_loop(engine, 1, 16, characters)])
        answers = closed_loop(engine, 4, 64)
        prompt = statistics.mean(answer.prompt() for answer in answers)
        drafted = [answer.counts.get("draft_n", 0) for answer in answers]
        taken = [answer.counts.get("draft_n_accepted", 0) for answer in answers]
        # Every round emits one token that was not drafted; the first token comes from the prompt.
        rounds = [OUTPUT - 1 - accepted for accepted in taken]
        acceptance[gamma] = sum(taken) / sum(rounds)
        print(f"γ = {gamma}: steps {steps[gamma]}, TTFT {intercept:.2f} + {per_token:.4f} a token, drafted {sum(drafted) / sum(rounds):.2f}, "
              f"accepted {acceptance[gamma]:.3f}", file=sys.stderr)
        steps[gamma] = (*line(steps[gamma]), intercept, per_token)
    return steps, acceptance[GAMMA], round(prompt)


def costs_of(step, gamma):
    intercept, slope, first, per_token = step
    # An idle server's first token comes after the time before the queue and one step over the prompt.
    cost = {"step": round(max(intercept, 0.01), 4), "sequence": round(slope, 4), "prompt_token": round(per_token, 5)}
    return cost, round(max(0.0, first - cost["step"]), 3)


def capacity(step, accepted, prompt):
    intercept, slope, _, per_token = step
    tokens = SLOTS * (1 + accepted) / (intercept + slope * SLOTS)
    return 1e3 / (OUTPUT / tokens + prompt * per_token)


def quantile(values, share):
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def measured(answers):
    middle = answers[len(answers) // 10 : -(len(answers) // 20)]
    out = {}
    for name, values in (("TTFT", [a.ttft() for a in middle]), ("TPOT", [a.tpot() for a in middle])):
        out |= {f"{name} mean": statistics.mean(values), f"{name} p50": quantile(values, 0.5), f"{name} p95": quantile(values, 0.95)}
    return {name: round(value, 3) for name, value in out.items()}


def config_of(steps, accepted, prompt):
    cases = []
    for gamma in (0, GAMMA):
        cost, front = costs_of(steps[gamma], gamma)
        most = capacity(steps[gamma], accepted if gamma else 0, prompt)
        for share, bursts in ((0.3, 1), (0.6, 1), (0.8, 1), (0.5, 4)):
            rate = float(f"{share * most:.3g}")
            label = f"{'plain' if gamma == 0 else f'γ = {gamma}'}, {rate:g} a second{', bursts' if bursts > 1 else ''}"
            cases.append({"label": label, "set": {"/gamma": gamma, "/serving/requests_per_second": rate, "/serving/bursts": bursts,
                                                  "/serving/cost": cost, "/serving/engine": {"max_sequences": SLOTS, "front_ms": front},
                                                  "/serving/acceptance": {"mean": round(accepted, 4)} if gamma else {"rate": 0},
                                                  "/serving/measured": {}}})
    about = (f"xllamacpp {importlib.metadata.version('xllamacpp')} with {SLOTS} slots and one thread serves configs/neural/target.gguf, with draft.gguf, "
             f"measured on {datetime.date.today()} by scripts/serving/llama_cpp.py. Costs and acceptance are those of clients that wait for their answers; "
             "what was measured under load was not used for them.")
    return {"title": "llama.cpp's server under load, beside the simulator", "about": about, "experiment": "serving", "seed": 1, "gamma": GAMMA,
            "serving": {"prompt": prompt, "output": OUTPUT, "burst_seconds": 1, "requests_per_second": 1,
                        "percentile": 95, "requests": 2000, "settle": 200, "runs": 16},
            "cases": cases}


def predicted(speclab, config):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "config.json"
        path.write_text(json.dumps(config))
        subprocess.run([speclab, "run", str(path), "-q", "--out", f"{folder}/out"], check=True)
        cells = json.loads((pathlib.Path(folder) / "out/result.json").read_text())["cells"]
    return [{number["name"]: number["simulated"]["value"] for number in cell["serving"]["numbers"]} for cell in cells]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--speclab", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--requests", type=int, default=400, help="of each cell under load")
    options = parser.parse_args()
    config = config_of(*calibrated())
    # Before anything is measured under load.
    forecasts = predicted(options.speclab, config)
    close = total = 0
    engines = {}
    for i, (case, forecast) in enumerate(zip(config["cases"], forecasts)):
        chosen = case["set"]
        engine = engines.setdefault(chosen["/gamma"], None) or server(chosen["/gamma"])
        engines[chosen["/gamma"]] = engine
        times = arrivals(chosen["/serving/requests_per_second"], chosen["/serving/bursts"], options.requests, i + 1)
        found = measured(open_loop(engine, times))
        for name in ("TTFT p50", "TTFT p95", "TPOT p50", "TPOT p95"):
            error = forecast[name] / found[name] - 1
            total += 1
            close += abs(error) <= 0.15
            print(f"{case['label']}: {name} {forecast[name]:.2f} predicted, {found[name]:.2f} measured, {100 * error:+.1f}%", file=sys.stderr)
        chosen["/serving/measured"] = found
    print(f"{close} of {total} within 15%", file=sys.stderr)
    pathlib.Path(options.out).write_text(json.dumps(config, indent=1, ensure_ascii=False) + "\n")
    sys.stdout.flush()
    os._exit(0)  # the servers' threads


main()
