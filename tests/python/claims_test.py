"""Tests that `claims` in Python gives the program's results."""

import json
import os
import pathlib
import subprocess

import pandas
import pytest

import speclab

SOURCE = pathlib.Path(os.environ.get("SPECLAB_SOURCE", pathlib.Path(__file__).parents[2]))
PROGRAM = os.environ.get("SPECLAB_BINARY", str(SOURCE / "build/release/bin/speclab"))
VERDICTS = {"follows": "follows", "within_input_rounding": "within the rounding of its inputs", "does_not_follow": "does not follow",
            "needs_assumption": "needs an assumption", "not_decidable": "not decidable"}
COLUMNS = {"source", "where", "quantity", "printed", "value", "check", "inputs", "verdict", "under_assumption", "least", "most", "rounded_least",
           "rounded_most", "off", "assumption", "undecided", "note", "quote"}


def by_program(*words):
    done = subprocess.run([PROGRAM, "claims", *words], capture_output=True, text=True, cwd=SOURCE, check=True)
    return done.stdout


@pytest.mark.parametrize("only", [[], ["hsd", "vllm-20780"]])
def test_same_as_the_program(only, tmp_path):
    """The dict equals the program's JSON; the data frame equals results.csv, which other code writes."""
    words = ["--only", ",".join(only)] if only else []
    audit = speclab.claims(only)
    assert dict(audit) == json.loads(by_program(*words, "--json")) == dict(speclab.claims(only, folder=SOURCE / "configs/claims"))
    assert str(audit).splitlines()[0] == by_program(*words).splitlines()[0]
    by_program(*words, "--out", str(tmp_path))
    csv = pandas.read_csv(tmp_path / "results.csv", dtype=str, keep_default_na=False)
    frame = audit.to_pandas()
    assert set(csv.columns) == COLUMNS and len(csv) == len(frame) == len(audit.claims)
    for name in COLUMNS & set(frame.columns):
        for mine, theirs in zip(frame[name], csv[name]):
            if pandas.isna(mine) or mine in (float("inf"), -float("inf")):
                assert theirs in ("", "inf", "-inf")
            elif isinstance(mine, float):
                assert float(theirs) == mine
            else:
                assert theirs == (VERDICTS[mine] if name in ("verdict", "under_assumption") else mine)
    assert set(csv.columns) - set(frame.columns) <= {"assumption", "under_assumption", "undecided", "note"}
    counted = frame["verdict"].value_counts()
    assert all(audit.counts[verdict] == counted.get(verdict, 0) for verdict in ("follows", "does_not_follow", "needs_assumption", "not_decidable"))
    assert (frame.groupby("source", sort=False).size() == pandas.Series({s["name"]: sum(s["counts"].values()) - s["counts"]["assumption_contradicted"]
                                                                         for s in audit.sources})).all()


def test_own_files(tmp_path):
    claim = {"where": "w", "quantity": "q", "printed": "2.1", "check": {"kind": "ratio", "of": "2.1", "to": "1"}}
    source = {"source": "s", "address": "https://s", "date": "2026-01-01", "licence": "l", "opened": "2026-01-01", "claims": [claim]}
    (tmp_path / "own.json").write_text(json.dumps(source))
    frame = speclab.claims(folder=tmp_path).to_pandas()
    assert list(frame["verdict"]) == ["follows"] and list(frame["address"]) == ["https://s"]
    claim["printed"] = "2.3"  # as text, 1 stands for all numbers from 0.5 to 1.5
    (tmp_path / "own.json").write_text(json.dumps(source))
    assert list(speclab.claims(folder=tmp_path).to_pandas()["verdict"]) == ["within_input_rounding"]
    claim["check"]["of"], claim["check"]["to"] = 2.1, 1  # exact
    (tmp_path / "own.json").write_text(json.dumps(source))
    frame = speclab.claims(folder=tmp_path).to_pandas()
    assert list(frame["verdict"]) == ["does_not_follow"] and frame["off"][0] == pytest.approx(0.15)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda folder: speclab.claims(["vllm-2078"]), speclab.ConfigError, 'did you mean "vllm-20780"'),
        (lambda folder: speclab.claims("hsd"), TypeError, "sequence of names"),
        (lambda folder: speclab.claims([3]), TypeError, r"only\[0\]"),
        (lambda folder: speclab.claims(folder=folder), speclab.ConfigError, "no files of claims"),
        (lambda folder: speclab.claims(folder=7), TypeError, "folder"),
    ],
)
def test_errors(call, error, words, tmp_path):
    with pytest.raises(error, match=words):
        call(tmp_path)
