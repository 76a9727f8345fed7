#!/usr/bin/env python3
"""Tests and measures the GPU kernels on this machine.

    scripts/gpu/run.py check      device tests, distributions, compute-sanitizer, side by side, then a quick benchmark: about 3 minutes
    scripts/gpu/run.py measure    chosen sizes, the profiler where it is installed, the benchmark's sweep: about 8 minutes
    scripts/gpu/run.py torch      PyTorch, the package of kernels/python and the functions that it replaces: about 6 minutes
    scripts/gpu/run.py gammas     times of one sequence for 1 to 20 drafted tokens, as in Figure 3 of Wagner et al. 2024: below 4 minutes;
                                  with --dry-run, their launches and bytes on any machine
    scripts/gpu/run.py compare    `fused` of an older build beside this one's, at each size in turns: below 8 minutes; `pack.py --before OLD` packs the older
                                  build, and a --build FOLDER has it in FOLDER/before
    scripts/gpu/run.py all        one after the other

It runs an unpacked archive of scripts/gpu/pack.py, or a build with CUDA and tests (--build build/cuda). Each command ends within
--seconds: a step that would last longer is interrupted, and keeps its results so far. This counts as a failure of every step except
bench-axes and gammas, whose sweeps may be cut; a step that must be killed, for instance because its kernel hangs, always counts as failed.
Results go to --out, with one log per step; run.json records the steps, how they ended, and the device. All of it is packed into OUT.tar.gz
after every step. A step that fails does not stop the others. Every chosen size is measured by a separate process, because a CUDA fault ends
a process. Exit codes: 0; 1 a step failed; 2 no GPU, no programs, or wrong options.
"""
import argparse
import concurrent.futures
import gzip
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
import time
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
QUERY = ("name,driver_version,compute_cap,memory.total,clocks.current.sm,clocks.current.memory,clocks.max.sm,clocks.max.memory,"
         "power.limit,temperature.gpu")
# The steps that `measure` runs at chosen sizes: options of `speclab bench kernels`, the sizes (one step each), and the maximum of
# seconds for a step.
MEASURED = {
    "sizes": (["--dtype", "bf16"], [f"{requests},4,128256" for requests in (1, 2, 4, 8, 16, 32, 64, 128, 256)]
              + ["32,4,50257", "32,4,151669"], 25),  # the last two: rows that are no multiple of 16 bytes
    "cut-offs": (["--workload", "cut-offs,min-p", "--baselines", "fused", "--dtype", "bf16"],
                 ["1,4,128256", "32,4,128256", "256,4,128256", "32,4,32000", "32,4,256000"], 20),
    "trees": (["--workload", "trees,chosen-trees", "--dtype", "bf16"],
              ["1,26,128256", "16,26,128256", "32,26,128256", "256,26,128256", "32,60,128256", "32,26,32000", "32,26,256000"], 30),
    "floats": (["--workload", "cut-offs,min-p,trees,chosen-trees", "--baselines", "fused,tree,traversal,tree-sums", "--dtype", "f32", "--quick",
                "--repetitions", "100"], [], 40),
}
MEASURED_ALPHA = "0.7"
# `compare` runs this build at the sizes of the first list, and the older build at those of the second. Chains have few requests, many
# requests, and rows off 16-byte alignment (V = 50,257 and 151,669), each beside rows as long that are aligned. Trees are verified in one
# launch and in two. The older build may also be one that differs in the number of blocks for cut-offs alone (BlocksWanted::cutoffs).
CHAINS = [f"{requests},4,128256" for requests in (1, 4, 32, 256)] + [f"32,4,{vocab}" for vocab in (50257, 50264, 151669, 151672)]
COMPARED = {"chains": (["--baselines", "fused"], CHAINS, CHAINS),
            "cut-offs": (["--workload", "cut-offs", "--baselines", "fused"], ["256,4,128256"], ["256,4,128256"]),
            "trees": (["--workload", "trees,chosen-trees"], [f"{requests},26,128256" for requests in (1, 8, 32)], ["32,26,128256"])}
PROFILED = (1, 32, 256)  # requests
# A sweep that is cut has measured drafted tokens from the whole range.
GAMMAS = (1, 20, 10, 5, 15, 3, 2, 7, 12, 17, 4, 6, 8, 9, 11, 13, 14, 16, 18, 19)
PAPERS_VOCABS = (32000, 51865, 151936, 256000)  # Llama 2, Whisper, Qwen, Gemma


def smi():
    """The driver's current description of the device; None without a driver."""
    try:
        answer = subprocess.run(["nvidia-smi", f"--query-gpu={QUERY}", "--format=csv,noheader"], capture_output=True, text=True,
                                timeout=60)
    except (OSError, subprocess.SubprocessError):
        return None
    lines = answer.stdout.strip().splitlines()
    return dict(zip(QUERY.split(","), lines[0].split(", "))) if answer.returncode == 0 and lines else None


def installed(name):
    return shutil.which(name) or next((str(path) for path in [Path("/usr/local/cuda/bin") / name] if path.is_file()), None)


class Session:
    grace = 15  # seconds from an interrupt, or a kill, to the end of a step

    def __init__(self, build, out, seconds):
        self.build, self.out, self.seconds = build, out, seconds
        self.end = time.monotonic() + seconds
        self.failures = 0
        self.noting = threading.Lock()
        self.environment = dict(os.environ)
        if (build / "lib").is_dir():
            inherited = os.environ.get("LD_LIBRARY_PATH")
            self.environment["LD_LIBRARY_PATH"] = str((build / "lib").resolve()) + (f":{inherited}" if inherited else "")
        out.mkdir(parents=True, exist_ok=True)
        self.record = self.begin()

    def begin(self):
        file = self.out / "run.json"
        if file.is_file():
            return json.loads(file.read_text())
        speclab = subprocess.run([str(self.program("bin/speclab")), "--version"], capture_output=True, text=True,
                                 env=self.environment)
        return {"device": smi(), "speclab": speclab.stdout.strip(), "machine": " ".join(platform.uname()[i] for i in (0, 2, 4)),
                "steps": []}

    def program(self, name):
        return self.build / name

    def step(self, name, command, limit=None, may_be_cut=False):
        """Runs a command with its output in NAME.log. It is interrupted at its limit, or at the end of the session; this is a failure
        unless it `may_be_cut`."""
        left = self.end - time.monotonic()
        if left < 5:
            return self.skip(name, "no time was left")
        command = [str(part) for part in command]
        print(f"== {name}: {' '.join(command)}", flush=True)
        before, start = smi(), time.monotonic()
        code = self.run(command, self.out / f"{name}.log", min(left, limit or left))
        failed = code != 0 and not (may_be_cut and code == "interrupted")
        if code != 0:
            print(f"   ended with {code}{', a failure' if failed else ''}: see {self.out / name}.log")
        return self.note({"step": name, "command": command, "exit_code": code, "failed": failed, "limit": limit,
                          "seconds": round(time.monotonic() - start, 1),
                          "device_before": before, "device_after": smi()})

    def run(self, command, log, limit):
        """The exit code; "interrupted" if the program then ended as it should (130, or by the signal); or "killed"."""
        with open(log, "w") as output:
            try:
                process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=self.environment, cwd=SOURCE)
            except OSError as error:
                output.write(f"{error}\n")
                return 127
            try:
                return process.wait(limit)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGINT)
            try:
                code = process.wait(self.grace)
                return "interrupted" if code in (0, 130, -signal.SIGINT) else code
            except subprocess.TimeoutExpired:
                process.kill()
            try:
                process.wait(self.grace)
            except subprocess.TimeoutExpired:
                output.write("the driver holds the process, which cannot even be killed\n")
            return "killed"

    def skip(self, name, why):
        print(f"== {name}: skipped: {why}", flush=True)
        self.note({"step": name, "skipped": why})

    def side_by_side(self, steps):
        """Runs untimed steps, each a name, a command and a limit, at the same time: two programs per processor."""
        with concurrent.futures.ThreadPoolExecutor(2 * os.cpu_count()) as pool:
            list(pool.map(lambda step: self.step(*step), steps))

    def note(self, entry):
        with self.noting:
            self.write(entry)

    def write(self, entry):
        self.failures += entry.get("failed", False)
        self.record["steps"].append(entry)
        scratch = self.out / "run.json.new"
        scratch.write_text(json.dumps(self.record, indent=1) + "\n")
        scratch.replace(self.out / "run.json")
        self.pack()

    def pack(self):
        # This runs after every step. The profiler's reports, of 10 MB each, are not packed; their content is packed as text.
        with tarfile.open(f"{self.out}.tar.gz", "w:gz", compresslevel=1) as archive:
            archive.add(self.out, self.out.name, filter=lambda member: None if member.name.endswith(".ncu-rep") else member)


def check(session):
    speclab = session.program("bin/speclab")
    steps = [("c-api", [session.program("tests/c_api_on_device")], 60),
             ("verify-trees", [session.program("tests/verify_trees_gpu")], 90),
             ("simulation", [session.program("tests/simulate_gpu")], 120),
             ("check-kernels", [speclab, "check", "kernels", "--requests", "200000"], 150)]
    sanitizer = installed("compute-sanitizer")
    programs = {"": [speclab, "check", "kernels", "--dtype", "bf16", "--requests", "1000"],
                "-trees": [session.program("tests/verify_trees_gpu")]}
    for tool in ("racecheck", "synccheck", "memcheck", "initcheck"):
        for name, program in programs.items():
            if sanitizer is None:
                session.skip(tool + name, "compute-sanitizer is not installed")
                continue
            steps.append((tool + name, [sanitizer, "--tool", tool, "--error-exitcode", "3", *program], 150))
    session.side_by_side(steps)
    session.step("bench-quick", [speclab, "bench", "kernels", "--quick", "--workload", "all", "--out", session.out / "quick"], 60)


def measure(session):
    speclab = session.program("bin/speclab")
    for name, (options, sizes, limit) in MEASURED.items():
        for size in sizes or [None]:
            step = name if size is None else f"{name}-{size.replace(',', '-')}"
            asked = [*options, *(["--sizes", size] if size else []), "--alpha", MEASURED_ALPHA]
            session.step(f"bench-{step}", [speclab, "bench", "kernels", *asked, "--out", session.out / step], limit)
    profile(session)
    session.step("bench-axes", [speclab, "bench", "kernels", "--repetitions", "50", "--out", session.out], may_be_cut=True)


def compare(session):
    """First the launches and bytes that bound every size, then the times."""
    before = session.program("before/bin/speclab")
    if not before.is_file():
        return session.skip("compare", f"{before} is missing: pack.py --before packs an older build")
    now = session.program("bin/speclab")
    for kind, (chosen, sizes, older) in COMPARED.items():
        options = ["--dtype", "bf16", "--alpha", MEASURED_ALPHA, *chosen]
        session.step(f"bounds-{kind}", [now, "bench", "kernels", "--dry-run", "--sizes", ";".join(sizes), *options, "--out", session.out / "bounds" / kind], 20)
        for size in sizes:
            for name, program in (("before", before), ("now", now)):
                if name == "now" or size in older:
                    at = size.replace(",", "-")
                    session.step(f"compare-{name}-{kind}-{at}", [program, "bench", "kernels", "--sizes", size, *options, "--out",
                                                                 session.out / "compare" / name / kind / at], 19)


def profile(session):
    """Profiles three kernels at each size. Keeps the profiler's report as text and, for each instruction, the number of executions and of
    waits."""
    profiler = installed("ncu")
    if profiler is None:
        return session.skip("profile", "ncu is not installed")
    for requests in PROFILED:
        report = session.out / f"profile-{requests}.ncu-rep"
        session.step(f"profile-{requests}", [
            profiler, "--clock-control", "none", "--cache-control", "none", "--set", "full", "--kernel-name-base", "demangled",
            "--kernel-name", "regex:(Statistics|fused::Next|Lazy)<", "--launch-count", "3", "-f", "-o", report, session.program("bin/speclab"),
            "bench", "kernels", "--sizes", f"{requests},4,128256", "--dtype", "bf16", "--alpha", MEASURED_ALPHA, "--baselines", "fused,cluster",
            "--repetitions", "1", "--cache", "hot"], 60)
        for page, options in (("details", []), ("source", ["--csv", "--print-source", "sass"])):
            session.step(f"profile-{requests}-{page}", [profiler, "--import", report, "--page", page, *options], 20)
        compress(session.out / f"profile-{requests}-source.log")


def compress(log):
    """Compresses 13 MB of text once; otherwise every later step would compress it again."""
    if log.is_file():
        with open(log, "rb") as text, gzip.open(f"{log}.gz", "wb", compresslevel=3) as packed:
            shutil.copyfileobj(text, packed)
        log.unlink()


def torch(session):
    if subprocess.run([sys.executable, "-c", "import torch"], capture_output=True).returncode != 0:
        return session.skip("torch", "PyTorch cannot be imported")
    library = session.program("kernels/libspeclab_kernels.so")
    session.step("torch", [sys.executable, SOURCE / "scripts/bench_torch.py", "--library", library, "--graphs", "--flush",
                           "--requests", "1,32,256", "--vocabs", "128256", "--json", session.out / "torch.json"])


def gammas(session, dry_run=False):
    """Measures one sequence with fp16 logits. Every vocabulary has its own process; its rows are then joined."""
    rows = []
    for vocab in PAPERS_VOCABS:
        folder = session.out / f"gammas-{vocab}"
        sizes = ";".join(f"1,{gamma},{vocab}" for gamma in GAMMAS)
        session.step(folder.name, [session.program("bin/speclab"), "bench", "kernels", "--sizes", sizes, "--dtype", "f16", "--alpha", ".5",
                                   "--baselines", "baseline,wagner-exact,wagner-sigmoid,fused", "--cache", "hot", "--repetitions", "50",
                                   "--out", folder, *(["--dry-run"] if dry_run else [])], 45, may_be_cut=True)
        if (folder / "results.csv").is_file():
            rows += (folder / "results.csv").read_text().splitlines()[1 if rows else 0:]
    if rows:
        (session.out / "gammas.csv").write_text("\n".join(rows) + "\n")
        session.pack()


COMMANDS = {"check": check, "compare": compare, "measure": measure, "torch": torch, "gammas": gammas}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=[*COMMANDS, "all"])
    parser.add_argument("--build", type=Path, help="a build with CUDA and tests (default: what was packed, or build/cuda)")
    parser.add_argument("--out", type=Path, help="default: kernels/results/<the device's name>")
    parser.add_argument("--seconds", type=float, default=570, help="time limit of each command (default %(default)s)")
    parser.add_argument("--dry-run", action="store_true", help="gammas: count launches and bytes instead, without a GPU")
    options = parser.parse_args()
    if options.dry_run and (options.command != "gammas" or options.out is None):
        parser.error("--dry-run: only for gammas, with --out")
    device = smi()
    if device is None and not options.dry_run:
        print("run: no GPU: nvidia-smi is missing or finds none", file=sys.stderr)
        return 2
    build = options.build or (SOURCE if (SOURCE / "bin/speclab").is_file() else SOURCE / "build/cuda")
    if not (build / "bin/speclab").is_file():
        print(f"run: {build / 'bin/speclab'} is missing: scripts/test.sh cuda builds it, or give --build", file=sys.stderr)
        return 2
    out = options.out or SOURCE / "kernels/results" / device["name"].lower().replace(" ", "-").replace("/", "-")
    failures = 0
    for name in COMMANDS if options.command == "all" else [options.command]:
        session = Session(build.resolve(), out.resolve(), options.seconds)
        COMMANDS[name](session, **({"dry_run": True} if options.dry_run else {}))
        failures += session.failures
    print(f"results: {out} and {out}.tar.gz")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
