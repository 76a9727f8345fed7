"""A server under load, beside the simulator: what every engine's script here shares.

Costs of a step and acceptance are measured with clients that wait for their answers. `speclab run` then predicts latencies of recorded
arrivals, Poisson and in bursts, and only after that are they measured with the same arrivals. The config that is written has the costs,
the cells, and what was measured in each; `speclab run` shows both side by side.

The machine is to be idle. Even then a virtual machine's speed changes by a third from minute to minute, so that all times here are of a
clock that goes with it: every hundred requests, and in each pass of the calibration, one client measures the plain engine's latency, and
intervals between arrivals are stretched, and times that were measured divided, by that latency over its median in the calibration. A core that
was idle is slower for some milliseconds, which closed loops do not show: a process of the lowest priority a core keeps them busy throughout.

An engine's script calls `main` with a function that starts the engine with a gamma, 0 for plain decoding. An engine has
  prompt_tokens(text), the length of a prompt;
  answer(text, seed, output), which waits for the answer of `output` tokens and returns an Answer.
"""
import argparse
import ctypes
import dataclasses
import datetime
import json
import math
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
TEXT = (SOURCE / "data/austen.txt").read_text()
CHUNK = 100
PAUSE = 20  # between chunks of requests, in mean times between arrivals: all are answered by then
LOADS = ((0.25, False), (0.5, False), (0.7, False), (0.4, True))  # share of the capacity, in bursts


@dataclasses.dataclass
class Answer:
    times: list  #: of perf_counter, when tokens came
    rounds: int  #: after the first token

    sent: float = 0
    done: float = 0

    def ttft(self):
        return 1e3 * (self.times[0] - self.sent)

    def tpot(self):
        return 1e3 * (self.times[-1] - self.times[0]) / (len(self.times) - 1)


def text_of(request, characters):
    first = random.Random(request).randrange(len(TEXT) - characters)
    return TEXT[first : first + characters]


def ask(engine, request, seed, at, setting, characters=None):
    answer = engine.answer(text_of(request, characters or setting.characters), seed, setting.output)
    answer.sent, answer.done = at, time.perf_counter()
    return answer


def closed_loop(engine, clients, requests, setting, characters=None):
    """Requests of as many clients, each of which waits for its answer: (answers, seconds that one took, the first and last of each left out)."""
    answers, lock, left = [], threading.Lock(), list(range(requests))

    def client():
        while True:
            with lock:
                if not left:
                    return
                request = left.pop()
            answer = ask(engine, request, request + 1, time.perf_counter(), setting, characters)
            with lock:
                answers.append(answer)

    workers = [threading.Thread(target=client) for _ in range(clients)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    middle = answers[clients:-clients] if requests >= 4 * clients else answers
    return middle, statistics.mean(answer.done - answer.sent for answer in middle)


def open_loop(engine, first, times, setting, seed):
    """Requests `first` and those after it, one at each of these times, whatever becomes of those before."""
    answers, begin = [None] * len(times), time.perf_counter() + 0.05

    def one(i):
        answers[i] = ask(engine, first + i, seed + first + i, begin + times[i], setting)

    workers = []
    for i, at in enumerate(times):
        time.sleep(max(0, begin + at - time.perf_counter()))
        workers.append(threading.Thread(target=one, args=(i,)))
        workers[-1].start()
    for worker in workers:
        worker.join()
    return answers


def arrivals(bursts, count):
    """Times at one request a second, in chunks with a pause between: Poisson, or in bursts of 8 seconds on average, a fifth of the time, at four
    times the rate between them."""
    draw, times = random.Random(7), []
    quiet, factor, length = (1 / 1.6, 4, 8) if bursts else (1, 1, math.inf)
    while len(times) < count:
        now = times[-1] + PAUSE if times else 0.0
        burst, ends = False, now + draw.expovariate(1 / (4 * length)) if bursts else math.inf
        chunk = [now]
        while len(chunk) < min(CHUNK, count - len(times)):
            wait = draw.expovariate(quiet * factor if burst else quiet)
            if now + wait < ends:
                now += wait
                chunk.append(round(now, 4))
            else:
                now, burst = ends, not burst
                ends = now + draw.expovariate(1 / (length if burst else 4 * length))
        times += chunk
    return times


def line(points):
    """Intercept and slope, by least squares."""
    x, y = statistics.mean(a for a, _ in points), statistics.mean(b for _, b in points)
    slope = sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)
    return y - slope * x, slope


@dataclasses.dataclass
class Calibration:
    step: float  #: milliseconds of a step
    sequence: float  #: of each decoding sequence
    prompt_token: float
    front: float  #: before the queue
    accepted: float  #: tokens a round

    def cost(self):
        return {"step": round(self.step, 4), "sequence": round(self.sequence, 4), "prompt_token": round(self.prompt_token, 5)}

    def capacity(self, setting, prompt):
        rounds = (setting.output - 1) / (1 + self.accepted)
        return 1e3 / (rounds * (self.step / setting.slots + self.sequence) + prompt * self.prompt_token)


def keep_cores_busy():
    for _ in range(os.cpu_count()):
        if os.fork() == 0:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: ends with the script
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
            while True:
                pass


def reference(engine, setting):
    """Milliseconds of a request of one client."""
    return 1e3 * closed_loop(engine, 1, setting.calls, setting)[1]


def calibrated(engines, setting, prompt):
    """A Calibration for each engine, and the plain engine's reference."""
    for engine in engines.values():
        closed_loop(engine, 2, setting.calls, setting)  # warms up
    texts = [setting.characters * share // 2 for share in (1, 2, 4, 8)]
    tokens = [statistics.mean(engines[0].prompt_tokens(text_of(request, characters)) for request in range(8)) for characters in texts]
    passes = {gamma: [] for gamma in engines}
    references = []
    # In turn, so that what disturbs the machine for a second disturbs one pass and not one point.
    for _ in range(setting.passes):
        for gamma, engine in engines.items():
            references.append(reference(engines[0], setting))
            ttft = [statistics.mean(answer.ttft() for answer in closed_loop(engine, 1, setting.calls // 3, setting, characters)[0]) for characters in texts]
            # A first token after a pause comes later than one right after an answer.
            idle = statistics.mean(answer.ttft() for answer in open_loop(engine, 0, [setting.idle_gap * i for i in range(setting.calls // 2)], setting, 1))
            steps = [closed_loop(engine, clients, max(setting.calls, 4 * clients), setting) for clients in setting.clients]
            passes[gamma].append((references[-1], ttft, idle, [(statistics.mean(answer.rounds for answer in answers), 1e3 * seconds) for answers, seconds in steps]))
    usual = statistics.median(references)
    print(f"reference {usual:.2f} ms, from {min(references):.2f} to {max(references):.2f}", file=sys.stderr)
    return {gamma: calibration(gamma, [(usual / of, *rest) for of, *rest in found], tokens, setting, prompt)
            for gamma, found in passes.items()}, usual


def calibration(gamma, passes, tokens, setting, prompt):
    _, per_token = line([(count, statistics.median(clock * ttft[i] for clock, ttft, _, _ in passes)) for i, count in enumerate(tokens)])
    points, spread = [], []
    for i, clients in enumerate(setting.clients):
        rounds = statistics.mean(steps[i][0] for *_, steps in passes)
        # While one answer is made, as many prompts are read as there are clients; each other client decodes in all of its steps but one.
        times = [(clock * steps[i][1] - clients * prompt * per_token) / (steps[i][0] + 1) for clock, _, _, steps in passes]
        points.append((1 + (clients - 1) * rounds / (rounds + 1), statistics.median(times)))
        spread.append((max(times) - min(times)) / points[-1][1])
    step, sequence = line(points)
    if step < 0:
        step, sequence = 0.0, sum(a * b for a, b in points) / sum(a * a for a, _ in points)
    first = statistics.median(clock * idle for clock, _, idle, _ in passes)
    accepted = (setting.output - 1) / statistics.mean(rounds for *_, steps in passes for rounds, _ in steps) - 1
    print(f"γ = {gamma}: a step of so many sequences takes ms (largest less least of {setting.passes}, over the median): "
          f"{', '.join(f'{a:.1f} {b:.3f} ({100 * c:.0f}%)' for (a, b), c in zip(points, spread))}; "
          f"TTFT of an idle server {first:.2f}, {per_token:.4f} a token of a prompt; accepted {accepted:.3f} a round", file=sys.stderr)
    return Calibration(step, sequence, per_token, max(0.0, first - step - prompt * per_token), accepted)


def quantile(values, share):
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def measured(ttft, tpot):
    out = {}
    for name, values in (("TTFT", ttft), ("TPOT", tpot)):
        out |= {f"{name} mean": statistics.mean(values), f"{name} p50": quantile(values, 0.5), f"{name} p95": quantile(values, 0.95)}
    return {name: round(value, 3) for name, value in out.items()}


@dataclasses.dataclass
class Setting:
    name: str  #: of the config that is written: configs/serving/NAME.json
    server: str  #: engine, version and models, in words
    gamma: int
    slots: int = 8  #: sequences that run at a time
    clients: tuple = (1, 2, 4, 8)  #: of the calibration
    characters: int = 100  #: of a prompt
    output: int = 64  #: tokens
    requests: int = 300  #: of each cell under load
    idle_gap: float = 0.15  #: seconds between requests to an idle server
    calls: int = 24  #: requests of one client in a measurement of the calibration
    passes: int = 5  #: of the calibration
    all_rates: bool = True  #: plain decoding at the rates of speculation, too


def rate_of(times):
    return (len(times) - 1) / (times[-1] - times[0])


def config_of(setting, calibrations, prompt, times, traces):
    cases = []
    for share, bursts in LOADS:
        for gamma, found in calibrations.items():
            for of in calibrations.values() if gamma == 0 and setting.all_rates else [found]:
                rate = float(f"{share * of.capacity(setting, prompt):.3g}")
                if rate > 0.85 * found.capacity(setting, prompt):
                    continue  # would fall behind without end
                cases.append({"label": f"{'plain' if gamma == 0 else f'γ = {gamma}'}, {rate:g} a second{', bursts' if bursts else ''}",
                              "set": {"/gamma": gamma, "/serving/trace": traces[bursts].name, "/serving/requests_per_second": round(rate * rate_of(times[bursts]), 5),
                                      "/serving/cost": found.cost(),
                                      "/serving/engine": {"max_sequences": setting.slots, "front_ms": round(found.front, 3)},
                                      "/serving/acceptance": {"mean": round(found.accepted, 4)} if gamma else {"rate": 0}}})
    about = (f"{setting.server}, measured on {datetime.date.today()} by scripts/serving. Costs and acceptance are those of clients that wait for their "
             "answers; what was measured under load was not used for them.")
    return {"title": f"{setting.server.partition(' (')[0]} under load, beside the simulator", "about": about, "experiment": "serving", "seed": 1,
            "gamma": setting.gamma,
            "serving": {"trace": traces[False].name, "percentile": 95, "requests": setting.requests, "settle": 0, "runs": 16}, "cases": cases}


def predicted(speclab, folder, config):
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        path = folder / f".{pathlib.Path(scratch).name}.json"  # beside the traces
        try:
            path.write_text(json.dumps(config))
            subprocess.run([speclab, "run", str(path), "-q", "--out", f"{scratch}/out"], check=True)
        finally:
            path.unlink()
        cells = json.loads((pathlib.Path(scratch) / "out/result.json").read_text())["cells"]
    return [{number["name"]: number["simulated"]["value"] for number in cell["serving"]["numbers"]} for cell in cells]


def write_trace(path, times, prompts, output):
    path.write_text("seconds,prompt,output\n" + "".join(f"{at},{prompt},{output}\n" for at, prompt in zip(times, prompts)))


def under_load(engines, gamma, times, usual, setting, seed):
    """Requests at these times of the reference's clock: (TTFT, TPOT) in its milliseconds."""
    ttft, tpot = [], []
    for first in range(0, len(times), CHUNK):
        clock = reference(engines[0], setting) / usual
        answers = open_loop(engines[gamma], first, [clock * (at - times[first]) for at in times[first : first + CHUNK]], setting, seed)
        ttft += [answer.ttft() / clock for answer in answers]
        tpot += [answer.tpot() / clock for answer in answers]
    return ttft, tpot


def compare(setting, start, options):
    folder = options.out.resolve().parent
    times = {bursts: arrivals(bursts, setting.requests) for bursts in (False, True)}
    engines = {0: start(0)}
    prompts = [engines[0].prompt_tokens(text_of(request, setting.characters)) for request in range(setting.requests)]
    traces = {bursts: folder / f"{setting.name}_{'bursts' if bursts else 'poisson'}.csv" for bursts in times}
    for bursts, path in traces.items():
        write_trace(path, times[bursts], prompts, setting.output)
    prompt = statistics.mean(prompts)
    engines[setting.gamma] = start(setting.gamma)
    calibrations, usual = calibrated(engines, setting, prompt)
    config = config_of(setting, calibrations, prompt, times, traces)
    forecasts = predicted(options.speclab, folder, config)  # before anything is measured under load
    close = total = 0
    for i, (case, forecast) in enumerate(zip(config["cases"], forecasts)):
        chosen = case["set"]
        at = times[chosen["/serving/trace"].endswith("bursts.csv")]
        rate = chosen["/serving/requests_per_second"] / rate_of(at)
        found = measured(*under_load(engines, chosen["/gamma"], [second / rate for second in at], usual, setting, 10000 * (i + 1)))
        for name in ("TTFT p50", "TTFT p95", "TPOT p50", "TPOT p95"):
            error = forecast[name] / found[name] - 1
            total += 1
            close += abs(error) <= 0.15
            print(f"{case['label']}: {name} {forecast[name]:.2f} predicted, {found[name]:.2f} measured, {100 * error:+.1f}%", file=sys.stderr)
        chosen["/serving/measured"] = found
    print(f"{close} of {total} within 15%", file=sys.stderr)
    options.out.write_text(json.dumps(config, indent=1, ensure_ascii=False) + "\n")


def main(setting, start):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--speclab", required=True)
    parser.add_argument("--out", type=pathlib.Path, default=SOURCE / "configs/serving" / f"{setting.name}.json")
    parser.add_argument("--requests", type=int, default=setting.requests, help="of each cell under load")
    options = parser.parse_args()
    keep_cores_busy()
    sys.setswitchinterval(1e-4)  # an engine that runs Python between steps would hold clients up for 5 ms
    compare(dataclasses.replace(setting, requests=options.requests), start, options)
    sys.stdout.flush()
    os._exit(0)  # the servers' threads
