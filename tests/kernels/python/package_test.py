"""Tests what the package says without torch, and that it carries the project's licence."""
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from speclab_kernels import SpeclabError, c_library

SOURCE = Path(__file__).resolve().parents[3]
PACKAGE = SOURCE / "kernels/python"


def test_names_torch_where_it_is_missing():
    code = "import sys; sys.modules['torch'] = None; import speclab_kernels as k; k.Library; from speclab_kernels import verify_tree"
    ran = subprocess.run([sys.executable, "-B", "-c", code], capture_output=True, text=True, env={"PYTHONPATH": str(PACKAGE)}, check=False)
    assert ran.returncode == 1
    assert "speclab_kernels.verify_tree needs torch 2.4 or later" in ran.stderr and ran.stderr.endswith("pip install torch\n")


def test_another_name_is_no_matter_of_torch():
    code = "import speclab_kernels; speclab_kernels.verfy"
    ran = subprocess.run([sys.executable, "-B", "-c", code], capture_output=True, text=True, env={"PYTHONPATH": str(PACKAGE)}, check=False)
    assert "AttributeError: module 'speclab_kernels' has no attribute 'verfy'" in ran.stderr


def test_an_older_library_is_refused(monkeypatch):
    monkeypatch.setattr(c_library, "OLDEST", 10**6)
    with pytest.raises(SpeclabError, match=r"libspeclab_kernels\.so\S* has version \d+ of the interface: 1000000 or later is needed"):
        c_library.library.__wrapped__()


def test_licence_and_extra():
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["optional-dependencies"] == {"torch": ["torch>=2.4"]}
    assert [(PACKAGE / name).read_bytes() for name in project["license-files"]] == [(SOURCE / "LICENSE").read_bytes()]
