"""Interrupts every verb in the middle of long work: it ends with exit code 130 after little processor time, and its results so far are
written and marked partial.

Each verb of the program needs a case here, or a reason why it is short; otherwise the test fails. The bound is on the processor time
of the whole process (user and system, all threads, at --threads 1), and of Python where it draws, from the signal to the
end, so that other work on the machine does not matter. It is meant for an optimised build.

usage: stop.py SPECLAB_BINARY SOURCE_DIR [--all] [VERB...]     without --all: not the cases marked as long
"""

import glob
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

from signals import catches

SPECLAB, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
BOUND = 1  # second of processor time, on a slow processor
# Work that does not check for an interrupt has longer (experiments/base/support/interrupt.hpp): this work must check.
LOOKS = 0.2
CONFIGS = os.path.join(SOURCE, "configs")
TICK = 1 / os.sysconf("SC_CLK_TCK")

SHORT = {
    "bench": "needs a GPU",
    "predict": "closed forms of one acceptance rate",
    "config": "prints or copies a shipped file",
    "list": "prints what is compiled in",
    "schema": "prints what is compiled in",
    "completion": "prints what is compiled in",
    "paper": "its long work is that of reproduce, prove and check",
    "version": "prints what is compiled in",
    "status": "reads the heads of journals",
}


class Case:
    """A command that works for some time, and the files that it leaves after an interrupt at `after` seconds of processor time."""

    def __init__(self, verb, words, after=0.25, partial=False, number=signal.SIGINT, leaves=None, bound=BOUND, long=False):
        self.verb, self.words, self.after, self.partial, self.number = verb, words, after, partial, number
        self.leaves, self.bound, self.long = leaves, bound, long

    def __str__(self):
        return " ".join([self.verb, *(os.path.basename(word) for word in self.words)])[:110] + f" after {self.after} s"


def sets(**changes):
    return [word for path, value in changes.items() for word in ("--set", f"{path.replace('__', '.')}={value}")]


def path_of(name):
    return os.path.join(CONFIGS, name + ".json")


ONE = ["--threads", "1"]
RUN = [*ONE, "-q", "--out", "out"]
MILLION = {"title": "Many cells", "experiment": "predict", "alpha": 0.8,
           "sweep": {"/alpha": {"from": 0.1, "to": 0.9, "count": 1000}, "/gamma": list(range(1, 11)),
                     "/cost/c": {"from": 0.01, "to": 0.2, "count": 100}}}
# Each pair of tokens is a context, and each can follow each: 10^4 contexts, 10^6 transitions, no closed form.
BIG_EXACT = {"title": "Many contexts", "models": {"target": {"kind": "ngram", "order": 3}, "draft": {"kind": "bigram"}},
             "corpus": {"file": os.path.join(SOURCE, "data/austen.txt"), "vocabulary": 60}, "gamma": 8,
             "simulation": {"trials": 64, "length": 100000}}
LARGE_PAIR = {"title": "A large pair", "models": {"target": {"kind": "zipf", "vocab": 20000},
                                                  "draft": {"kind": "mixture", "alpha": 0.8, "other": {"kind": "uniform"}}},
              "simulation": {"trials": 640, "length": 100000}}

PLOTTED = {"title": "t", "experiment": "predict", "sweep": {"/alpha": {"from": 0.1, "to": 0.9, "count": 300},
                                                            "/gamma": {"from": 1, "to": 64, "step": 1}}}

CASES = [
    Case("run", [path_of("first"), *RUN, *sets(simulation__trials=256, simulation__length=10000000)], partial=True),
    Case("run", [path_of("first"), *RUN, *sets(simulation__trials=256, simulation__length=10000000)], partial=True,
         number=signal.SIGTERM, long=True),  # interrupt.sh sends it, too
    Case("run", [path_of("first"), *RUN, *sets(rule__kind="block", simulation__trials=2, simulation__length=100000000)], partial=True),
    Case("run", [path_of("schedules_iid"), *RUN, *sets(simulation__trials=1000000, simulation__length=2048)], partial=True),
    Case("run", [path_of("schedules_iid"), *RUN, *sets(simulation__trials=4, simulation__length=50000000)], partial=True),
    Case("run", [path_of("beam_austen"), *RUN, *sets(simulation__trials=100000)], after=1.5, partial=True),
    Case("run", [path_of("rules_austen"), *RUN, *sets(simulation__length=1000000)], after=1.5, partial=True),
    Case("run", [path_of("austen_words"), *RUN], after=0.3),
    Case("run", [path_of("paper/figure5"), *RUN, *sets(trace__tokens=100000)], after=0.1),
    Case("run", ["large_pair.json", *RUN], partial=True),
    Case("run", ["many_cells.json", *RUN], after=0.3),
    Case("run", ["many_cells.json", *RUN], after=6, long=True),
    Case("sweep", [path_of("iid_grid"), *RUN, *sets(simulation__length=100000000)], partial=True),
    Case("compare", [path_of("compare_prose"), *RUN, *sets(compare__tasks__0__tokens=2000)], after=3, partial=True),
    Case("reproduce", [*ONE, "-q", "--out", "out", "--only", "table1,figure3", *sets(simulation__length=100000000)], after=0.3,
         leaves=["out/summary.csv", "out/report.html"]),
    Case("plot", ["plotted"], after=0.02),
    Case("plot", ["plotted"], after=0.6),
    Case("merge", ["sharded", "-q"], after=0.3),
    Case("plan", ["load", "0.75", "--target", "llama-3.1-70b", "--draft", "llama-3.2-1b", "--device", "h100-sxm", "--devices", "4",
                  "--set", "serving.requests=100000", *ONE]),
    Case("plan", ["recording", "recorded.csv", "--c", "0.05"], after=0.2),
    Case("record", [path_of("first"), *ONE, "--out", "recorded_here.csv", "--sequences", "1000", "--tokens", "100000"]),
    Case("prove", ["--rule", "recursive", "--drafts", "3", "--gamma", "3", "--target", "1/2,3/10,1/5", "--draft", "1/10,3/10,3/5",
                   "--exact", "--max-branches", "1e12"]),
    Case("prove", ["--all", "--instances", "10000", *ONE]),
    Case("prove", ["--rule", "block", "--recording", "rows.jsonl", "--exact"], after=0.2),
    Case("check", [path_of("check_token"), *ONE, *sets(check__samples=50000000)]),
    Case("check", [path_of("audit"), *ONE, "--samples", "samples.jsonl"]),
    Case("check", ["kernels", "--emulate", *ONE]),
    Case("exact", ["big_exact.json", *ONE], after=0.3),
    Case("exact", ["big_exact.json", *ONE], after=1.0, long=True),
    Case("exact", [path_of("exact_markov"), *ONE, *sets(simulation__length=100000000)], after=0.3, bound=LOOKS),
    Case("convert", [path_of("austen_words"), *sets(sweep="null"), "--out", "here.arpa"], after=0.3),
]
# A pipe without a writer stands for slow input: it takes no processor time.
PIPES = [
    Case("run", ["pipe", *RUN], after=0, number=signal.SIGTERM),
    Case("validate", ["pipe"], after=0, number=signal.SIGTERM),
    Case("check", [path_of("audit"), "--samples", "pipe"], after=0, number=signal.SIGTERM),
    Case("plan", ["log", "pipe", "--c", "0.1"], after=0, number=signal.SIGTERM),
    Case("convert", ["pipe", "--out", "other.arpa"], after=0),
]


def make_inputs():
    json.dump(MILLION, open("many_cells.json", "w"))
    json.dump(BIG_EXACT, open("big_exact.json", "w"))
    json.dump(LARGE_PAIR, open("large_pair.json", "w"))
    os.mkfifo("pipe")
    json.dump(PLOTTED, open("plotted.json", "w"))
    made = subprocess.run([SPECLAB, "run", "plotted.json", "--out", "plotted", "-q"], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    with open("recorded.csv", "w") as out:
        out.write("sequence,position,token,logp,logq\n")
        out.write("".join(f"{i // 100},{i % 100},{i % 50},-1.25,-{1 + i % 7 / 8}\n" for i in range(700_000)))
    with open("samples.jsonl", "w") as out:
        out.write("[0,1,0,1,2,0,1,0]\n" * 500_000)
    made = subprocess.run([SPECLAB, "record", path_of("first"), "--out", "rows.jsonl", "--sequences", "40", "--tokens", "500",
                           "--top-k", "6"], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr


def processor_time(pid):
    """Returns the processor time of a process, its threads and the programs that it runs now; None once it has ended."""
    try:
        fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
        children = open(f"/proc/{pid}/task/{pid}/children").read().split()
    except OSError:
        return None
    if fields[0] in "ZX":
        return None
    return (int(fields[11]) + int(fields[12])) * TICK + sum(processor_time(child) or 0 for child in children)


def start(case):
    ready = lambda: (signal.signal(signal.SIGINT, signal.SIG_DFL), signal.signal(signal.SIGTERM, signal.SIG_DFL))
    return subprocess.Popen([SPECLAB, case.verb, *case.words], stdout=open("stdout", "w"), stderr=open("stderr", "w"),
                            stdin=subprocess.DEVNULL, preexec_fn=ready)


def faults_of(case):
    """Returns what is wrong with the end of a case. A machine on which it ends before the signal must interrupt it sooner."""
    subprocess.run(["rm", "-rf", "out"], check=True)
    job = start(case)
    began = time.monotonic()
    while True:
        used = processor_time(job.pid)
        if used is None:
            os.waitpid(job.pid, 0)
            if case.after > 0.02:
                case.after /= 2
                return faults_of(case)
            return [f"ended by itself: {open('stderr').read()[:300]}"]
        waited = time.monotonic() - began
        if used >= case.after and waited > (0.05 if case.after else 0.4) and catches(job.pid, case.number):
            break
        time.sleep(0.02)
    os.kill(job.pid, case.number)
    before = processor_time(job.pid) or used
    timer = threading.Timer(60, job.kill)
    timer.start()
    _, status, usage = os.wait4(job.pid, 0)
    timer.cancel()
    job.returncode = 0
    spent = usage.ru_utime + usage.ru_stime - before
    code = os.waitstatus_to_exitcode(status)
    stderr = open("stderr").read()
    case.spent = spent
    faults = []
    if code != 130:
        faults.append(f"exit code {code}: {stderr[:300]}")
    if spent > case.bound:
        faults.append(f"{spent:.2f} s of processor time after the signal, more than {case.bound}")
    if case.partial or (case.verb == "run" and os.path.exists("out/result.json")):
        try:
            if json.load(open("out/result.json"))["partial"] is not True:
                faults.append("result.json is not marked partial")
            for name in "results.csv", "timings.json", "report.html":
                if os.path.getsize(f"out/{name}") == 0:
                    faults.append(f"{name} is empty")
        except (OSError, ValueError) as error:
            faults.append(f"no partial results: {error}; {stderr[:200]}")
    elif "interrupted" not in stderr and not case.leaves:
        faults.append(f"does not say that it was interrupted: {stderr[:300]!r}")
    faults += [f"{name} is not there" for name in case.leaves or [] if not os.path.exists(name)]
    left = glob.glob("**/.*.speclab.tmp", recursive=True, include_hidden=True)
    if left:
        faults.append(f"leaves {left}")
    return faults


def verbs():
    text = subprocess.run([SPECLAB, "help"], capture_output=True, text=True, check=False).stdout
    return re.findall(r"^  (\w+) +\S", text.split("Verbs:\n")[1].split("\n\n")[0], re.MULTILINE)


def main():
    every, only = "--all" in sys.argv, [word for word in sys.argv[3:] if word != "--all"]
    failures = []
    tried = {case.verb for case in CASES + PIPES}
    for verb in verbs():
        if (verb in tried) == (verb in SHORT):
            failures.append(f"{verb}: neither a case nor a reason why it is short, or both (tests/experiments/cli/stop.py)")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make_inputs()
        if not only or "merge" in only:
            job = ["run", "sharded.json", "--out", "sharded", "-q", "--shard", "1/1"]
            json.dump({**MILLION, "sweep": {**MILLION["sweep"], "/alpha": {"from": 0.1, "to": 0.9, "count": 60}}},
                      open("sharded.json", "w"))
            subprocess.run([SPECLAB, *job], check=True)
        for case in CASES + PIPES:
            if only and case.verb not in only or case.long and not every:
                continue
            case.spent = 0
            faults = faults_of(case)
            print(f"{'FAILED' if faults else 'ok':<7}{case.spent:5.2f} s  {case}", flush=True)
            failures += [f"{case}: {fault}" for fault in faults]
        usage = sum(os.times()[2:4])
        print(f"{usage:.1f} s of processor time in all")
        os.chdir("/")
    for failure in failures:
        print(failure)
    return 1 if failures else 0


sys.exit(main())
