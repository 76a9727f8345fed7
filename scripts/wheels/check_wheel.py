#!/usr/bin/env python3
"""Checks whether a wheel of speclab-kernels can be installed on other machines: its tag, the libraries and versions that its library needs, the names
that its library exports, the GPUs that it has code for, and the drivers that it accepts.

    check_wheel.py 12|13|cpu WHEEL      needs objdump and, for a wheel with GPU code, cuobjdump and gcc

Exit codes: 0; 1 it cannot, and each reason is printed; 2 wrong arguments, no such wheel, or a program is missing.
"""
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

TAG = "manylinux_2_28_x86_64"
FILE = "speclab_kernels/libspeclab_kernels.so"
# Libraries that every machine for this tag has: PEP 600's list, without the C++ library, which the wheel contains.
NEEDED = {"libc.so.6", "libm.so.6", "libdl.so.2", "librt.so.1", "libpthread.so.0", "libgcc_s.so.1", "ld-linux-x86-64.so.2"}
# A stub of a driver without devices, with the functions that the CUDA runtime calls before it looks for devices.
DRIVER = """
#include <stdlib.h>
#include <string.h>
int cuDriverGetVersion(int* version) { *version = atoi(getenv("VERSION")); return 0; }
static int no_device(void) { return 100; }
int cuGetProcAddress_v2(const char* name, void** function, int version, unsigned long flags, void* status) {
  *function = strcmp(name, "cuDriverGetVersion") == 0 ? (void*)cuDriverGetVersion :
              strcmp(name, "cuGetProcAddress") == 0 ? (void*)cuGetProcAddress_v2 : (void*)no_device;
  return 0;
}
"""
WHY_NO_DEVICE = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
library.speclab_device_name.restype = library.speclab_last_error.restype = ctypes.c_char_p
print(library.speclab_device_name(), library.speclab_last_error().decode())
"""


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=True, **options).stdout


def of_tag(name, kind):
    if not name.endswith(f"-py3-none-{TAG}.whl"):
        yield f"its tag is not py3-none-{TAG}"
    label = kind if kind == "cpu" else f"cu{kind}"
    if f"+{label}-" not in name:
        yield f"its version does not end in +{label}"


def of_library(library):
    """Yields faults in the libraries and versions that the loader would look for, and in the exported names."""
    headers = run("objdump", "-p", library)
    for name in sorted(set(re.findall(r"NEEDED +(\S+)", headers)) - NEEDED):
        yield f"it needs {name}"
    if re.search(r"^ +R(UN)?PATH", headers, re.M):
        yield "it has a path to look for libraries"
    if re.search(r"^ +FLAGS +0x\S*[13579bdf]\S$", headers, re.M):
        yield "it takes thread-local storage that a process may not have left (STATIC_TLS)"
    for version in sorted(set(re.findall(r"\bGLIBC_2\.(\d+)", headers)), key=int):
        if int(version) > 28:
            yield f"it needs glibc 2.{version}"
    for version in sorted(set(re.findall(r"\b(?:GLIBCXX|CXXABI)_[0-9.]+", headers))):
        yield f"it needs {version} of the machine's C++ library"
    for name in re.findall(r"^[0-9a-f]+ .{7} (?!\*UND\*)\S+\t[0-9a-f]+ +(?:Base +)?(\S+)$", run("objdump", "-T", library), re.M):
        if not name.startswith("speclab_"):
            yield f"it exports {name}"


def of_gpu_code(library):
    found = set(re.findall(r"\bsm_\d+", run("cuobjdump", "--list-elf", library)))
    if found != {"sm_80", "sm_90"}:
        yield f"it has code of {', '.join(sorted(found)) or 'no GPU'}, not of sm_80 and sm_90"
    if set(re.findall(r"\bsm_\d+", run("cuobjdump", "--list-ptx", library))) != {"sm_90"}:
        yield "it has no PTX of sm_90, for newer GPUs"


def of_drivers(library, kind, folder):
    """Yields faults unless the runtime inside accepts the first driver of its major version, and refuses the one before with the reason."""
    source = Path(folder) / "driver.c"
    source.write_text(DRIVER)
    run("gcc", "-shared", "-fPIC", "-o", Path(folder) / "libcuda.so.1", source)
    for version, answer in ((int(kind) * 1000, "no CUDA-capable device"), (int(kind) * 1000 - 10, f"needs one for {kind}.0 or later")):
        said = run(sys.executable, "-c", WHY_NO_DEVICE, library, env={**os.environ, "LD_LIBRARY_PATH": folder, "VERSION": str(version)})
        if answer not in said:
            yield f"of a driver for CUDA {version / 1000} it says: {said.strip()}"


def faults_of(kind, wheel):
    yield from of_tag(wheel.name, kind)
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as folder:
        binaries = [name for name in archive.namelist() if ".so" in name]
        if binaries != [FILE]:
            yield f"its binaries are {', '.join(binaries) or 'none'}, not {FILE} alone"
            return
        library = archive.extract(FILE, folder)
        yield from of_library(library)
        if kind != "cpu":
            yield from of_gpu_code(library)
            yield from of_drivers(library, kind, folder)


def main(arguments):
    if len(arguments) != 2 or arguments[0] not in ("12", "13", "cpu"):
        print("check_wheel.py: 12, 13 or cpu, and a wheel are needed", file=sys.stderr)
        return 2
    kind, wheel = arguments[0], Path(arguments[1])
    try:
        faults = list(faults_of(kind, wheel))
    except (OSError, zipfile.BadZipFile, subprocess.CalledProcessError) as error:
        print(f"check_wheel.py: {wheel}: {error}", file=sys.stderr)
        return 2
    for fault in faults:
        print(f"check_wheel.py: {wheel.name}: {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
