"""Measures a server under load, and compares it with the simulator. All engines' scripts share this file.

Costs of a step and acceptance are measured with clients that wait for their answers. `speclab run` then predicts latencies of recorded
arrivals, Poisson and in bursts, and only after that are they measured with the same arrivals. The config that the script writes has the
costs, the cells, and the numbers measured in each; `speclab run` shows measured and predicted numbers side by side.

The machine must be idle. Even then a virtual machine's speed changes by a third from minute to minute, so all times are measured by a
clock that follows it: before and after each chunk of requests and each pass of the calibration, one client measures the latency of the
engine without speculation (the reference). Measured times are divided by (mean of both latencies / the calibration's median latency), and
intervals between arrivals are scaled by the latency before. A core that was idle is slower for some milliseconds, which closed loops do not show, so a process of the lowest
priority keeps each core busy. The engine has its own core; if it may move between cores, its steps take up to a third longer, at random.

The time of a step is a curve over its tokens (decoded ones and prompts). Drafting adds a time that is linear in the number of sequences.
A prompt that a draft reads, too, costs more per token. A step that both decodes and reads prompts takes longer by a constant, and so does
the first step after a pause.

An engine's script calls `main` with settings and a function that starts the engine with a setting and a gamma (0: no speculation). An engine has
  prompt_tokens(text), the length of a prompt;
  answer(text, seed, output), which waits for the answer of `output` tokens and returns an Answer (engine_apart.py).
"""
import argparse
import ctypes
import dataclasses
import datetime
import itertools
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
PAUSE = 10  # pause between chunks of requests, in mean times between arrivals; all requests are answered by then
LOADS = ((0.25, False), (0.5, False), (0.7, False), (0.4, True))  # (share of the capacity, whether in bursts)


def text_of(request, characters):
    first = random.Random(request).randrange(len(TEXT) - characters)
    return TEXT[first : first + characters]


def ask(engine, request, seed, at, setting, characters=None):
    answer = engine.answer(text_of(request, characters or setting.characters), seed, setting.output)
    answer.sent, answer.done = at, time.perf_counter()
    return answer


def closed_loop(engine, clients, requests, setting, characters=None):
    """Answers to requests of this many clients. Each waits for its answer before its next request."""
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
    return answers


def after_pauses(engine, setting):
    """Answers of an idle server; their first token comes later than right after another answer."""
    answers = []
    for request in range(setting.calls):
        time.sleep(setting.pause)
        answers.append(ask(engine, request, request + 1, time.perf_counter(), setting))
    return answers


def steps_of(answers):
    """Steps of the server: (decoding sequences, prompts read, milliseconds). Sequences whose rounds end within a quarter of the usual
    round of each other shared a step. Steps with prompts only are left out."""
    ends = sorted((end, i and 1e3 * (end - before)) for answer in answers for i, (before, end) in enumerate(itertools.pairwise([0, *answer.ends()])))
    usual = statistics.median(wait for _, wait in ends if wait)
    steps, last = [], -math.inf
    for end, wait in ends:
        if 1e3 * (end - last) > usual / 4:
            steps.append([])
            last = end
        steps[-1].append(wait)
    return [(len(of) - of.count(0), of.count(0), statistics.median(filter(None, of))) for of in steps if any(of)]


def open_loop(engine, first, times, setting, seed):
    """Sends request `first` and those after it, one at each of these times, whether or not earlier ones are answered."""
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


def arrivals(bursts, count, size):
    """Arrival times at one request per second, in chunks with a pause between. They are Poisson, or come in bursts, which take a fifth
    of the time, last 8 seconds on average, and have four times the rate between them."""
    draw, times = random.Random(7), []
    quiet, factor, length = (1 / 1.6, 4, 8) if bursts else (1, 1, math.inf)
    while len(times) < count:
        now = times[-1] + PAUSE if times else 0.0
        burst, ends = False, now + draw.expovariate(1 / (4 * length)) if bursts else math.inf
        chunk = [now]
        while len(chunk) < min(size, count - len(times)):
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
    """Intercept and slope by least squares."""
    x, y = statistics.mean(a for a, _ in points), statistics.mean(b for _, b in points)
    slope = sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)
    return y - slope * x, slope


def step_ms(curve, tokens):
    """Milliseconds of a step of this many tokens; linear beyond the last two points (serving.cost.by_tokens)."""
    i = min(max(1, sum(point < tokens for point, _ in curve)), len(curve) - 1)
    (x, y), (u, v) = curve[i - 1], curve[i]
    return y + (v - y) * (tokens - x) / (u - x)


def rounds_of(rate, gamma, tokens):
    """Expected rounds for this many tokens if each drafted token is accepted at this rate."""
    chance = [rate**k * (1 - rate if k < gamma else 1) for k in range(gamma + 1)]
    expected = [0.0]
    for left in range(1, tokens + 1):
        expected.append(1 + sum(p * expected[max(0, left - 1 - k)] for k, p in enumerate(chance)))
    return expected[-1]


def rate_for(rounds, gamma, tokens):
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if rounds_of(middle, gamma, tokens) > rounds else (low, middle)
    return round(low, 4) if gamma else 0


@dataclasses.dataclass
class Calibration:
    gamma: int
    curve: list  #: (tokens, milliseconds) of a step without drafts
    speculation: float  #: additional milliseconds of a step with drafts
    sequence: float  #: and of each decoding sequence in it
    prompt_token: float  #: additional milliseconds of a prompt's token, beyond the curve
    mixed: float  #: additional milliseconds of a step that decodes and reads prompts
    wake: float  #: additional milliseconds of the first step after a pause
    rate: float  #: acceptance rate
    rounds: float  #: rounds of a request after its first token

    def cost(self):
        return {"kind": "steps", "by_tokens": [{"tokens": tokens, "ms": round(ms, 4)} for tokens, ms in self.curve], "speculation": round(self.speculation, 4),
                "sequence": round(self.sequence, 4), "mixed": round(self.mixed, 4), "prompt_token": round(self.prompt_token, 5)}

    def step(self, sequences, prompt=0):
        drafting = self.speculation + sequences * self.sequence if self.gamma else 0
        return step_ms(self.curve, sequences * (self.gamma + 1) + prompt) + drafting + (prompt * self.prompt_token + self.mixed if prompt else 0)

    def capacity(self, setting, prompt):
        """Requests per second when all slots are full. Each request reads one prompt, in a step that also decodes."""
        read = self.step(setting.slots, prompt) - self.step(setting.slots)
        return 1e3 / (self.rounds * self.step(setting.slots) / setting.slots + read)


CORES = sorted(os.sched_getaffinity(0))


def keep_cores_busy():
    for core in CORES:
        if os.fork() == 0:
            os.sched_setaffinity(0, {core})
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: the child ends with the script
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
            while True:
                pass


def started(start, setting, gamma):
    os.sched_setaffinity(0, CORES[:1])  # affinity of this thread, and of all threads that it starts
    engine = start(setting, gamma)
    os.sched_setaffinity(0, CORES[1:])
    return engine


def reference(engine, setting):
    """Milliseconds of one client's request."""
    return 1e3 * statistics.mean(answer.done - answer.sent for answer in closed_loop(engine, 1, setting.calls, setting))


@dataclasses.dataclass
class Pass:
    reference: float
    prompts: list  #: TTFT by length of the prompt, of one client
    idle: float  #: TTFT of an idle server
    rounds: list  #: rounds of each answer
    steps: list  #: (sequences, prompts, milliseconds)

    def by(self, usual):
        """Converts to the reference's clock."""
        clock = usual / self.reference
        return Pass(usual, [clock * ms for ms in self.prompts], clock * self.idle, self.rounds, [(n, read, clock * ms) for n, read, ms in self.steps])


def calibrated(engines, setting, prompt):
    """A Calibration for each engine, and the reference of the plain engine."""
    texts = [setting.characters * share // 2 for share in (1, 2, 4, 8)]
    tokens = [statistics.mean(engines[0].prompt_tokens(text_of(request, characters)) for request in range(setting.calls)) for characters in texts]
    short = dataclasses.replace(setting, output=2)
    # OpenVINO compiles code for every number of tokens that is new to it, which takes longer than the step.
    for engine in engines.values():
        closed_loop(engine, setting.slots, 40 * setting.slots, dataclasses.replace(setting, output=6))
    passes = {gamma: [] for gamma in engines}
    # Engines alternate, so that a disturbance of a second affects one pass of all instead of one engine's point.
    after = reference(engines[0], setting)
    for _ in range(setting.passes):
        for gamma, engine in engines.items():
            before = after
            prompts = [statistics.median(answer.ttft() for answer in closed_loop(engine, 1, setting.calls, short, characters)) for characters in texts]
            idle = statistics.median(answer.ttft() for answer in after_pauses(engine, short))
            closed = [closed_loop(engine, clients, max(setting.calls, 6 * clients), setting) for clients in setting.clients]
            after = reference(engines[0], setting)
            passes[gamma].append(Pass((before + after) / 2, prompts, idle, [answer.rounds for answers in closed for answer in answers],
                                      [step for answers in closed for step in steps_of(answers)]))
    references = [one.reference for found in passes.values() for one in found]
    usual = statistics.median(references)
    print(f"reference {usual:.2f} ms, from {min(references):.2f} to {max(references):.2f}", file=sys.stderr)
    plain = None
    calibrations = {}
    for gamma, found in passes.items():
        calibrations[gamma] = calibration(gamma, [one.by(usual) for one in found], tokens, setting, prompt, plain)
        plain = plain or calibrations[gamma]
    return calibrations, usual


def calibration(gamma, passes, tokens, setting, prompt, plain):
    prompts = [statistics.median(of) for of in zip(*(one.prompts for one in passes))]
    idle = statistics.median(one.idle for one in passes)
    rounds = statistics.mean(count for one in passes for count in one.rounds)
    found = Calibration(gamma, [], 0, 0, 0, 0, 0, rate_for(rounds, gamma, setting.output - 1), rounds)
    taken = {n: [ms for one in passes for count, read, ms in one.steps if count == n and read == 0] for n in range(1, setting.slots + 1)}
    steps = {n: statistics.mean(of) for n, of in taken.items() if len(of) >= 10 * setting.passes}
    if plain is None:
        points = [*steps.items(), *((count, ms) for count, ms in zip(tokens, prompts) if count > max(steps))]
        found.curve = [(count, max(ms for _, ms in points[: i + 1])) for i, (count, _) in enumerate(points)]
    else:
        found.curve, found.prompt_token = plain.curve, max(0.0, line(list(zip(tokens, prompts)))[1] - line([(count, step_ms(plain.curve, count)) for count in tokens])[1])
        drafts = [(n, step - step_ms(plain.curve, (gamma + 1) * n)) for n, step in steps.items()]
        found.speculation, found.sequence = line(drafts)
        if found.speculation < 0:
            found.speculation, found.sequence = 0.0, max(0.0, sum(a * b for a, b in drafts) / sum(a * a for a, _ in drafts))
        elif found.sequence < 0:
            found.speculation, found.sequence = max(0.0, statistics.mean(ms for _, ms in drafts)), 0.0
    found.wake = max(0.0, idle - step_ms(found.curve, prompt) - prompt * found.prompt_token)
    both = [ms - found.step(n, read * prompt) for one in passes for n, read, ms in one.steps if n and read]
    found.mixed = max(0.0, statistics.mean(both))
    print(f"γ = {gamma}: a step of so many sequences takes ms, and by the model: "
          f"{', '.join(f'{n} {ms:.3f} {found.step(n):.3f}' for n, ms in steps.items())}; "
          f"TTFT of {', '.join(f'{count:.0f} tokens {ms:.2f}' for count, ms in zip(tokens, prompts))}, "
          f"of an idle server {idle:.2f}; {found}", file=sys.stderr)
    return found


def quantile(values, share):
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def measured(ttft, tpot):
    out = {}
    for name, values in (("TTFT", ttft), ("TPOT", tpot)):
        out |= {f"{name} mean": statistics.mean(values), f"{name} p50": quantile(values, 0.5), f"{name} p95": quantile(values, 0.95)}
    return {name: round(value, 3) for name, value in out.items()}


@dataclasses.dataclass
class Setting:
    server: str  #: engine, version and options, in words
    name: str  #: name of the config that is written: configs/serving/NAME.json
    target: str  #: file of the target; the draft is a file, too
    draft: str
    gamma: int
    slots: int = 8  #: sequences that run at the same time
    clients: tuple = (1, 2, 3, 4, 6, 8)  #: numbers of clients in the calibration
    characters: int = 100  #: characters of a prompt
    output: int = 64  #: tokens of an answer
    requests: int = 300  #: requests of each cell under load
    pause: float = 0.15  #: seconds before requests to an idle server
    calls: int = 24  #: requests of one client in a measurement of the calibration
    passes: int = 5  #: passes of the calibration
    chunk: int = 100  #: requests between measurements of the machine's speed
    all_rates: bool = True  #: whether to measure without speculation at the rates of speculation, too


def rate_of(times):
    return (len(times) - 1) / (times[-1] - times[0])


def config_of(setting, calibrations, prompt, times, traces):
    cases = []
    for share, bursts in LOADS:
        for gamma, found in calibrations.items():
            for of in calibrations.values() if gamma == 0 and setting.all_rates else [found]:
                rate = float(f"{share * of.capacity(setting, prompt):.3g}")
                if rate > 0.85 * found.capacity(setting, prompt):
                    continue  # here the queue would grow without end
                cases.append({"label": f"{'plain' if gamma == 0 else f'γ = {gamma}'}, {rate:g} a second{', bursts' if bursts else ''}",
                              "set": {"/gamma": gamma, "/serving/trace": traces[bursts].name, "/serving/requests_per_second": round(rate * rate_of(times[bursts]), 5),
                                      "/serving/cost": found.cost(),
                                      "/serving/engine": {"max_sequences": setting.slots, "wake_ms": round(found.wake, 3)},
                                      "/serving/acceptance": {"kind": "rate", "rate": found.rate}}})
    server = f"{setting.server} at temperature 1, one thread, with {setting.target} and {setting.draft}"
    about = (f"{server}, measured on {datetime.date.today()} by scripts/serving. Costs and acceptance are those of clients that wait for their "
             "answers; what was measured under load was not used for them.")
    return {"title": f"{setting.server.partition(' (')[0]} under load, beside the simulator", "about": about, "experiment": "serving", "seed": 1,
            "gamma": setting.gamma,
            "serving": {"trace": traces[False].name, "percentile": 95, "requests": setting.requests, "settle": 0, "runs": 16}, "cases": cases}


def written(config):
    """The config as text: one line per key, and per key that a case sets."""
    def line(value):
        return json.dumps(value, ensure_ascii=False)

    cases = ",\n".join(f'    {{"label": {line(case["label"])}, "set": {{\n' + ",\n".join(f"      {line(key)}: {line(value)}" for key, value in case["set"].items()) + "}}"
                       for case in config["cases"])
    keys = ",\n".join(f"  {line(key)}: {line(value)}" for key, value in config.items() if key != "cases")
    return f'{{\n{keys},\n  "cases": [\n{cases}\n  ]\n}}\n'


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


def write_costs(folder, setting, plain, drafting, prompt):
    """Writes the times of both models as `speclab plan load` reads them: `--target-times`, `--draft-times`."""
    folder.mkdir(exist_ok=True)
    for side, ms in (("target", lambda tokens, batch: step_ms(plain.curve, tokens * batch)),
                     ("draft", lambda tokens, batch: (drafting.speculation + drafting.sequence * batch) / setting.gamma + (tokens - 1) * batch * drafting.prompt_token)):
        rows = [f"{tokens},{batch},{ms(tokens, batch):.4f}\n" for tokens in (1, setting.gamma + 1, round(prompt)) for batch in setting.clients]
        (folder / f"{setting.name}_{side}.csv").write_text("tokens,batch,ms\n" + "".join(rows))


def under_load(engines, times, usual, setting, seed, model):
    """Measures requests at these times of the reference's clock: (TTFT, TPOT) in its milliseconds, and the mean of decoding steps
    divided by the model's."""
    ttft, tpot, steps = [], [], []
    after = reference(engines[0], setting)
    for first in range(0, len(times), setting.chunk):
        before, clock = after, after / usual
        answers = open_loop(engines[model.gamma], first, [clock * (at - times[first]) for at in times[first : first + setting.chunk]], setting, seed)
        after = reference(engines[0], setting)
        clock = (before + after) / 2 / usual
        ttft += [answer.ttft() / clock for answer in answers]
        tpot += [answer.tpot() / clock for answer in answers]
        steps += [ms / clock / model.step(n) for n, read, ms in steps_of(answers) if read == 0]
    return ttft, tpot, statistics.mean(steps)


def compare(setting, start, options):
    folder = options.out.resolve().parent
    times = {bursts: arrivals(bursts, setting.requests, setting.chunk) for bursts in (False, True)}
    engines = {0: started(start, setting, 0)}
    prompts = [engines[0].prompt_tokens(text_of(request, setting.characters)) for request in range(setting.requests)]
    traces = {bursts: folder / f"{setting.name}_{'bursts' if bursts else 'poisson'}.csv" for bursts in times}
    for bursts, path in traces.items():
        write_trace(path, times[bursts], prompts, setting.output)
    prompt = statistics.mean(prompts)
    engines[setting.gamma] = started(start, setting, setting.gamma)
    calibrations, usual = calibrated(engines, setting, prompt)
    write_costs(folder / "costs", setting, calibrations[0], calibrations[setting.gamma], prompt)
    config = config_of(setting, calibrations, prompt, times, traces)
    forecasts = predicted(options.speclab, folder, config)  # predictions are made before anything is measured under load
    close = total = 0
    for i, (case, forecast) in enumerate(zip(config["cases"], forecasts)):
        chosen = case["set"]
        at = times[chosen["/serving/trace"].endswith("bursts.csv")]
        rate = chosen["/serving/requests_per_second"] / rate_of(at)
        ttft, tpot, slower = under_load(engines, [second / rate for second in at], usual, setting, 10000 * (i + 1), calibrations[chosen["/gamma"]])
        found = measured(ttft, tpot)
        print(f"{case['label']}: steps take {slower:.2f} of the model's", file=sys.stderr)
        for name in ("TTFT p50", "TTFT p95", "TPOT p50", "TPOT p95"):
            error = forecast[name] / found[name] - 1
            total += 1
            close += abs(error) <= 0.15
            print(f"{case['label']}: {name} {forecast[name]:.2f} predicted, {found[name]:.2f} measured, {100 * error:+.1f}%", file=sys.stderr)
        chosen["/serving/measured"] = found
    print(f"{close} of {total} within 15%", file=sys.stderr)
    options.out.write_text(written(config))


def pair(engine, server, **options):
    """The neural pair of this repository, whose steps take less than a millisecond in a fast engine."""
    return Setting(server, f"{engine}_pair", "configs/neural/target.gguf", "configs/neural/draft.gguf", **options)


def smollm2(engine, server, **options):
    """SmolLM2-135M (scripts/setup.sh neural) and the draft that was distilled from it (docs/neural.md)."""
    slow = {"gamma": 2, "slots": 4, "clients": (1, 2, 3, 4), "output": 24, "requests": 60, "calls": 8, "passes": 3, "chunk": 20, "all_rates": False}
    return Setting(server, f"{engine}_smollm2", "data/smollm2-135m.gguf", "data/smollm2-draft/draft.gguf", **(slow | options))


def main(start, *settings):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", choices=[setting.name.rpartition("_")[2] for setting in settings])
    parser.add_argument("--speclab", required=True)
    parser.add_argument("--out", type=pathlib.Path, help="the config that is written; default: configs/serving/ENGINE_MODELS.json")
    parser.add_argument("--requests", type=int, help="requests per cell under load")
    options = parser.parse_args()
    setting = next(setting for setting in settings if setting.name.endswith(options.models))
    options.out = options.out or SOURCE / "configs/serving" / f"{setting.name}.json"
    if not os.access(options.speclab, os.X_OK):
        parser.error(f"--speclab {options.speclab}: no such program")
    if missing := [file for file in (setting.target, setting.draft) if not (SOURCE / file).is_file()]:
        parser.error(f"{', '.join(missing)}: no such file; docs/neural.md says how it is made")
    if len(CORES) < 2:
        parser.error("two cores are needed: one for the engine, one for its clients")
    keep_cores_busy()
    sys.setswitchinterval(1e-4)  # with the default, an engine that runs Python between steps would delay clients by 5 ms
    compare(dataclasses.replace(setting, requests=options.requests or setting.requests), start, options)
    sys.stdout.flush()
    os._exit(0)  # do not wait for the servers' threads
