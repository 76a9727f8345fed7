"""Makes environments that use this Python, for engines that are installed with the tests, and skips tests of packages that are not. Runs
speclab.audit's command in this process."""

import contextlib
import importlib.util
import io
import os
import subprocess
import sys

import pytest


def installed(package):
    """Skips the test unless this Python has the package, and can load it."""
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    if package == "openvino_genai" and "libasan" in os.environ.get("LD_PRELOAD", ""):
        pytest.skip("OpenVINO opens a library with RTLD_DEEPBIND, which AddressSanitizer refuses")


def environment(folder, name):
    """Makes FOLDER/NAME/bin/python; returns FOLDER."""
    python = folder / name / "bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    return folder


def audit_here(*words):
    """What `python -m speclab.audit` prints, and its exit code, without the half second in which another Python starts."""
    from speclab.engines._command import main

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main([*map(str, words)])
        except SystemExit as end:  # argparse's
            code = end.code
    return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())
