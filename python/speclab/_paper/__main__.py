"""The program that `speclab paper` runs: typesets results as a PDF. The words are in the templates beside this file; their numbers are read
from results. Interrupted results, those of changed configs and those of another version are refused.

arguments: PROGRAM RESULTS PDF
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parents[3]  # with the project's configs and measured results
PAPERS = {"leviathan": ["reproduce"], "wagner": ["reproduce", "--paper", "wagner"]}
RULES = ["token", "block", "gumbel", "fault-resample-target", "fault-late-context"]
# Made anew for each report.
MADE = {"prove": ["prove", "--all", "--optimum"], **{f"check-{rule}": ["check", "configs/check_token.json", "--set", f"rule.kind={rule}"] for rule in RULES}}
# Measured before, on other machines; each file with what measures it again.
MEASURED = {"results/engines/audit.json": "python -m speclab.audit --engines all",
            **{f"kernels/results/nvidia-{end}": "scripts/gpu/run.py measure" for end in ("h100.csv", "h100.md", "h200.csv", "h200.md")}}


def facts_of_file(file: Path, below: Path, words: list[str] | str) -> dict[str, Any]:
    data = file.read_bytes()
    command = words if isinstance(words, str) else f"speclab {shlex.join(words)}"
    return {"path": str(file.resolve()), "name": str(file.relative_to(below)), "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest(), "command": command}


def run(program: str, words: list[str]) -> None:
    if subprocess.run([program, *words], stdout=subprocess.DEVNULL, check=False).returncode not in (0, 1):  # 1: a finding, such as a refuted fault
        raise ValueError(f"speclab {shlex.join(words)} failed")


def facts_of_paper(program: str, version: str, results: Path, name: str) -> dict[str, Any]:
    """Reads the results of `speclab reproduce --paper NAME`, which are made first if they are missing."""
    folder = results if name == "leviathan" else results / name
    again = [*PAPERS[name], "--out", str(folder)]
    if not (folder / "summary.csv").exists():
        print(f"{folder} has no results of this paper; they are made now, which takes minutes: speclab {shlex.join(again)}", flush=True)
        run(program, [*again, "--quiet"])
    tried = {line.partition(",")[0] for line in (folder / "summary.csv").read_text(encoding="utf-8").splitlines()}
    facts: dict[str, Any] = {"command": f"speclab {shlex.join(PAPERS[name])}", "sections": [], "missing": []}
    for section in json.loads((DATA / "configs/papers" / f"{name}.json").read_text(encoding="utf-8"))["sections"]:
        file = folder / section / "result.json"
        if not file.exists():
            if section not in tried:
                raise ValueError(f"{folder} has a part of the results (reproduce --only), without {section}; give another folder as --results")
            facts["missing"].append(section)
            continue
        timings = json.loads(file.with_name("timings.json").read_text(encoding="utf-8"))
        made = f"speclab {timings['version']}", timings["command"], json.loads(file.read_text(encoding="utf-8"))["partial"]
        if made != (version, f"{facts['command']} --only {section}", False):
            why = "it was interrupted" if made[2] else f'it was made by {made[0]}, "{made[1]}", and this is {version}'
            raise ValueError(f"{file}: {why}; run again: speclab {shlex.join(again)} --force")
        pictures = {picture.stem: str(picture.resolve()) for picture in sorted(file.parent.glob("*.svg"))}
        facts["sections"].append(facts_of_file(file, results, PAPERS[name]) | {"section": section, "figures": pictures, "machine": timings["machine"]})
    return facts


def facts_of(program: str, results: Path) -> dict[str, Any]:
    version = subprocess.run([program, "version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    facts = {"version": version, "papers": {name: facts_of_paper(program, version, results, name) for name in PAPERS}, "made": {}}
    for name, words in MADE.items():
        run(program, [*words, "--out", str(results / "paper" / name)])
        facts["made"][name] = facts_of_file(results / "paper" / name / "result.json", results, words)
    return facts | {"measured": {name: facts_of_file(DATA / name, DATA, command) for name, command in MEASURED.items()}}


def main() -> None:
    program, results, pdf = sys.argv[1], *map(Path, sys.argv[2:])
    try:
        import typst

        # The fonts are those inside typst, so that the bytes do not depend on the machine.
        typeset = typst.compile(str(Path(__file__).resolve().with_name("report.typ")), root="/", ignore_system_fonts=True,
                                sys_inputs={"facts": json.dumps(facts_of(program, results))})
        pdf.with_suffix(".part").write_bytes(typeset)
        os.replace(pdf.with_suffix(".part"), pdf)
        print(pdf)
    except ImportError:
        sys.exit(print(f"error: {sys.executable} has no typst: python3 -m venv typesetting && typesetting/bin/pip install typst (Debian needs python3-venv), then --python typesetting/bin/python", file=sys.stderr) or 2)
    except (ValueError, OSError) as problem:
        sys.exit(print(f"error: {problem}", file=sys.stderr) or 2)
    except KeyboardInterrupt:
        sys.exit(130)
