"""Runs scripts/gpu with stubs for the programs and the driver: pack, check, measure, torch, summarise.
Arguments: PROGRAM SOURCE LIBRARY."""
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

program, source, library = (Path(argument) for argument in sys.argv[1:4])
scratch = Path(tempfile.mkdtemp())

SMI = """#!/bin/sh
echo "Invented GPU 9/X, 555.1, 9.0, 1 MiB, 1 MHz, 1 MHz, 2 MHz, 2 MHz, 3 W, 30"
"""
# A stub of the program: prints made-up times for given sizes; its sweep along the axes lasts until it is interrupted. Whatever needs
# no GPU is done by the real program.
SPECLAB = f"""#!/bin/sh
case "$*" in
  --version) echo speclab 0 ;;
  *--dry-run*) exec {program} "$@" ;;
  # A level that is refused last shows that the other options are right.
  "check kernels"*) {program} "$@" --emulate --level 2 2>&1 | grep -q -- "--level 2: expected" || exit 2; echo checked ;;
  *--sizes*|*--quick*)
    result=result.json
    while [ $# -gt 0 ]; do
      [ "$1" = --out ] && out=$2
      [ "$1" = --workload ] && result=workloads.json
      shift
    done
    [ -n "$out" ] || exit 0
    mkdir -p "$out"; cp "$REHEARSAL/$result" "$out/result.json"
    printf 'vocab,median_us\n%s,9.5\n' "${{out##*-}}" >"$out/results.csv" ;;
  *) trap 'echo interrupted kindly; exit 130' INT; while :; do sleep 0.1; done ;;
esac
"""
ROW = {"requests": 32, "gamma": 4, "vocab": 128256, "dtype": "bf16", "alpha": 0.7, "cache": "flushed", "median_us": 33.25,
       "of_copy": 0.61, "different": 0}


def executable(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def run(*command, expect=0, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=120, **options)
    assert done.returncode == expect, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def write_result(different):
    rows = [{**ROW, "method": "fused", "different": different}, {**ROW, "method": "baseline", "median_us": 150}]
    (scratch / "result.json").write_text(json.dumps({"verification": rows}))
    (scratch / "older.json").write_text(json.dumps({"verification": [{**rows[0], "median_us": 66.5, "different": 0}]}))
    # Results with a workload in each row.
    trees = {**ROW, "gamma": 26, "workload": "trees", "method": "tree", "median_us": 44.04}
    cut = {**ROW, "workload": "cut-offs", "method": "fused", "median_us": 66.06}
    traversal = {**trees, "method": "traversal", "median_us": 55.05}
    with_sums = {**trees, "method": "tree-sums", "median_us": 22.02}
    (scratch / "workloads.json").write_text(json.dumps({"verification": [trees, traversal, with_sums, cut]}))


try:
    build, path = scratch / "build", scratch / "path"
    executable(build / "bin/speclab", SPECLAB)
    for name in ("verify_trees_gpu", "simulate_gpu", "c_api_on_device"):
        executable(build / "tests" / name, "#!/bin/sh\necho fine\n")
    run(sys.executable, source / "scripts/gpu/pack.py", build, scratch / "gpu.tar.gz", expect=2)  # no library yet
    (build / "kernels").mkdir()
    shutil.copy(library, build / "kernels/libspeclab_kernels.so")
    run(sys.executable, source / "scripts/gpu/pack.py", build, scratch / "gpu.tar.gz", "--max-mib", "0.1", expect=1)
    # Made-up wheels of other packages. A stub of nvcc compiles FlashInfer's kernels.
    sys.path.insert(0, str(source / "scripts"))
    from verify_methods import vllm_files
    wheels = {"vllm-9.1-py3-none-any.whl": [vllm_files.file_of(name) for name in vllm_files.MODULES],
              "flashinfer_python-9.2-py3-none-any.whl": ["flashinfer/sampling.py", *(f"flashinfer/data/include/flashinfer/{name}.cuh"
                                                                                    for name in ("sampling", "utils"))]}
    for name, files in wheels.items():
        with zipfile.ZipFile(scratch / name, "w") as archive:
            for file in files:
                archive.writestr(str(file), "theirs = 1\n")
            archive.writestr("unwanted.py", "")
    executable(path / "nvcc", "#!/bin/sh\nwhile [ $# -gt 1 ]; do shift; done; echo compiled >\"$1\"\n")
    rivals = [sys.executable, source / "scripts/gpu/rivals.py", scratch / "rivals"]
    with_nvcc = dict(os.environ, PATH=f"{path}:{os.environ['PATH']}")
    run(*rivals, scratch / "other-1-py3-none-any.whl", expect=2)
    assert "vllm 9.1" in run(*rivals, *(scratch / name for name in wheels), env=with_nvcc)
    assert not (scratch / "rivals/unwanted.py").exists()
    assert vllm_files.load(scratch / "rivals", vllm_files.MODEL_RUNNER)[0].theirs == 1 and "vllm" not in sys.modules
    said = run(sys.executable, source / "scripts/gpu/vllm_code.py", scratch / "rivals", expect=2)
    assert "pip install triton" in said or "has no attribute '_compute_local_logits_stats_kernel'" in said, said
    run(sys.executable, source / "scripts/gpu/pack.py", build, scratch / "gpu.tar.gz", "--rivals", scratch, expect=2)
    run(sys.executable, source / "scripts/gpu/pack.py", build, scratch / "gpu.tar.gz", "--before", scratch / "older", expect=2)
    executable(scratch / "older/bin/speclab", SPECLAB.replace("result=result.json", "result=older.json"))
    said = run(sys.executable, source / "scripts/gpu/pack.py", build, scratch / "gpu.tar.gz", "--rivals", scratch / "rivals", "--before", scratch / "older")
    assert "MiB; needs GLIBC 2." in said and "GLIBCXX 3." in said, said

    # The GPU machine: the archive, a stub of the driver, and a stub of the sanitizer that finds something.
    (scratch / "there").mkdir()
    run("tar", "xf", scratch / "gpu.tar.gz", "-C", scratch / "there")
    there = scratch / "there/speclab-gpu"
    command = [sys.executable, there / "scripts/gpu/run.py"]
    packed = sorted(str(file.relative_to(there / "rivals")) for file in (there / "rivals").rglob("*") if file.is_file())
    assert packed == sorted([*(str(file) for file in wheels["vllm-9.1-py3-none-any.whl"]), "libflashinfer.so", "versions.json"]), packed
    # The PyTorch benchmark finds the packed package and library.
    said = run(sys.executable, there / "scripts/bench_torch.py", "--dry-run", "--library", there / "kernels/libspeclab_kernels.so",
               "--requests", "1", "--vocabs", "1000")
    assert "speclab-operator" in said and "workspace of speclab-fused" in said, said
    # /usr/local/cuda may hold the profiler; on the path these come first.
    bare = dict(os.environ, PATH=f"{path}:/usr/bin:/bin", REHEARSAL=str(scratch))
    if shutil.which("nvidia-smi") is None:
        run(*command, "check", expect=2, env=bare)
    executable(path / "nvidia-smi", SMI)
    executable(path / "ncu", "#!/bin/sh\necho a profile\n")
    executable(path / "compute-sanitizer", "#!/bin/sh\n[ $2 = memcheck ] && exit 3\nexit 0\n")
    write_result(0)
    run(*command, "check", expect=1, env=bare)
    said = run(*command, "measure", "--seconds", "30", env=bare)
    run(*command, "compare", env=bare)
    run(*command, "torch", env=bare)
    run(*command, "gammas", env=bare)
    results = there / "kernels/results/invented-gpu-9-x"
    record = json.loads((results / "run.json").read_text())
    ended = {step["step"]: step.get("exit_code", "skipped") for step in record["steps"]}
    assert ended["memcheck"] == 3 and ended["initcheck"] == 0 and ended["check-kernels"] == 0, ended
    assert all(ended[f"bench-{name}"] == 0 for name in ("quick", "sizes-1-4-128256", "sizes-256-4-128256", "cut-offs-32-4-32000",
                                                        "trees-32-60-128256", "floats")), ended
    # Steps of `check` run at the same time: the longest, and the benchmark after it, end within a session.
    limits = {step["step"]: step["limit"] for step in record["steps"] if "limit" in step}
    assert max(limits[name] for name in ("check-kernels", "racecheck", "simulation")) + limits["bench-quick"] <= 570, limits
    # An older build's times, this one's and the bounds: 8 minutes at most.
    assert sum(limit for name, limit in limits.items() if name.startswith(("bounds", "compare"))) <= 480, limits
    assert ended["bounds-chains"] == 0 and ended["bounds-trees"] == ended["bounds-cut-offs"] == 0, ended
    assert [sum(name.startswith(f"compare-{build}") for name in ended) for build in ("before", "now")] == [10, 12], ended
    assert [step["failed"] for name in ("memcheck", "bench-axes") for step in record["steps"] if step["step"] == name] == [
        True, False], record["steps"]
    assert ended["verify-trees"] == 0 and ended["profile-1-source"] == 0 and ended["bench-axes"] == "interrupted", ended
    assert "torch" in ended and "interrupted kindly" in (results / "bench-axes.log").read_text()
    assert record["device"]["name"] == "Invented GPU 9/X" and record["device"]["clocks.max.sm"] == "2 MHz"
    assert all("device_before" in step for step in record["steps"] if "command" in step)

    # Times by drafted tokens: one file of all vocabularies, in the archive. A dry run counts all 80 sizes by the real program.
    with tarfile.open(f"{results}.tar.gz") as packed:
        assert packed.extractfile(f"{results.name}/gammas.csv").read().decode().split() == [
            "vocab,median_us", *(f"{vocab},9.5" for vocab in (32000, 51865, 151936, 256000))]
    assert sum(step["limit"] for step in record["steps"] if step["step"].startswith("gammas")) < 240
    run(*command, "gammas", "--dry-run", expect=2, env=bare)
    run(*command, "gammas", "--dry-run", "--out", scratch / "dry", env=bare)
    counted = [point for vocab in (32000, 51865, 151936, 256000) for point in json.loads((scratch / f"dry/gammas-{vocab}/result.json").read_text())["points"]]
    assert sorted((point["vocab"], point["gamma"]) for point in counted) == [
        (vocab, gamma) for vocab in (32000, 51865, 151936, 256000) for gamma in range(1, 21)]
    assert all(len(point["methods"]) == 4 and point["requests"] == 1 and point["dtype"] == "f16" for point in counted)

    # A step that hangs has failed. So has one that is interrupted or then ends with an error, except a sweep that may be cut.
    sys.path.insert(0, str(source / "scripts/gpu"))
    from run import Session
    Session.grace = 0.5
    session = Session(build, scratch / "hung", 60)
    executable(path / "deaf", "#!/bin/sh\ntrap '' INT\nwhile :; do sleep 0.1; done\n")
    executable(path / "hurt", "#!/bin/sh\ntrap 'exit 3' INT\nwhile :; do sleep 0.1; done\n")
    for name, may_be_cut in (("deaf", True), ("hurt", True), ("sleep", False), ("sleep", True)):
        session.step(name, [path / name if name != "sleep" else name, *(["30"] if name == "sleep" else [])], 0.5, may_be_cut)
    ended = [(step["exit_code"], step["failed"]) for step in session.record["steps"]]
    assert ended == [("killed", True), (3, True), ("interrupted", True), ("interrupted", False)] and session.failures == 3, ended

    # The result is one archive. A failed step or a wrong decision determines the exit code.
    archive = results.with_name(results.name + ".tar.gz")
    summarise = [sys.executable, source / "scripts/gpu/summarise.py", archive, "--results", scratch / "results"]
    said = run(*summarise, expect=1)
    assert "memcheck: 3" in said and "33.2" in said and "150.0" in said and " 61 " in said, said
    assert any("trees" in line and "44.0" in line and "55.0" in line for line in said.splitlines()), said
    assert any("cut-offs" in line and "66.1" in line for line in said.splitlines()), said
    assert "  fused, 32, 4, 50257, flushed: 66.5, 33.2, 0.50; 20.3; 31.4; 2" in said, said
    assert "  tree-sums, 1, 26, 128256, flushed: -, 22.0, -; 13.4;" in said and "  tree, 32, 26, 128256, flushed: 44.0, 44.0, 1.00;" in said, said
    assert "  fused, cut-offs, 256, 4, 128256, flushed: 66.1, 66.1, 1.00;" in said, said
    assert any(line.startswith("  tree-sums, 8, 26") and line.endswith("; 2") for line in said.splitlines()), said
    file = scratch / "results/invented-gpu-9-x/run.json"
    rows = [{"requests": 32, "gamma": 4, "vocab": 128256, "dtype": "bfloat16", "method": name, "median_us": time}
            for name, time in (("vllm-engine-1", 410.04), ("speclab-prepared", 77.02), ("speclab-operator", 40.06))]
    checks = {name: {"verdict": "passed"} for name in ("speclab-prepared", "speclab-operator", "vllm-engine-1")}
    torch = {"rows": [*rows, {**rows[0], "method": "hf-loop", "failed": "OutOfMemoryError: x"}], "checks": checks}
    (file.parent / "torch.json").write_text(json.dumps(torch))
    assert json.loads(file.read_text()) == record
    for step in record["steps"]:
        if "exit_code" in step:
            step.update(exit_code=0, failed=False)
    file.write_text(json.dumps(record))
    folder = [*summarise[:2], file.parent]
    said = run(*folder)
    assert "speclab-operator 40.1, speclab-prepared 77.0, vllm-engine-1 410.0, hf-loop failed" in said, said
    assert "vllm-engine-1 10.24 times speclab-operator" in said, said
    checks["speclab-prepared"]["verdict"] = "WRONG"
    (file.parent / "torch.json").write_text(json.dumps(torch))
    assert "speclab-prepared: WRONG" in run(*folder, expect=1)
    (file.parent / "torch.json").unlink()
    write_result(2)
    shutil.copy(scratch / "result.json", file.parent / "sizes-1-4-128256/result.json")
    run(*folder, expect=1)
    run(*summarise[:2], scratch / "nothing.tar.gz", expect=2)
    print("packed, checked, measured, interrupted, unpacked and summarised with stand-ins")
finally:
    shutil.rmtree(scratch)
