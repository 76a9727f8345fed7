#!/usr/bin/env python3
"""Unpacks the files of vLLM and FlashInfer that scripts/bench_torch.py times from their wheels, and compiles FlashInfer's kernels
for sm_90.

    pip download --no-deps -d WHEELS vllm flashinfer-python    (400 MB)
    scripts/gpu/rivals.py FOLDER WHEELS/*.whl
    scripts/gpu/pack.py BUILD ARCHIVE --rivals FOLDER, or scripts/bench_torch.py --rivals FOLDER

FOLDER then has a few Python files, headers, versions.json and, if nvcc is on the PATH, libflashinfer.so. This repository contains no
files of vLLM and FlashInfer. Exit codes: 0; 2 not such a wheel, a file is missing in it, or it does not compile.
"""
import argparse
import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from verify_methods import vllm_files  # noqa: E402

HEADERS = "flashinfer/data/include/flashinfer"
# Headers that flashinfer/sampling.cuh includes are in its folder; tests read the arguments of its functions in
# flashinfer/sampling.py.
WANTED = {"vllm": [str(vllm_files.file_of(name)) for name in vllm_files.MODULES],
          "flashinfer_python": ["flashinfer/sampling.py", f"{HEADERS}/sampling.cuh"]}


def unpack(wheel, folder):
    """The package's name and version."""
    name, version = wheel.name.split("-")[:2]
    if name not in WANTED:
        raise ValueError(f"{wheel}: a wheel of {' or '.join(WANTED)} is needed")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        missing = [file for file in WANTED[name] if file not in names]
        if missing:
            raise ValueError(f"{wheel}: {missing[0]} is missing: this version has its files elsewhere")
        beside = [file for file in names if Path(file).parent == Path(HEADERS)] if name == "flashinfer_python" else []
        archive.extractall(folder, [*WANTED[name], *beside])
    return name, version


def compile_flashinfer(folder):
    command = ["nvcc", "-std=c++20", "-O3", "-gencode", "arch=compute_90,code=sm_90", "-shared", "-Xcompiler", "-fPIC", "--cudart", "static",
               f"-I{(folder / HEADERS).parent}", str(HERE / "flashinfer.cu"), "-o", str(folder / "libflashinfer.so")]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise ValueError(f"{' '.join(command)}:\n{done.stderr}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("wheels", type=Path, nargs="+")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    try:
        versions = dict(unpack(wheel, options.folder) for wheel in options.wheels)
        if "flashinfer_python" in versions and shutil.which("nvcc"):
            compile_flashinfer(options.folder)
        elif "flashinfer_python" in versions:
            print("rivals: nvcc is not on the PATH: FlashInfer's kernels are not compiled", file=sys.stderr)
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        print(f"rivals: {error}", file=sys.stderr)
        return 2
    (options.folder / "versions.json").write_text(json.dumps(versions, indent=1) + "\n")
    print(f"{options.folder}: {', '.join(f'{name} {version}' for name, version in versions.items())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
