"""Typesets the report of `speclab paper`, twice, and reads the PDF. Four numbers are traced to the results: shaped as a reader would, they
stand in the report, and a report of another result lacks them. Results that do not belong to the program are refused.

usage: paper.py SPECLAB_BINARY     run by paper.sh, whose Python has typst and pypdf
"""

import json
import math
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pypdf

SPECLAB = sys.argv[1]
MOST_PAGES = 15


def typeset(results, pdf, code=0):
    """Returns what was printed. The results are made if they are missing."""
    done = subprocess.run([SPECLAB, "paper", pdf, "--results", results, "--python", sys.executable], capture_output=True, text=True, check=False)
    assert done.returncode == code, (done.returncode, done.stderr)
    return done.stdout + done.stderr


def text_of(pdf):
    reader = pypdf.PdfReader(pdf)
    assert 5 <= len(reader.pages) <= MOST_PAGES, len(reader.pages)
    text = "".join(page.extract_text() for page in reader.pages)
    return re.sub(r"\s+", "", text.replace("\u00ad", "-"))  # a hyphen inside a word is read as a soft one


def interval(estimate):
    half = (estimate["high"] - estimate["low"]) / 2
    digits = max(0, 1 - math.floor(math.log10(half)))
    return f"{estimate['value']:.{digits}f}±{half:.{digits}f}"


def traced(results):
    """The numbers, from the files that the report names."""
    first = json.loads((results / "table1/result.json").read_text())["cells"][3]
    speedups = json.loads((results / "table2-4/result.json").read_text())["cells"][4]
    saved = json.loads((results / "wagner/table1/result.json").read_text())["cells"][2]
    test = json.loads((results / "paper/check-block/result.json").read_text())
    return [
        f"{first['label']}speedup{first['printed']['speedup']}{first['formula']['speedup']:.3f}{interval(first['simulated']['speedup'])}",
        f"{speedups['label']}speedup{speedups['printed']['speedup']}{speedups['formula']['speedup']:.3f}",
        f"{saved['label']}%saved{saved['printed']['percent_saved']}{saved['formula']['percent_saved']:.2f}",
        f"block{test['pearson']:.1f}{test['g']:.1f}{test['degrees']}",
    ]


def lacking(pdf, results):
    text = text_of(pdf)
    return [number for number in traced(results) if re.sub(r"\s+", "", number) not in text]


def edited(results, name, change):
    """Returns a copy of the results in which `change` has changed one file."""
    copy = results.with_name("edited")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(results, copy)
    file = copy / name
    data = json.loads(file.read_text())
    change(data)
    file.write_text(json.dumps(data))
    return copy


def main():
    with tempfile.TemporaryDirectory() as folder:
        results, pdf, again = (Path(folder) / name for name in ("results", "one.pdf", "two.pdf"))
        assert "has no results of this paper" in typeset(results, pdf)
        assert "has no results" not in typeset(results, again)
        assert pdf.read_bytes() == again.read_bytes(), "two reports of the same results differ"
        assert folder.encode() not in pdf.read_bytes(), "the report names a folder of this machine"
        missing = lacking(pdf, results)
        assert not missing, missing

        # Each number, changed in its result: the report from before lacks it, and a new report has it.
        changes = [
            ("table1/result.json", lambda data: data["cells"][3]["simulated"]["speedup"].update(value=3.5)),
            ("table2-4/result.json", lambda data: data["cells"][4]["formula"].update(speedup=1.5)),
            ("wagner/table1/result.json", lambda data: data["cells"][2]["formula"].update(percent_saved=12.5)),
        ]
        for name, change in changes:
            assert len(lacking(pdf, edited(results, name, change))) == 1, name
        other = edited(results, *changes[0])
        typeset(other, again)
        assert not lacking(again, other) and len(lacking(again, results)) == 1

        refused = [
            ("figure2/timings.json", lambda data: data.update(version="0.0.1 (commit 0)"), "made by speclab 0.0.1"),
            ("figure2/timings.json", lambda data: data.update(command=data["command"] + " --set gamma=2"), "--set gamma=2"),
            ("wagner/text/result.json", lambda data: data.update(partial=True), "was interrupted; run again: speclab reproduce --paper wagner"),
        ]
        again.unlink()
        for name, change, words in refused:
            said = typeset(edited(results, name, change), again, code=2)
            assert words in said and "run again" in said, said
        part = edited(results, *changes[0])
        shutil.rmtree(part / "figure2")
        summary = part / "summary.csv"
        summary.write_text("".join(line for line in summary.read_text().splitlines(True) if not line.startswith("figure2,")))
        assert "without figure2; give another folder" in typeset(part, again, code=2)
        assert not again.exists()
    print("the report has the numbers of its results")


main()
