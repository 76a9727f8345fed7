#!/usr/bin/env python3
"""Packs the files of a build that a GPU machine needs into one archive: programs, their shared libraries, and scripts. That machine
needs a driver, Python, and C and C++ libraries as new as those that this script prints at the end.

    scripts/gpu/pack.py BUILD ARCHIVE        e.g. scripts/gpu/pack.py build/cuda out/gpu.tar.gz
    there: tar xf gpu.tar.gz && cd speclab-gpu && scripts/gpu/run.py check && scripts/gpu/run.py measure

Exit codes: 0; 1 the archive is larger than --max-mib; 2 something is not built, or wrong options.
"""
import argparse
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
PROGRAMS = ["bin/speclab", "tests/verify_trees_gpu", "tests/simulate_gpu", "tests/c_api_on_device"]
LIBRARY = "kernels/libspeclab_kernels.so"
SCRIPTS = ["scripts/gpu/run.py", "scripts/bench_torch.py", "scripts/check_kernel.py", "kernels/python/speclab_kernels", "scripts/verify_methods"]
# The C and C++ libraries come from the GPU machine: this machine's may need a newer C library than the
# programs do.
OF_THE_MACHINE = re.compile(r"/(libc|libm|libdl|librt|libpthread|libstdc\+\+|libgcc_s|ld-linux[^/]*)\.so\.\d+$")


def linked(file):
    """Shared libraries that a program needs, by path."""
    text = subprocess.run(["ldd", str(file)], capture_output=True, text=True).stdout
    found = [Path(line.split("=>")[1].split("(")[0].strip()) for line in text.splitlines() if "=> /" in line]
    return [library for library in found if not OF_THE_MACHINE.search(str(library))]


def newest(what, files):
    """The newest version that any of the files requires: of GLIBC or GLIBCXX."""
    versions = set()
    for file in files:
        text = subprocess.run(["objdump", "-T", str(file)], capture_output=True, text=True).stdout
        versions.update(tuple(map(int, version.split("."))) for version in re.findall(rf"{what}_([0-9.]+[0-9])", text))
    return f"{what} {'.'.join(map(str, max(versions, default=('?',))))}"


def add(folder, build):
    for name in [*PROGRAMS, LIBRARY]:
        if not (build / name).is_file():
            print(f"pack: {build / name} is missing: build everything, with CUDA and SPECLAB_TESTS=ON", file=sys.stderr)
            sys.exit(2)
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(build / name, place)
        subprocess.run(["strip", "--strip-unneeded", str(place)], capture_output=True)
    (folder / "lib").mkdir()
    for name in [*PROGRAMS, LIBRARY]:
        for library in linked(build / name):
            place = folder / "lib" / library.name
            shutil.copy(library, place)
            subprocess.run(["strip", "--strip-unneeded", str(place)], capture_output=True)
    for name in SCRIPTS:
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if (SOURCE / name).is_dir():
            shutil.copytree(SOURCE / name, place, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(SOURCE / name, place)


def add_rivals(folder, rivals):
    """Adds the files that scripts/gpu/rivals.py unpacked and compiled. A GPU machine needs no headers."""
    for name in ("vllm", "libflashinfer.so", "versions.json"):
        if (rivals / name).is_dir():
            shutil.copytree(rivals / name, folder / "rivals" / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif (rivals / name).is_file():
            (folder / "rivals").mkdir(exist_ok=True)
            shutil.copy(rivals / name, folder / "rivals" / name)


def add_before(folder, build):
    """Adds the program of an older build, whose times `run.py compare` takes beside this one's."""
    if not (build / "bin/speclab").is_file():
        print(f"pack: --before {build}: bin/speclab is missing in it: build it with CUDA", file=sys.stderr)
        sys.exit(2)
    place = folder / "before/bin/speclab"
    place.parent.mkdir(parents=True)
    shutil.copy(build / "bin/speclab", place)
    subprocess.run(["strip", "--strip-unneeded", str(place)], capture_output=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("archive", type=Path)
    parser.add_argument("--max-mib", type=float, default=55)
    parser.add_argument("--rivals", type=Path, metavar="FOLDER", help="also pack the folder that scripts/gpu/rivals.py made of vLLM's and FlashInfer's wheels")
    parser.add_argument("--before", type=Path, metavar="BUILD", help="also pack the program of an older build, for `run.py compare`")
    options = parser.parse_args()
    if options.rivals and not (options.rivals / "versions.json").is_file():
        print(f"pack: --rivals {options.rivals}: versions.json is missing in it: scripts/gpu/rivals.py makes such a folder", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "speclab-gpu"
        folder.mkdir()
        add(folder, options.build)
        if options.before:
            add_before(folder, options.before)
        if options.rivals:
            add_rivals(folder, options.rivals)
        options.archive.parent.mkdir(parents=True, exist_ok=True)
        with tarfile.open(options.archive, "w:gz") as archive:
            archive.add(folder, folder.name)
        files = [*(folder / name for name in [*PROGRAMS, LIBRARY]), *(folder / "lib").iterdir()]
        needed = " and ".join(newest(what, files) for what in ("GLIBC", "GLIBCXX"))
    mib = options.archive.stat().st_size / 2**20
    print(f"{options.archive}: {mib:.1f} MiB; needs {needed}")
    sections = subprocess.run(["objdump", "-h", str(options.build / LIBRARY)], capture_output=True, text=True).stdout
    if ".nv_fatbin" not in sections:
        print(f"pack: no GPU can use this archive: {options.build / LIBRARY} was built without GPU code; scripts/test.sh cuda builds it", file=sys.stderr)
    return 0 if mib <= options.max_mib else 1


if __name__ == "__main__":
    sys.exit(main())
