#!/usr/bin/env python3
"""Prints the share of a decoding step that verification takes, on H200s, with the vocabularies of models that servers
run.

Verification was measured at V = 128,256 (kernels/results/nvidia-h200.csv: bf16, gamma = 4, caches flushed). Its time depends on the ids that a batch reads, B V: times
at other sizes are interpolated between measured ones, and marked with ~ as predictions. The step is the target's run over gamma + 1 tokens of each of
B requests, predicted by the roofline of `speclab plan` with 1,024 tokens of context.
"""
import argparse
import bisect
import csv
import json
import subprocess
import sys
from pathlib import Path

RESULTS = Path(__file__).resolve().parents[2] / "kernels/results/nvidia-h200.csv"
GAMMA, VOCAB = 4, 128256
# Presets of `speclab plan`, their vocabularies, and the devices that they need.
MODELS = [("llama-3.1-8b", 128256, 1), ("qwen3-8b", 151936, 1), ("gemma-3-12b", 262208, 1), ("deepseek-v3", 129280, 8)]
REQUESTS = (1, 32, 128)


def measured(method):
    """Microseconds by the ids that a row pair of all requests has."""
    if not RESULTS.exists():
        sys.exit(f"{RESULTS}: no such file; it is in the repository, and scripts/gpu/run.py measures on a device of your own (docs/gpu.md)")
    with open(RESULTS, encoding="utf-8") as file:
        return {int(row["requests"]) * VOCAB: float(row["median_us"]) for row in csv.DictReader(file)
                if row["median_us"] and (row["method"], row["workload"], row["cache"], row["dtype"], int(row["gamma"]), int(row["vocab"]), row["alpha"])
                == (method, "chains", "flushed", "bf16", GAMMA, VOCAB, "0.7")}


def time_of(times, ids):
    """A measured time, or one on the line through its neighbours. From 1 to 8 requests measured times fall where fewer tokens were accepted: no
    predicted time is below that of a smaller batch."""
    if ids in times:
        return times[ids]
    sizes = sorted(times)
    highest = [max(times[other] for other in sizes if other <= size) for size in sizes]
    place = min(max(bisect.bisect(sizes, ids), 1), len(sizes) - 1)
    low, high = sizes[place - 1:place + 1]
    return highest[place - 1] + (highest[place] - highest[place - 1]) * (ids - low) / (high - low)


def step_ms(model, devices, requests):
    """The cost of drafting, which the command must have, does not change the time of the target's run."""
    command = ["speclab", "plan", "alpha", "0.7", "--c", "0.1", "--target", model, "--device", "h200", "--devices", str(devices), "--batch",
               str(requests), "--json"]
    plan = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    cost = next(each["verify_cost"] for each in plan["gammas"] if each["gamma"] == GAMMA)
    return plan["device"]["plain_ms"] * cost


def main():
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    ours, baseline = measured("fused"), measured("baseline")
    print(f"{'target':24} {'V':>8} {'B':>4} {'step, ms':>9} {'fused, us':>10} {'share':>7} {'baseline, us':>13} {'share':>7}")
    for model, vocab, devices in MODELS:
        for requests in REQUESTS:
            step = step_ms(model, devices, requests)
            columns = ""
            for times, width in ((ours, 10), (baseline, 13)):
                microseconds = time_of(times, requests * vocab)
                mark = "" if requests * vocab in times else "~"
                columns += f" {f'{mark}{microseconds:.3g}':>{width}} {100 * microseconds / (1000 * step + microseconds):6.2f}%"
            print(f"{model + (f', {devices} of them' if devices > 1 else ''):24} {vocab:8,} {requests:4} {step:9.3g}{columns}")


if __name__ == "__main__":
    main()
