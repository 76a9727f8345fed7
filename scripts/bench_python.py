"""Measures the Python package: the cost of a call; verify beside NumPy, transformers and the memory's bandwidth; simulate beside
the program.

usage: bench_python.py [--program build/release/bin/speclab] [--threads 2]     with the package importable
"""

import argparse
import concurrent.futures
import json
import pathlib
import resource
import statistics
import subprocess
import tempfile
import time

import numpy as np

import speclab

REPEATS = 5


def best(call, repeats=REPEATS):
    """The shortest time of several runs, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def per_call(call, calls=2000):
    return best(lambda: [call() for _ in range(calls)]) / calls


def show(what, value, unit, note=""):
    print(f"{what:<66}{value:>10.4g} {unit:<8}{note}")


def overhead():
    p, q, ids = np.full((1, 2, 2), 0.5), np.full((1, 1, 2), 0.5), np.zeros((1, 1), np.int64)
    show("verify, one request of one token over 2 ids", 1e6 * per_call(lambda: speclab.verify(p, q, ids, seed=1)), "µs/call")
    row = np.array([0.5, 0.5])
    pair = speclab.models.from_rows(row), speclab.models.from_rows(row)
    show("simulate, one round of models that are made already", 1e6 * per_call(lambda: speclab.simulate(*pair, 1, rounds=1)), "µs/call")
    show("simulate, one round of arrays", 1e6 * per_call(lambda: speclab.simulate(row, row, 1, rounds=1)), "µs/call")
    show("alpha of two rows of 2 ids", 1e6 * per_call(lambda: speclab.alpha(row, row)), "µs/call")


def by_numpy(target, draft, drafted, generator):
    """Runs Algorithm 1 over all requests at once."""
    requests, gamma = drafted.shape
    b, i = np.arange(requests)[:, None], np.arange(gamma)[None, :]
    ratio = target[b, i, drafted] / draft[b, i, drafted]
    accepted = (generator.random(ratio.shape) < ratio).cumprod(1).sum(1)
    rows = target[np.arange(requests), accepted]
    rejected = accepted < gamma
    rows[rejected] = np.maximum(rows[rejected] - draft[rejected, accepted[rejected]], 0)
    sums = rows.cumsum(1)
    return accepted, (sums < generator.random(requests)[:, None] * sums[:, -1:]).sum(1)


def verification(threads):
    requests, gamma, vocab = 256, 4, 32768
    generator = np.random.default_rng(1)
    def rows(positions):
        weights = generator.random((requests, positions, vocab), np.float32) ** 2
        return weights / weights.sum(-1, keepdims=True)
    target, draft = rows(gamma + 1), rows(gamma)
    drafted = generator.integers(0, vocab, (requests, gamma))
    accepted = speclab.verify(target, draft, drafted, seed=1).accepted
    # The verdicts depend on the rows up to the first rejection; without validation only on the last pair.
    row_bytes = vocab * 4
    all_rows = int((accepted + 1 + np.minimum(accepted + 1, gamma)).sum())
    last_rows = int((1 + (accepted < gamma)).sum())

    def read(part):
        return part.sum()

    flat = target.reshape(-1)
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        bandwidth = flat.nbytes / best(lambda: list(pool.map(read, np.array_split(flat, threads))))
    show(f"memory: NumPy's sum of {flat.nbytes / 2**20:.0f} MiB on {threads} threads", bandwidth / 1e9, "GB/s")
    name = f"verify [{requests}, {gamma + 1}, {vocab}] float32 on {threads} threads"
    checked = best(lambda: speclab.verify(target, draft, drafted, seed=1, threads=threads))
    show(name, 1e3 * checked, "ms", f"{all_rows * row_bytes / checked / 1e9:.1f} GB/s of the rows that it checks")
    bare = best(lambda: speclab.verify(target, draft, drafted, seed=1, threads=threads, validate=False))
    show("the same with validate=False", 1e3 * bare, "ms", f"{last_rows * row_bytes / bare / 1e9:.1f} GB/s of the rows that it draws from")
    numpy_time = best(lambda: by_numpy(target, draft, drafted, generator))
    show("NumPy, all requests at once", 1e3 * numpy_time, "ms", f"{numpy_time / bare:.1f} times as long")
    try:
        import torch
        from transformers.generation.utils import _speculative_sampling as theirs
    except ImportError:
        print("transformers: not installed")
        return
    torch.set_num_threads(threads)
    logits = [(torch.tensor(drafted[i : i + 1]), torch.log(torch.tensor(draft[i : i + 1])), torch.log(torch.tensor(target[i : i + 1]))) for i in range(requests)]
    their_time = best(lambda: [theirs(ids, q, gamma, p) for ids, q, p in logits], 2)
    show("transformers, a request at a time (from logits)", 1e3 * their_time, "ms", f"{their_time / bare:.1f} times as long")


def simulation(program, threads):
    generator = np.random.default_rng(1)
    rows = [generator.dirichlet(np.full(256, 0.1), 256) for _ in range(2)]
    trials, length = 512, 20_000
    config = {
        "title": "t",
        "models": {name: {"kind": "table", "rows": table.tolist()} for name, table in zip(("target", "draft"), rows)},
        "gamma": 5,
        "simulation": {"trials": trials, "length": length},
    }
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "markov.json")
        path.write_text(json.dumps(config))

        def by_program(rounds):
            """Processor seconds of the program."""
            out = pathlib.Path(folder, "out")
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([program, "run", path, "--quiet", "--force", "--threads", str(threads), "--out", out, "--set", f"simulation.length={rounds}"], check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

        def by_package(rounds):
            start = time.process_time()
            speclab.simulate(*rows, 5, rounds=trials * rounds, trials=trials, threads=threads)
            return time.process_time() - start

        # Processor time is measured, because other work may run on the machine. The difference of two sizes removes the
        # time of reading a config.
        by_package(length // 4)
        pairs = [tuple(run(length) - run(length // 4) for run in (by_package, by_program)) for _ in range(REPEATS)]
    mine, theirs = (statistics.median(times) for times in zip(*pairs))
    ratios = sorted(mine / theirs for mine, theirs in pairs)
    show("simulate, 7,680,000 rounds of a Markov pair of 256 tokens", mine, "s of processor time")
    show("the program", theirs, "s of processor time", f"ratio {statistics.median(ratios):.3f} ({ratios[0]:.3f} to {ratios[-1]:.3f})")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/bin/speclab")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    overhead()
    verification(options.threads)
    if pathlib.Path(options.program).exists():
        simulation(options.program, options.threads)


if __name__ == "__main__":
    main()
