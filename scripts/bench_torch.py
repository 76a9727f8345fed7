#!/usr/bin/env python3
"""Times methods of verification on the same tensors, all from logits to tokens: libspeclab_kernels.so, the package of kernels/python
with its operator and its drop-in functions, the functions of Hugging Face, vLLM and FlashInfer (--rivals), and your own (--mine).

Each method is first checked: its decisions against float64 if it takes given uniforms, and, except for approximations, the
distribution of its tokens by a chi-squared test. Times are between CUDA events, with methods in turn. With --graphs they are times of
CUDA graph replays, without the host's cost of Python and launches, which is printed beside them; a method that waits for the device
is timed without a graph. Drafted ids are prepared as int64 for torch and int32 for speclab.

Exit codes: 0; 1 a check failed or a method broke down; 2 no torch or no GPU, or a wrong option.
"""
import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

from verify_methods import checks, sizes

# The scripts are either packed for a GPU machine or in the repository. Without torch the library is used
# alone.
SOURCE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(SOURCE / "kernels/python"))
from speclab_kernels import c_library  # noqa: E402

# Methods with another output distribution: an approximation, or a truncated target.
APPROXIMATE = {"speclab-wagner-sigmoid", "speclab-operator-cut"}
# Differences of probabilities below this can be errors of fp32 softmaxes and sums.
BAND = 2e-5


def numbers(text):
    return [int(part) for part in text.split(",")]


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", help="libspeclab_kernels.so; without it speclab is left out")
    parser.add_argument("--rivals", type=Path, metavar="FOLDER", default=SOURCE / "rivals" if (SOURCE / "rivals").is_dir() else None,
                        help="folder that scripts/gpu/rivals.py made of vLLM and FlashInfer (default: the packed one, or the installed vllm)")
    parser.add_argument("--requests", type=numbers, default=[1, 4, 16, 64, 256], metavar="B,...")
    parser.add_argument("--gammas", type=numbers, default=[4], metavar="N,...")
    parser.add_argument("--vocabs", type=numbers, default=[32000, 128256], metavar="V,...")
    parser.add_argument("--dtypes", type=lambda text: text.split(","), default=["bfloat16"], metavar="TYPE,...",
                        help=f"of {', '.join(sizes.BYTES)}")
    parser.add_argument("--mine", metavar="FILE.py:FUNCTION", help="also check and time your own function, as the method mine; the help of "
                        "scripts/check_kernel.py, which tests it at more shapes, describes it")
    parser.add_argument("--mine-waits", action="store_true", help="your function waits for the device: it is timed without a graph")
    parser.add_argument("--only", type=lambda text: text.split(","), metavar="METHOD,...")
    parser.add_argument("--distance", type=float, default=1.0,
                        help="standard deviation of the draft's logits from the target's (default %(default)s)")
    parser.add_argument("--repeats", type=int, default=200, help="timings of each method (default %(default)s)")
    parser.add_argument("--loop-repeats", type=int, default=20, help="timings of methods that wait for the device (default %(default)s)")
    parser.add_argument("--draws", type=int, default=32,
                        help="batches with different logits, drafts and uniforms, timed in turns, if they have fewer than 32 requests: "
                             "their time depends on the number of accepted tokens (default %(default)s)")
    parser.add_argument("--samples", type=int, default=20000,
                        help="requests in the test of distributions; fewer if a method waits (default %(default)s)")
    parser.add_argument("--flush", action="store_true", help="read 256 MiB before each timing, so that L2 is cold")
    parser.add_argument("--graphs", action="store_true", help="time CUDA graph replays")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda",
                        help="cpu: tries the methods that need no GPU (vLLM's with TRITON_INTERPRET=1); says nothing about a GPU")
    parser.add_argument("--dry-run", action="store_true", help="sizes, byte counts and the checks' own check; no torch")
    options = parser.parse_args()
    if not all(dtype in sizes.BYTES for dtype in options.dtypes):
        parser.error(f"--dtypes are of {', '.join(sizes.BYTES)}")
    if min(options.requests + options.gammas + options.vocabs + [options.repeats, options.loop_repeats, options.draws]) < 1:
        parser.error("--requests, --gammas, --vocabs, --draws and repeats are 1 or more")
    if options.rivals and not options.rivals.is_dir():
        parser.error(f"--rivals {options.rivals}: there is no such folder: scripts/gpu/rivals.py makes it")
    return options


def table(rows):
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) if column == 0 else cell.rjust(width)
                        for column, (cell, width) in enumerate(zip(row, widths))))
    print()


def workspace_of(library, shape, implementation):
    """Bytes of the workspace, from the sizes alone."""
    dtype = c_library.DTYPES["torch." + shape.dtype]
    return library.workspace_bytes(c_library.Batch(
        implementation=implementation, requests=shape.requests, gamma=shape.gamma, vocab=shape.vocab,
        target_dtype=dtype, draft_dtype=dtype, sigmoid_alpha=-1000, sigmoid_beta=1000,
        draft=c_library.Rows(1 << 20, shape.gamma * shape.vocab, shape.vocab)))


def dry_run(options, library):
    good, bad = checks.check_the_check()
    print(f"law test: a correct method p = {good:.3g}, resampling the target p = {bad:.3g}, level {checks.LEVEL:.3g}\n")
    for shape in sizes.sweep(options.requests, options.gammas, options.vocabs, options.dtypes):
        print(f"{shape}: logits {shape.logit_bytes:,} bytes, at most {sizes.memory_needed(shape):,} in memory")
        rows = [("method", "bytes moved", "times the logits")]
        for method in sizes.PER_ID:
            moved = sizes.bytes_moved(method, shape)
            rows.append((method, f"{moved:,}", f"{moved / shape.logit_bytes:.2f}"))
        table(rows)
        for number, name in enumerate(library.implementations() if library else []):
            print(f"  workspace of speclab-{name}: {workspace_of(library, shape, number):,} bytes")
    return 0


def environment(torch, options, library):
    found = {"command": " ".join(sys.argv), "host_cpu": platform.processor() or platform.machine(),
             "python": platform.python_version(), "torch": torch.__version__, "cuda": torch.version.cuda}
    for name in ("triton", "transformers"):
        module = sys.modules.get(name)
        found[name] = None if module is None else module.__version__
    versions = options.rivals / "versions.json" if options.rivals else None
    found["rivals"] = json.loads(versions.read_text()) if versions and versions.is_file() else None
    found["speclab"] = None if library is None else library.c.speclab_kernels_version()
    if options.device == "cpu":
        return {**found, "device": "cpu: says nothing about a GPU"}
    found["device"] = torch.cuda.get_device_name()
    query = "driver_version,clocks.sm,clocks.mem,clocks.max.sm,clocks.max.mem,power.limit"
    try:
        answer = subprocess.run(["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader",
                                 f"--id=GPU-{torch.cuda.get_device_properties(0).uuid}"],
                                capture_output=True, text=True, check=True, timeout=30).stdout.strip()
        found["driver_and_clocks"] = dict(zip(query.split(","), answer.split(", ")))
    except (OSError, subprocess.SubprocessError, AttributeError) as error:
        found["driver_and_clocks"] = f"unknown: {error}"
    return found


def draws_of(shape, options):
    """Number of batches with different logits, drafts and uniforms: one if there are many requests."""
    return options.draws if shape.requests < 32 else 1


def make_case(torch, shape, options, draw=0):
    from verify_methods.case import Case
    generator = torch.Generator(options.device).manual_seed(options.seed + 1000 * draw)
    dtype = getattr(torch, shape.dtype)

    def noise(positions):
        return torch.randn(shape.requests, positions, shape.vocab, device=options.device, generator=generator)
    target = (2 * noise(shape.gamma + 1)).to(dtype)
    draft = (target[:, :shape.gamma] + options.distance * noise(shape.gamma)).to(dtype)
    drafted = torch.stack([torch.multinomial(row.float().softmax(-1), 1, generator=generator)[:, 0]
                           for row in draft.unbind(1)], 1)
    uniforms = torch.rand(shape.requests, shape.gamma + 1, dtype=torch.float64, device=options.device,
                          generator=generator)
    return Case(target, draft, drafted, uniforms)


def law_check(torch, method, options):
    """The smallest p-value of the tests of the tokens' distribution at each position."""
    from verify_methods.case import Case
    samples = min(6000, options.samples) if method.waits else options.samples
    target, draft = checks.rows(options.seed)
    q = [checks.softmax(row) for row in draft]
    drafted = torch.tensor([checks.draws(row, samples, options.seed + 10 + i) for i, row in enumerate(q)]).T
    generator = torch.Generator().manual_seed(options.seed)
    uniforms = torch.rand(samples, checks.GAMMA + 1, dtype=torch.float64, generator=generator)
    same = [torch.tensor(rows).expand(samples, -1, -1).contiguous().to(options.device) for rows in (target, draft)]
    case = Case(*same, drafted.contiguous().to(options.device), uniforms.to(options.device))
    accepted, following = method.prepare(case)()
    return min(checks.law_p_values([checks.softmax(row) for row in target], drafted.tolist(), accepted.tolist(),
                                   following.tolist()))


def decision_check(torch, method, options):
    """Counts of requests: decided otherwise than by float64 outside the band of rounding, within it, and all."""
    from verify_methods.case import reference
    different = within = requests = 0
    for dtype in options.dtypes:
        case = make_case(torch, sizes.Shape(64, 4, 1000, dtype), options)
        accepted, following = (values.tolist() for values in method.prepare(case)())
        for a, n, kept, token, margin in zip(accepted, following, *reference(case)):
            within += margin < BAND
            different += margin >= BAND and (a, n) != (kept, token)
            requests += 1
    return different, within, requests


def check(torch, methods, options):
    """Checks methods, and returns those that work. Prints the findings."""
    print(f"checks: law of tokens, level {checks.LEVEL:.3g}; decisions against float64, band {BAND:g}")
    rows = [("method", "law, p", "decisions", "verdict")]
    sound, found = [], {}
    for method in methods:
        try:
            p = law_check(torch, method, options)
            decisions = decision_check(torch, method, options) if method.injected else None
        except Exception as error:  # the others are still timed
            print(f"{method.name}: {type(error).__name__}: {error}", file=sys.stderr)
            found[method.name] = {"verdict": "failed"}
            rows.append((method.name, "", "", "failed"))
            continue
        approximate = method.name in APPROXIMATE
        right = p > checks.LEVEL and (decisions is None or decisions[0] == 0)
        verdict = "another law, as known" if approximate and not right else "passed" if right else "WRONG"
        found[method.name] = {"law_p": p, "decisions": decisions, "verdict": verdict}
        told = "" if decisions is None else f"{decisions[0]} of {decisions[2]} differ, {decisions[1]} in band"
        rows.append((method.name, f"{p:.3g}", told, verdict))
        print(f"  {method.name}: {verdict}", flush=True)
        sound.append(method)
    table(rows)
    return sound, found


def captured(torch, run):
    run()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()

    def replay():
        graph.replay()
    replay.run = run  # keeps the tensors that the graph reads
    return replay


def time_all(torch, runs, options):
    """Microseconds of each method's runs, by name: a list per batch. Methods and batches alternate."""
    cuda = options.device == "cuda"
    flush = torch.zeros(1 << 26, dtype=torch.int32, device="cuda") if cuda and options.flush else None
    times = {name: [] for name, _, _ in runs}
    for repeat in range(-max(3, options.repeats // 20), options.repeats):
        pending = []
        for name, of_draws, waits in runs:
            if waits and not -1 <= repeat < options.loop_repeats:
                continue
            run = of_draws[repeat % len(of_draws)]
            if flush is not None:
                flush.max()  # reading completes all writes before something is timed
            if cuda:
                events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
                events[0].record()
                run()
                events[1].record()
                pending.append((name, events))
            else:
                start = time.perf_counter()
                run()
                pending.append((name, 1e6 * (time.perf_counter() - start)))
        if cuda:
            torch.cuda.synchronize()
        for name, taken in pending:
            if repeat >= 0:
                times[name].append(1e3 * taken[0].elapsed_time(taken[1]) if cuda else taken)
    return times


def host_microseconds(torch, run, calls=50):
    """The host's cost of a call, without a graph. No call waits for the device, which is idle before and can queue all calls."""
    run()
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(calls):
        run()
    taken = time.perf_counter() - start
    torch.cuda.synchronize()
    return 1e6 * taken / calls


def bench_shape(torch, shape, methods, options):
    cases = [make_case(torch, shape, options, draw) for draw in range(draws_of(shape, options))]
    runs, rows = [], []
    for method in methods:
        try:
            of_draws = [method.prepare(case) for case in cases]
            kept = statistics.mean(run()[0].float().mean().item() for run in of_draws)
            cuda = options.device == "cuda" and not method.waits
            host = host_microseconds(torch, of_draws[0]) if cuda else None
            if options.graphs and cuda:
                of_draws = [captured(torch, run) for run in of_draws]
            runs.append((method.name, of_draws, method.waits))
            rows.append({"method": method.name, "draws": len(cases), "mean_accepted": kept, "host_us": host})
        except Exception as error:  # as above
            print(f"{shape}: {method.name}: {type(error).__name__}: {error}", file=sys.stderr)
            rows.append({"method": method.name, "failed": f"{type(error).__name__}: {error}"})
    times = time_all(torch, runs, options)
    ours = statistics.median(times["speclab-fused"]) if times.get("speclab-fused") else None
    shown = [("method", "median us", "mean us", "p99 us", "n", "GB/s counted", "times speclab-fused", "accepted", "host us")]
    for row in rows:
        row.update(requests=shape.requests, gamma=shape.gamma, vocab=shape.vocab, dtype=shape.dtype)
        if "failed" in row:
            shown.append((row["method"], "failed", *[""] * 7))
            continue
        sample = sorted(times[row["method"]])
        row.update(median_us=statistics.median(sample), mean_us=statistics.mean(sample), p99_us=sample[-(-99 * len(sample) // 100) - 1],
                   timings=len(sample), bytes_counted=sizes.bytes_moved(row["method"], shape))
        rate = row["bytes_counted"] and row["bytes_counted"] / row["median_us"] / 1e3
        shown.append((row["method"], f"{row['median_us']:.1f}", f"{row['mean_us']:.1f}", f"{row['p99_us']:.1f}", str(len(sample)),
                      f"{rate:.0f}" if rate else "", f"{row['median_us'] / ours:.2f}" if ours else "",
                      f"{row['mean_accepted']:.2f}", f"{row['host_us']:.1f}" if row["host_us"] is not None else ""))
    print(shape)
    table(shown)
    return rows


def write(options, results):
    if not options.json:
        return
    asked = {**vars(options), "rivals": options.rivals and str(options.rivals)}
    scratch = Path(options.json + ".new")
    scratch.write_text(json.dumps({"options": asked, **results}, indent=1) + "\n", encoding="utf-8")
    scratch.replace(options.json)


def all_methods(options, library):
    methods = []
    if library is not None:
        from verify_methods import in_wheel
        if options.device == "cuda":
            from verify_methods import in_speclab
            methods += in_speclab.methods(library)
        methods += in_wheel.methods()
    from verify_methods import in_rivals
    methods += in_rivals.methods(options.rivals, options.device)
    own = []
    if options.mine:
        from verify_methods import in_mine, mine
        own = [in_mine.method(mine.Function(options.mine), options.mine_waits)]
    if options.only is None:
        return methods + own
    names = [method.name for method in methods]
    for name in options.only:
        if name not in names:
            print(f"bench_torch: --only {name}: there are {', '.join(names)}", file=sys.stderr)
            sys.exit(2)
    return [method for method in methods if method.name in options.only] + own


def main():
    options = parse()
    try:
        library = c_library.Library(options.library) if options.library else None
    except OSError as error:
        print(f"bench_torch: {error}", file=sys.stderr)
        return 2
    if options.library:
        os.environ["SPECLAB_KERNELS_LIBRARY"] = options.library  # read by the package
    if options.dry_run:
        return dry_run(options, library)
    try:
        import torch
    except ImportError:
        print("bench_torch: PyTorch is not installed; --dry-run does without", file=sys.stderr)
        return 2
    if options.device == "cuda" and not torch.cuda.is_available():
        print("bench_torch: PyTorch finds no CUDA device; --dry-run and --device cpu do without", file=sys.stderr)
        return 2

    torch.manual_seed(options.seed)
    try:
        methods = all_methods(options, library)
    except c_library.SpeclabError as error:
        print(f"bench_torch: --mine {error}", file=sys.stderr)
        return 2
    about = environment(torch, options, library)
    for key, value in about.items():
        print(f"{key}: {value}")
    for method in methods:
        print(f"  {method.name}: {method.what}")
    print()
    sound, checked = check(torch, methods, options)
    rows, skipped = [], []
    for shape in sizes.sweep(options.requests, options.gammas, options.vocabs, options.dtypes):
        # A graph keeps the memory of its own temporaries.
        needed = sizes.memory_needed(shape) * (len(sound) if options.graphs else 1) * draws_of(shape, options)
        if options.device == "cuda":
            torch.cuda.empty_cache()
        if options.device == "cuda" and needed > torch.cuda.mem_get_info()[0]:
            print(f"{shape}: left out, {needed:,} bytes of memory may be needed; --only asks for fewer methods\n")
            skipped.append(str(shape))
        else:
            rows += bench_shape(torch, shape, sound, options)
        # Results are written after every shape, so that an interrupted run keeps them.
        write(options, {"about": about, "checks": checked, "rows": rows, "left_out": skipped})
    good = all(found["verdict"] not in ("WRONG", "failed") for found in checked.values())
    return 0 if good and not any("failed" in row for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
