#!/usr/bin/env python3
"""Tests what the wheel gets of a build: the program with its data, and the package that starts it. It installs the component `program` where
pyproject.toml puts it, into a folder like site-packages, without building a wheel; tests/python/installed.sh builds one.

usage: wheel.py BUILD_DIR SOURCE_DIR PROGRAM
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import tomllib

build, source, program = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
MUST_HAVE = ["bin/speclab", "share/speclab/configs/first.json", "share/speclab/configs/paper/table1.json", "share/speclab/configs/papers/leviathan.json",
             "share/speclab/python/speclab/_plots/__main__.py"]
STARTED = "import sys; sys.argv[0] = 'speclab'; from speclab_program import main; main()"


def paths_in(content):
    """The folders of this machine that a file names. Errors of the GPU code name their source file, and a program with libllama names the
    library's folder; no wheel has either."""
    for of_no_wheel in ("kernels/gpu/", "data/neural/"):
        content = content.replace(f"{source}/{of_no_wheel}".encode(), b"")
    return [str(path) for path in (source, build, pathlib.Path.home()) if f"{path}/".encode() in content]


def run(*command, folder, **environment):
    done = subprocess.run([*map(str, command)], cwd=folder, capture_output=True, text=True, env={**os.environ, **environment})
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done


def results_of(*command, folder, out, **environment):
    run(*command, "reproduce", "--only", "table1,table3", "--out", out, "-q", folder=folder, **environment)
    return {file.relative_to(out): file.read_bytes() for file in sorted(out.rglob("*")) if file.name in ("result.json", "results.csv")}


assert paths_in(f"at {source}/core".encode()) and not paths_in(b"at /nowhere/core"), "planted paths are told apart"
settings = tomllib.loads((source / "pyproject.toml").read_text(encoding="utf-8"))
assert settings["project"]["name"] == "speclab-decoding" and settings["project"]["scripts"] == {"speclab": "speclab_program:main"}
scikit = settings["tool"]["scikit-build"]
define = scikit["cmake"]["define"]
prefix = pathlib.PurePath("speclab/_program")
assert scikit["install"]["components"] == ["python", "program"] and scikit["build"]["targets"] == ["speclab_python", "speclab"]
assert [define["CMAKE_INSTALL_BINDIR"], define["CMAKE_INSTALL_DATADIR"]] == [str(prefix / "bin"), str(prefix / "share")]

with tempfile.TemporaryDirectory() as scratch:
    site = pathlib.Path(scratch) / "site"
    run("cmake", "--install", build, "--component", "program", "--strip", "--prefix", site / prefix, folder=scratch)
    for package in scikit["wheel"]["packages"]:
        name = pathlib.Path(package).name
        if name != "speclab":
            (site / name).symlink_to(source / package)
    installed = {str(file.relative_to(site / prefix)) for file in (site / prefix).rglob("*") if file.is_file()}
    wanted = MUST_HAVE + [f"share/speclab/data/austen.{end}" for end in ("txt", "copyright") if (source / "data" / f"austen.{end}").exists()]
    assert set(wanted) <= installed, f"missing: {set(wanted) - installed}"
    assert not [file for file in installed if file.startswith(("include", "lib"))], "headers or libraries are in the wheel"
    for file in installed:
        found = paths_in((site / prefix / file).read_bytes())
        assert not found, f"{file} names {found}"

    # -I leaves out the working folder and the variables of Python; the folder of packages is the one thing that is added.
    started = [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(site)!r}); {STARTED}"]
    elsewhere = pathlib.Path(scratch) / "elsewhere"
    elsewhere.mkdir()
    predicted = run(started[0], "-X", "importtime", *started[1:], "predict", "--alpha", "0.8", "--c", "0.05", folder=elsewhere)
    assert predicted.stdout == run(program, "predict", "--alpha", "0.8", "--c", "0.05", folder=source).stdout
    assert "speclab_program" in predicted.stderr and "numpy" not in predicted.stderr
    assert sys.executable in run(*started, "plot", "--help", folder=elsewhere).stdout
    own = results_of(*started, folder=elsewhere, out=elsewhere / "own")
    assert len(own) >= 2 and own == results_of(program, folder=source, out=elsewhere / "other"), "results differ from the checkout's"
    assert json.loads(own[pathlib.PurePath("table3/result.json")])["inputs"][0]["file"] == "data/austen.txt"
    for name, content in own.items():
        assert scratch.encode() not in content, f"{name} names the folder of the installation"
print(f"install/wheel: ok, {len(installed)} files of the program")
