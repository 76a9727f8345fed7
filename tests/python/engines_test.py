"""Table models for serving engines, and the audit of one of them: llama.cpp, by the package xllamacpp."""

import json
import os
import pathlib
import struct
import subprocess
import sys

import numpy as np
import pytest

SOURCE = pathlib.Path(os.environ["SPECLAB_SOURCE"])
SPECLAB = os.environ["SPECLAB_BINARY"]
CONFIG = SOURCE / "configs/audit_engine.json"


def script(name, *words):
    return subprocess.run([sys.executable, "-B", SOURCE / "scripts" / name, *map(str, words)], capture_output=True, text=True)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    assert script("table_models.py", CONFIG, folder).returncode == 0
    return folder


def safetensors(file):
    data = file.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    head = json.loads(data[8 : 8 + length])
    return {name: np.frombuffer(data[8 + length + one["data_offsets"][0] : 8 + length + one["data_offsets"][1]], "<f4").reshape(one["shape"])
            for name, one in head.items() if name != "__metadata__"}


@pytest.mark.parametrize("side", ["target", "draft"])
def test_rows_of_the_weights_are_the_configs(models, side):
    weights = safetensors(models / side / "model.safetensors")
    rows = np.array(json.loads(CONFIG.read_text())["models"][side]["rows"], dtype=float)
    embedding = weights["model.embed_tokens.weight"].astype(float)
    for name, weight in weights.items():
        if "layers" in name and "norm" not in name:
            assert not weight.any(), name  # the block adds nothing
    normed = embedding / np.sqrt((embedding**2).mean(axis=1, keepdims=True) + 1e-6)
    logits = normed @ weights["lm_head.weight"].astype(float).T
    made = np.exp(logits - logits.max(axis=1, keepdims=True))
    assert np.abs(made / made.sum(axis=1, keepdims=True) - rows / rows.sum(axis=1, keepdims=True)).max() < 1e-6


@pytest.mark.parametrize("config", ["first.json", "rules_austen.json"])
def test_other_configs_are_refused(config, tmp_path):
    made = script("table_models.py", SOURCE / "configs" / config, tmp_path / "m")
    assert made.returncode == 2 and "/models/target" in made.stderr and not (tmp_path / "m").exists()


def emitted(models, folder, **options):
    pytest.importorskip("xllamacpp")
    words = [word for option, value in options.items() for word in ("--" + option.replace("_", "-"), value)]
    samples = folder / "samples.jsonl"
    ran = script("engines/by_llama_cpp.py", models, samples, "--sequences", 2000, "--tokens", 8, *words)
    assert ran.returncode == 0, ran.stderr
    return samples, json.loads(ran.stdout.splitlines()[-1])


def judged(samples, tokens=4):
    """The verdict, at a false-alarm rate of 1e-6, and the names of the law that fits."""
    ran = subprocess.run([SPECLAB, "check", str(CONFIG), "--samples", str(samples), "--json", "--set", f"check.tokens={tokens}"],
                         capture_output=True, text=True)
    check = json.loads(ran.stdout)
    fits = [[law["name"], *law.get("also", [])] for law in check.get("diagnosis", []) if law.get("adjusted_p", 0) > 1e-6]
    return check["verdict"], fits[0] if fits else []


@pytest.mark.parametrize("options", [{"gamma": 0}, {"gamma": 3}, {"gamma": 3, "way": "probabilistic"}])
def test_llama_cpp_has_the_targets_distribution(models, tmp_path, options):
    samples, counts = emitted(models, tmp_path, **options)
    assert judged(samples) == ("equal", [])
    assert counts["emitted"] == 2000 * 8
    assert (counts["drafted"] > 0) == (options["gamma"] > 0) and counts["accepted"] <= counts["drafted"]


def test_faults_of_an_adapter_are_found(models, tmp_path):
    samples, _ = emitted(models, tmp_path, gamma=3)
    lines = samples.read_text().splitlines()

    def with_lines(changed):
        file = tmp_path / "changed.jsonl"
        file.write_text("\n".join(changed) + "\n")
        return judged(file)[0]

    assert with_lines(lines) == "equal"
    assert with_lines([lines[0]] * 2000) == "different"  # one seed for all
    late = [json.dumps({"tokens": json.loads(line)["tokens"][1:]}) for line in lines]
    assert with_lines(late) == "different"  # the first token is lost
    swapped = tmp_path / "swapped"
    for side, other in (("target", "draft"), ("draft", "target")):
        (swapped / side).mkdir(parents=True)
        (swapped / f"{side}.gguf").write_bytes((models / f"{other}.gguf").read_bytes())
    samples, _ = emitted(swapped, tmp_path, gamma=3)
    verdict, laws = judged(samples, 3)
    assert verdict == "different" and "fault-accept-all" in laws  # gamma tokens of the draft's distribution


def test_the_audit_goes_on_and_names_what_is_not_installed(tmp_path):
    pytest.importorskip("xllamacpp")
    python = tmp_path / "environments/llama_cpp/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    words = ("--engines", "llama_cpp,openvino", "--environments", tmp_path / "environments", "--out", tmp_path / "out", "--speclab",
             SPECLAB, "--sequences", 200)
    first = script("engines/audit.py", *words)
    assert first.returncode == 0, first.stderr
    assert first.stdout.count("| equal |") == 11 and "openvino: skipped, not installed" in first.stderr
    again = script("engines/audit.py", *words)
    assert again.stdout == first.stdout and "llama_cpp: " not in again.stderr
    assert script("engines/audit.py", "--engines", "nothing").returncode == 2


def test_a_broken_model_is_one_sentence(models, tmp_path):
    pytest.importorskip("xllamacpp")
    for side in ("target", "draft"):
        (tmp_path / side).mkdir()
        (tmp_path / f"{side}.gguf").write_bytes(b"GGUF nothing")
    ran = script("engines/by_llama_cpp.py", tmp_path, tmp_path / "samples.jsonl")
    assert ran.returncode != 0 and ran.stderr.strip()
    missing = script("engines/by_llama_cpp.py", tmp_path / "none", tmp_path / "samples.jsonl")
    assert missing.returncode == 1 and "make it by scripts/table_models.py" in missing.stderr
