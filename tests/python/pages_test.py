"""Tests that the guide's and the README's examples run, that the site has every function, and that the stub is up to date."""

import ast
import doctest
import importlib
import os
import pathlib
import subprocess
import sys

import pytest

SOURCE = pathlib.Path(os.environ.get("SPECLAB_SOURCE", pathlib.Path(__file__).parents[2]))


def test_site_has_each_function_once(monkeypatch):
    import speclab

    monkeypatch.syspath_prepend(SOURCE / "scripts/site")
    python_page = importlib.import_module("python_page")
    assert "autofunction:: speclab.prove" in python_page.page(True)
    monkeypatch.setattr(speclab, "__all__", [*speclab.__all__, "run_twice"])
    with pytest.raises(SystemExit, match="run_twice"):
        python_page.page(True)


def test_guide():
    page = (SOURCE / "docs/python.md").read_text(encoding="utf-8")
    examples = "\n\n".join(block.split("```", 1)[0] for block in page.split("```python\n")[1:])
    test = doctest.DocTestParser().get_doctest(examples, {}, "guide", None, 0)
    result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test)
    assert result.attempted > 5 and result.failed == 0


def test_readme(capsys):
    """The example's output is below it, as comments."""
    page = (SOURCE / "README.md").read_text(encoding="utf-8")
    code = page.split("```python\n", 1)[1].split("```", 1)[0]
    exec(compile(code, "README.md", "exec"), {})
    wanted = [line[2:] for line in code.splitlines() if line.startswith("# ")]
    assert capsys.readouterr().out.splitlines() == wanted and wanted


def calls(stub):
    """Every function and method with its arguments, without types, whose notation differs between versions."""
    found = []
    for node in ast.walk(ast.parse(stub)):
        if isinstance(node, (ast.Module, ast.ClassDef)):
            for function in node.body:
                if isinstance(function, ast.FunctionDef):
                    arguments = [argument.arg for argument in function.args.args]
                    found.append((getattr(node, "name", ""), function.name, arguments))
    return sorted(found)


def test_stub_is_fresh(tmp_path):
    pytest.importorskip("nanobind")
    stub = tmp_path / "_core.pyi"
    made = subprocess.run([sys.executable, "-B", "-m", "nanobind.stubgen", "-q", "-m", "speclab._core", "-o", stub], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    kept = (SOURCE / "python/speclab/_core.pyi").read_text()
    assert calls(stub.read_text()) == calls(kept), "stale: python3 -m nanobind.stubgen -m speclab._core -o python/speclab/_core.pyi"


@pytest.mark.parametrize("path", sorted(SOURCE.glob("docs/notebooks/*.ipynb")), ids=lambda path: path.stem)
def test_notebooks(path, monkeypatch, tmp_path):
    """Runs every cell, in order, in the notebook's folder, as Jupyter does; outputs are not kept in the repository."""
    import json

    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    folder = tmp_path / path.parent.relative_to(SOURCE)
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    (tmp_path / "configs").symlink_to(SOURCE / "configs")
    notebook = json.loads(path.read_text(encoding="utf-8"))
    names = {"__name__": "__main__"}
    for number, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] != "code":
            continue
        assert cell["outputs"] == [] and cell["execution_count"] is None, f"cell {number} has outputs"
        exec(compile("".join(cell["source"]), f"{path.name}[{number}]", "exec"), names)
