#!/usr/bin/env python3
"""Installs what tests of scripts/test.sh are skipped without, and runs all tests; only those that need a GPU may be skipped then.
scripts/test.sh full calls it.
usage: test_full.py install ENVIRONMENT     before the build; ENVIRONMENT: the tests' Python environment
       test_full.py run BUILD [ctest options]     exit code 1 if a test fails, or is skipped that needs no GPU"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree

SOURCE = pathlib.Path(__file__).resolve().parent.parent
RECORD = "full_parts.json"
PIP = ("install", "-q", "--disable-pip-version-check")
# Each part: its name, the commands that install it ("pip" is the environment's), and the tests that need it. The versions of jax and gguf are
# those of docs/neural.md. Of vLLM and FlashInfer only source files are read, so their dependencies are left out.
PARTS = [
    ("emscripten, Node", [["scripts/setup.sh", "explorer"]], r"explorer/(numbers|page)"),
    ("libllama, SmolLM2", [["scripts/setup.sh", "neural"]],
     r"sim/text/gguf_tokenizer|experiments/catalog/models/gguf.*|scripts/neural_pair_gguf"),
    ("torch, transformers", [["pip", *PIP, "torch", "transformers"]],
     r"kernels/python/(hugging_face|operator|tree|mine)|python/peers/(hugging_face|transformers)|scripts/(record_hf|neural_pair_transformers)"),
    ("jax, gguf", [["pip", *PIP, "jax==0.10.2", "gguf==0.19.0"]], r"scripts/train_pair"),
    ("vLLM, FlashInfer", [["pip", *PIP, "--no-deps", "vllm", "flashinfer-python"]],
     r"kernels/python/(vllm|vllm_model_runner|flashinfer)|python/peers/vllm"),
    ("mpmath, SciPy, KenLM", [["pip", *PIP, "mpmath", "scipy", "kenlm"]], r"peers"),
]
NEEDS_GPU = r"kernels/(c_api_on_device|simulate_gpu|verify_trees_gpu|lab/check_kernels_gpu)"


def gigabytes():
    return shutil.disk_usage(SOURCE).used / 1e9


def install(environment):
    """Installs each part, and writes what it took. A part that cannot be had is named, and its tests are skipped and therefore fail."""
    print("Installing what optional tests need: about 10 GB, mostly torch with CUDA's libraries", flush=True)
    taken = {}
    for name, commands, _ in PARTS:
        began, used = time.time(), gigabytes()
        for program, *arguments in commands:
            program = environment / "bin/pip" if program == "pip" else SOURCE / program
            if subprocess.run([program, *arguments], cwd=SOURCE).returncode:
                print(f"{name}: {pathlib.Path(program).name} {' '.join(arguments)} failed", file=sys.stderr)
        taken[name] = [gigabytes() - used, time.time() - began]
    (environment / RECORD).write_text(json.dumps(taken), encoding="utf-8")


def run(build, options):
    report = build.resolve() / "full.xml"  # ctest takes a relative path from its own folder
    code = subprocess.run(["ctest", "--test-dir", build, "--output-junit", report, "--output-on-failure", *options]).returncode
    cases = {case.get("name"): case for case in xml.etree.ElementTree.parse(report).getroot().iter("testcase")}
    record = build / "python-environment" / RECORD
    taken = json.loads(record.read_text(encoding="utf-8"))
    print(f"\n{'part':24}{'GB':>6}{'install, s':>12}{'tests':>7}{'skipped':>9}{'tests, s':>10}")
    for name, _, pattern in PARTS:
        own = [case for test, case in cases.items() if re.fullmatch(pattern, test)]
        skipped = sum(case.get("status") == "notrun" for case in own)
        size, seconds = taken[name]
        print(f"{name:24}{size:6.1f}{seconds:12.0f}{len(own):7}{skipped:9}{sum(float(case.get('time')) for case in own):10.0f}")
    left = sorted(test for test, case in cases.items() if case.get("status") == "notrun" and not re.fullmatch(NEEDS_GPU, test))
    for test in left:
        print(f"{test} was skipped, but needs no GPU")
    # A test of several packages names those that it leaves out.
    parts = [f"{test}: {line}" for test, case in cases.items() for line in (case.findtext("system-out") or "").splitlines() if line.startswith("skipped ")]
    print(*parts, sep="\n")
    return 1 if left or parts else code


if __name__ == "__main__":
    if len(sys.argv) >= 3 and sys.argv[1] == "install":
        sys.exit(install(pathlib.Path(sys.argv[2])))
    if len(sys.argv) >= 3 and sys.argv[1] == "run":
        sys.exit(run(pathlib.Path(sys.argv[2]), sys.argv[3:]))
    sys.exit(__doc__)
