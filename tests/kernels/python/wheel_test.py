"""Tests the parts of scripts/wheels/build_wheels.sh: libraries for an older glibc, and the check that a wheel can be installed on other machines.
Skipped if a compiler is missing."""
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[3] / "scripts/wheels"
NAME = "speclab_kernels-0.1.0+cpu-py3-none-manylinux_2_28_x86_64.whl"
INSIDE = "speclab_kernels/libspeclab_kernels.so"
SOURCE = """
#include <cmath>
#include <mutex>
#include <stdexcept>
#include <string>
#include <pthread.h>
extern "C" __attribute__((visibility("default"))) double speclab_probe(double x, pthread_mutexattr_t* a) {
  static std::string at_first_call = std::to_string(x);
  if (pthread_mutexattr_settype(a, 0) != 0) throw std::runtime_error(at_first_call);
  return std::exp(x);
}
extern "C" __attribute__((visibility("default"))) void other_probe() {}
"""
OF_THREADS = """
static __attribute__((tls_model("initial-exec"))) thread_local int calls = 0;
extern "C" int speclab_calls() { return ++calls; }
"""
ELSEWHERE = ("-static-libstdc++", "-Wl,--gc-sections", "-Wl,--no-as-needed", "-l:libpthread.so.0")

if sys.platform != "linux" or not all(shutil.which(name) for name in ("gcc", "g++", "objdump")):
    pytest.skip("gcc, g++ or objdump is missing", allow_module_level=True)


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(name="build", scope="module")
def fixture_build(tmp_path_factory):
    """Compiles the source above once; a call links it and gives the library's path."""
    folder = tmp_path_factory.mktemp("wheel")
    made = run(sys.executable, "-B", FOLDER / "older_glibc.py", "2.28", folder / "older")
    assert made.returncode == 0, made.stderr
    (folder / "probe.cpp").write_text(SOURCE)
    (folder / "threads.cpp").write_text(OF_THREADS)
    (folder / "exported.map").write_text("{ global: speclab_*; local: *; };")
    (folder / "more.map").write_text("{ global: speclab_*; other_*; local: *; };")
    compiled = run("g++", "-O1", "-fPIC", "-fvisibility=hidden", "-c", "-o", folder / "probe.o", folder / "probe.cpp")
    assert compiled.returncode == 0, compiled.stderr

    def link(*options):
        library = folder / "probe.so"
        linked = run("g++", "-shared", "-Wl,-z,defs", "-s", "-o", library, f"-L{folder}/older", folder / "probe.o", *options)
        assert linked.returncode == 0, linked.stderr
        return library
    link.folder, link.exported = folder, f"-Wl,--version-script={folder}/exported.map"
    return link


def faults_of(library, folder, name=NAME, more=()):
    """Returns the exit code and the messages of check_wheel.py for a wheel with this library."""
    with zipfile.ZipFile(folder / name, "w") as archive:
        archive.write(library, INSIDE)
        for extra in more:
            archive.writestr(extra, b"")
    checked = run(sys.executable, "-B", FOLDER / "check_wheel.py", "cpu", folder / name)
    return checked.returncode, checked.stderr


def test_a_library_for_an_older_glibc_passes_and_runs(build, tmp_path):
    library = build(build.exported, *ELSEWHERE)
    assert faults_of(library, tmp_path) == (0, "")
    used = run("objdump", "-T", library).stdout
    assert "(GLIBC_2.2.5) exp" in used and "(GLIBC_2.2.5) pthread_mutexattr_settype" in used  # the newest are 2.29 and 2.34
    called = run(sys.executable, "-c", "import ctypes, sys; f = ctypes.CDLL(sys.argv[1]).speclab_probe; f.restype = ctypes.c_double; "
                 "print(f(ctypes.c_double(0), ctypes.create_string_buffer(64)))", library)
    assert called.stdout == "1.0\n", called.stderr


def test_what_other_machines_may_not_have_is_refused(build, tmp_path):
    """Each fault is found on its own, and reported."""
    static = [build.exported, *ELSEWHERE]
    code, faults = faults_of(build(build.exported), tmp_path)
    assert code == 1 and "it needs libstdc++.so.6" in faults and "of the machine's C++ library" in faults
    context = run("g++", "-print-file-name=libboost_context.so").stdout.strip()
    if Path(context).is_file():
        code, faults = faults_of(build(*static, context), tmp_path)
        assert code == 1 and "it needs libboost_context.so" in faults
    code, faults = faults_of(build(*static, "-Wl,-rpath,$ORIGIN"), tmp_path)
    assert code == 1 and "a path to look for libraries" in faults
    code, faults = faults_of(build(build.exported.replace("exported", "more"), *ELSEWHERE), tmp_path)
    assert code == 1 and "it exports other_probe" in faults and faults.count("\n") == 1
    code, faults = faults_of(build(*static, "-fPIC", build.folder / "threads.cpp"), tmp_path)
    assert code == 1 and "(STATIC_TLS)" in faults
    newer = build.folder / "newer.so"
    linked = run("g++", "-shared", "-s", "-o", newer, build.folder / "probe.o", build.exported, *ELSEWHERE)
    assert linked.returncode == 0, linked.stderr
    code, faults = faults_of(newer, tmp_path)
    assert code == 1 and "it needs glibc 2.29" in faults


def test_other_wheels_are_refused(build, tmp_path):
    library = build(build.exported, *ELSEWHERE)
    for name, fault in ((NAME.replace("manylinux_2_28", "linux"), "its tag is not"), (NAME.replace("+cpu", ""), "does not end in +cpu")):
        code, faults = faults_of(library, tmp_path, name)
        assert code == 1 and fault in faults
    code, faults = faults_of(library, tmp_path, more=("speclab_kernels.libs/libboost_context-1.so",))
    assert code == 1 and "its binaries are " in faults
    assert run(sys.executable, "-B", FOLDER / "check_wheel.py", "11", tmp_path / NAME).returncode == 2
    assert run(sys.executable, "-B", FOLDER / "check_wheel.py", "cpu", tmp_path / "none.whl").returncode == 2


def test_wrong_arguments_are_refused():
    for arguments in ([], ["two", "folder"], ["2.28"], ["2.1", "/dev/null/folder"]):
        assert run(sys.executable, "-B", FOLDER / "older_glibc.py", *arguments).returncode == 2
    for arguments in ([], ["cpu"], ["--help"]):
        assert run("sh", FOLDER / "build_wheels.sh", *arguments).returncode == 2
