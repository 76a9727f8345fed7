"""Tests that the files of configs/neural and configs/recorded are those that their README files and the log describe.

usage: neural_pair.py SPECLAB SOURCE
"""

import csv
import hashlib
import json
import pathlib
import re
import struct
import subprocess
import sys

speclab, source = sys.argv[1], pathlib.Path(sys.argv[2])
sys.path.insert(0, str(source / "scripts"))
from pair import bpe  # noqa: E402
neural, recorded = source / "configs/neural", source / "configs/recorded"
MOST = 6_000_000  # bytes of all GGUF files


def expect(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def described(readme):
    """{file: (bytes, first digits of its SHA-256)} from the table in a README."""
    row = re.compile(r"^\| `([^`]+)` \| ([\d,]+) \| `([0-9a-f]{16})` \|", re.MULTILINE)
    return {name: (int(size.replace(",", "")), digits) for name, size, digits in row.findall(readme.read_text("utf-8"))}


for folder, pattern in ((neural, "*.gguf"), (neural, "*.csv"), (recorded, "*.csv")):
    table, files = described(folder / "README.md"), sorted(folder.glob(pattern))
    expect(files, f"{folder} has {pattern}")
    for file in files:
        content = file.read_bytes()
        expect(file.name in table, f"{folder.name}/README.md describes {file.name}")
        found = len(content), hashlib.sha256(content).hexdigest()[:16]
        expect(table[file.name] == found, f"{folder.name}/{file.name}: {found}, but its README says {table[file.name]}")

models = sorted(neural.glob("*.gguf"))
expect({file.stem for file in models} == {"target", "draft", "draft-small"}, "three models")
expect(sum(file.stat().st_size for file in models) <= MOST, f"models of at most {MOST} bytes")
for file in models:
    magic, version, tensors = struct.unpack("<4sIQ", file.read_bytes()[:16])
    expect((magic, version) == (b"GGUF", 3) and tensors > 10, f"{file.name} is a GGUF file")

with open(neural / "log.csv", encoding="utf-8") as lines:
    log = list(csv.DictReader(lines))
for model in ("target", "draft", "draft-small"):
    own = [line for line in log if line["model"] == model]
    steps = [int(line["step"]) for line in own]
    expect(steps == sorted(set(steps)) and steps, f"{model}: steps of the log rise")
    expect(float(own[-1]["nats_austen"]) < float(own[0]["nats_austen"]), f"{model}: it learned")

# The tokenizer merges the most frequent pairs, and texts are recovered from their tokens.
merges = bpe.train("low low low lower lowest\n newest", 260)
expect(merges == [("l", "o"), ("lo", "w"), ("\u0120", "low")], f"merges {merges}")
tokenizer = bpe.Tokenizer(merges)
expect([tokenizer.tokens[i] for i in tokenizer.encode(" lowly")] == ["\u0120low", "l", "y"], "tokens of a word")
# SmolLM2's splitting: a digit is a word, and the space before it another.
expect(bpe.words("in 1990 \u0664 a", True) == ["in", " ", "1", "9", "9", "0", " ", "\u0664", " a"], "digits are words")
expect(bpe.words("in 1990 a") == ["in", " 1990", " a"], "numbers are words")
for text in ("it's low,\t lower \n\n x_1 = 42;", "caf\u00e9 \u20ac 12\u00bd", ""):
    expect(tokenizer.decode(tokenizer.encode(text)) == text, f"{text!r} comes back")

# The recordings' numbers fit their texts, because the target drew the texts.
for file in sorted(recorded.glob("*.csv")):
    greedy = file.stem.endswith("_greedy")
    header = file.read_text("utf-8").split("\n", 1)[0].split(",")
    drafters = [name[len("logq."):] for name in header if name.startswith("logq.")]
    expect(len(drafters) >= 3, f"{file.name}: columns of several drafters")
    for drafter in drafters:
        done = subprocess.run([speclab, "plan", "recording", file, "--column", drafter, "--c", "0.1", "--json",
                               *(["--cut"] if greedy else [])], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
        plan = json.loads(done.stdout)
        expect(not plan["warnings"], f"{file.name}, {drafter}: {plan['warnings']}")
        expect(0 <= plan["alpha"] <= 1 and len(plan["tokens_per_target_step"]) >= 16, f"{file.name}, {drafter}: a plan")
        if not greedy:
            expect(plan["text_fit"]["entropy"] == "fits", f"{file.name}: entropies fit")
print("ok")
