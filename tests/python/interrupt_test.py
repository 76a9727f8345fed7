"""Tests Ctrl-C in every call that can take long: KeyboardInterrupt follows after little processor time, over all threads.

Every function of the package needs a case here, or a reason why it is short; otherwise the test fails.
"""

import inspect
import os
import subprocess
import sys

import pytest

import speclab

BOUND = 0.5  # seconds of processor time after the signal
SOURCE = os.environ.get("SPECLAB_SOURCE", os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

SHORT = {
    "alpha": "one pass over arrays that are there",
    "alpha_from_logprobs": "one pass over arrays that are there",
    "alpha_from_drafted": "one pass over arrays that are there",
    "flips": "one pass over arrays that are there",
    "greedy_check": "passes over arrays that are there",
    "verify": "one pass over arrays that are there",
    "expected_tokens": "closed forms",
    "optimal_gamma": "closed forms",
    "predict": "closed forms",
    "speedup": "closed forms",
    "grammar": "one automaton",
    "rule": "describes a function",
    "rule_names": "names",
    "drafter": "describes a function",
    "compare_rules": "one `prove` after the other",
    "law": "at most 100,000 sequences",
    "audit": "waits for an engine's process; engines_test.py interrupts it",
    "audit_greedy": "the same",
    "audit_pair": "the same",
    "check_sampler": "calls the user's sampler, whose own Ctrl-C it is",
    "read_recording": "`plan` reads one",
}
BEFORE = """
import json, speclab
TARGET, DRAFT = [.5, .3, .2], [.1, .3, .6]
def rule(draw, target, draft, drafted):
    return len(drafted), draw.categorical(target[-1])
def config(name, **changes):
    document = json.load(open(SOURCE + "/configs/" + name + ".json"))
    for key, change in changes.items():
        document[key] = {**document.get(key, {}), **change} if isinstance(change, dict) else change
    return document
LONG = {"title": "t", "models": {"target": {"kind": "table", "rows": [TARGET]}, "draft": {"kind": "table", "rows": [DRAFT]}},
        "rule": {"kind": "block"}, "simulation": {"trials": 1000, "length": 10_000_000}}
EXACT = {"title": "t", "models": {"target": {"kind": "ngram", "order": 3}, "draft": {"kind": "bigram"}}, "gamma": 8,
         "corpus": {"file": SOURCE + "/data/austen.txt", "vocabulary": 60}, "simulation": {"trials": 64, "length": 100000}}
with open("recorded.csv", "w") as out:
    out.write("sequence,position,token,logp,logq\\n")
    out.write("".join(f"{i // 100},{i % 100},{i % 50},-1.25,-{1 + i % 7 / 8}\\n" for i in range(700_000 if "plan" in NAME else 0)))
"""
CASES = {
    "simulate": "speclab.simulate(TARGET, DRAFT, 5, 'block', rounds=10**10)",
    "simulate, own rule": "speclab.simulate(TARGET, DRAFT, 2, rule, rounds=10**7)",
    "simulate, own rule, one thread": "speclab.simulate(TARGET, DRAFT, 2, rule, rounds=10**7, threads=1)",
    "sample": "speclab.sample(TARGET, DRAFT, 2, 'block', samples=10**7, tokens=16)",
    "run": "speclab.run(LONG)",
    "run, schedules": "speclab.run(config('schedules_iid', simulation={'trials': 1000000, 'length': 2048}))",
    "sweep": "speclab.sweep({**LONG, 'sweep': {'/gamma': [1, 2, 3, 4]}})",
    "sweep, many cells": "speclab.sweep({'title': 't', 'experiment': 'predict', 'alpha': .8, 'sweep': {'/alpha': "
                         "{'from': .1, 'to': .9, 'count': 400000}}})",
    "exact": "speclab.exact(EXACT)",
    "check": "speclab.check({**LONG, 'check': {'samples': 5 * 10**7}})",
    "record": "speclab.record(LONG, 'here.csv', sequences=1000, tokens=100000)",
    "prove": "speclab.prove({'kind': 'recursive', 'drafts': 3}, TARGET, DRAFT, gamma=3, max_branches=10**12)",
    "optimum": "speclab.optimum([[.3, .2, .5], [.1, .6, .3], [.3, .3, .4]], [[.2, .5, .3], [.4, .1, .5], [.1, .4, .5]], 3, drafts=3)",
    "prove, own rule": "speclab.prove(rule, [.1] * 10, [.1] * 10, gamma=6, max_branches=10**9)",
    "serve": "speclab.serve(.75, cost={'kind': 'models', 'target': 'llama-3.1-70b', 'draft': 'llama-3.2-1b', 'device': 'h100-sxm', "
             "'devices': 4}, requests=10**5)",
    "plan": "speclab.plan(recording='recorded.csv', c=.05)",
}
AROUND = """
import os, signal, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)
def clock():
    return sum(os.times()[:2])
at = []
def send():
    time.sleep(AFTER / 4)
    while clock() < began + AFTER:
        time.sleep(0.005)
    at.append(clock())
    os.kill(os.getpid(), signal.SIGINT)
began = clock()
threading.Thread(target=send, daemon=True).start()
try:
    CALL
except KeyboardInterrupt:
    print(clock() - at[0])
else:
    print("ended by itself")
"""


def test_every_function_has_a_case_or_a_reason():
    functions = {name for name in speclab.__all__ if inspect.isfunction(getattr(speclab, name))}
    tried = {name.split(",")[0] for name in CASES}
    assert tried | set(SHORT) == functions
    assert not tried & set(SHORT)


@pytest.mark.parametrize("name", CASES)
def test_interrupted(name, tmp_path):
    for after in 0.4, 0.2, 0.1, 0.05:  # sooner if the call has ended before, on a fast machine
        program = f"SOURCE, NAME = {SOURCE!r}, {name!r}\n" + BEFORE + AROUND.replace("AFTER", str(after)).replace("CALL", CASES[name])
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, timeout=120, check=False)
        assert done.returncode == 0, done.stderr[-600:]
        if done.stdout != "ended by itself\n":
            break
    assert float(done.stdout) < BOUND
    assert not [file for file in os.listdir(tmp_path) if file.endswith(".tmp")]
