"""An adapter for tests: Algorithm 1 in pure Python, with a planted fault. The test replaces FAULT and ROWS."""

import math
import os
import random
import signal
import socket
import time

from ._engine import Decoded, Engine, Refused, Way  # noqa: F401

FAULT = ""
TARGET, DRAFT = ROWS = [], []


def version():
    if FAULT == "missing package":
        import no_such_package  # noqa: F401
    return f"toy {FAULT}"


def load(settings):
    if FAULT == "refuses":
        raise Refused("the model has 3 layers too many")
    if FAULT == "listens":
        server = socket.create_server(("0.0.0.0", 0))
        return server
    if FAULT == "listens on loopback":
        return socket.create_server(("127.0.0.1", 0))
    return None


def cooled(row, temperature):
    if temperature == 0:
        return [float(token == row.index(max(row))) for token in range(len(row))]
    weights = [p ** (1 / temperature) for p in row]
    return [weight / sum(weights) for weight in weights]


def decode(loaded, settings, numbers, tokens):
    rows = TARGET, DRAFT
    if settings.ends:
        ends = [[0.1, 0.15, 0.2, 0.1], [0.2, 0.15, 0.1, 0.2]]
        rows = ([[end] + [(1 - end) * p for p in row[1:]] for end, row in zip(*both)] for both in zip(ends, rows))
    target, draft = ([cooled(row, settings.temperature) for row in one] for one in rows)
    for sequence in numbers:
        prompt = settings.prompt_of(sequence)
        if FAULT == "dies" and sequence == 3:
            os.kill(os.getpid(), signal.SIGSEGV)
        if FAULT == "slow":
            print("slow", flush=True)
            time.sleep(0.05)
        draws = random.Random(1 if FAULT == "one seed" and settings.gamma else settings.seed_of(sequence))
        yield decoded(settings, prompt[-1], target, draft, draws, tokens)


def tampered(row, exact, draws):
    """A row of a speculative text at temperature 0, changed by the fault."""
    order = sorted(range(len(row)), key=lambda token: -exact[token])
    wrong = FAULT == "runner-up" and draws.random() < 0.02 or FAULT == "other of ties" and exact[order[0]] == exact[order[1]] and draws.random() < 0.5
    return [float(token == order[1]) for token in range(len(row))] if wrong else row


def penalised(row, emitted, penalty):
    """A row after a frequency penalty, which counts the emitted tokens."""
    return [p * math.exp(-penalty * emitted.count(token)) for token, p in enumerate(row)]


def decoded(settings, before, target, draft, draws, tokens):
    text, steps = [before], 0
    everything = range(len(target))
    penalty = settings.request.get("frequency_penalty", 0)
    while len(text) < tokens + 1:
        steps += 1
        counted = len(text)
        for _ in range(settings.gamma):
            p, q = target[text[-1]], draft[text[-1]]
            if penalty:
                p = penalised(p, text[1:counted] if FAULT == "request, late counts" else text[1:], penalty)
                p = [one / sum(p) for one in p]
            if settings.temperature == 0:
                p = tampered(p, TARGET[text[-1]], draws)
            (token,) = draws.choices(everything, q)
            if FAULT == "accept all" or draws.random() * q[token] < p[token]:
                text.append(token)
                continue
            residual = p if FAULT == "resample target" else [max(0, a - b) for a, b in zip(p, q)]
            text += draws.choices(everything, residual)
            break
        else:
            bonus = target[text[-1]]
            text += draws.choices(everything, bonus if FAULT == "request, plain bonus" and settings.gamma else penalised(bonus, text[1:], penalty))
    ids = text[1 : tokens + 1]
    accepted = len(text) - 1 - steps if settings.gamma else 0
    if settings.ends and 0 in ids:
        whole, ids = ids, ids[: ids.index(0) + 1]
        if FAULT == "behind the end" and settings.gamma:
            ids = whole[: len(ids) + 1]
        if FAULT == "no end":
            ids.pop()
    if FAULT != "counts behind the end":
        accepted = min(accepted, len(ids))
    if FAULT == "wrong id":
        ids[0] = 99
    if FAULT == "short":
        ids.pop()
    if FAULT == "loses the first" and settings.gamma:
        ids = ids[1:] + draws.choices(everything, target[ids[-1]])
    logp = None
    if settings.logp and FAULT != "no logp":
        logp = [[math.log(TARGET[last][token]) * (2 if FAULT == "other rows" else 1) for last, token in zip([before, *ids], ids)]]
    return Decoded([ids], steps=steps, accepted=accepted, logp=logp)


ENGINE = Engine(title="Toy", ways=(Way("draft", "a token drawn from the draft"),), version=version, load=load, decode=decode, sequences=2000, long=150,
                options=("temperature",), ends=True, first_by_prompt=False,
                requests=("frequency_penalty",) if FAULT.startswith("request") else (), request_law={"order": "vllm"})
