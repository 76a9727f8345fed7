#!/usr/bin/env python3
"""Tests damaged GGUF files: the program fails with an error that names the file, or reads another model, and never ends by a signal.
Under the preset asan the program's own code (tokenizer, metadata, sessions) is instrumented; libllama is a separate library and
is not.

usage: damaged_gguf.py SPECLAB SOURCE_DIR [FILES]     exit 77: skipped, without libllama"""
import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

speclab, source = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
files = int(sys.argv[3]) if len(sys.argv) > 3 else 300
original = (source / "configs" / "neural" / "draft-small.gguf").read_bytes()
chance = random.Random(31)  # a fixed seed gives the same files every time
longest = 60  # seconds
failures = 0


def check(what, holds):
    global failures
    if not holds:
        failures += 1
        print("FAILED:", what, flush=True)


def run_with(data):
    (folder / "damaged.gguf").write_bytes(data)
    return subprocess.run([speclab, "run", "damaged.json", "--out", "out", "--force", "--threads", "1"], cwd=folder, capture_output=True, text=True,
                          errors="replace", timeout=longest)


def keys(data):
    """Returns the offsets of each entry of the metadata: (offset of its key, offset of its value)."""
    (count,) = struct.unpack_from("<Q", data, 16)
    sizes = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
    at, found = 24, []
    for _ in range(count):
        (length,) = struct.unpack_from("<Q", data, at)
        value = at + 8 + length
        found.append((at, value))
        (kind,) = struct.unpack_from("<I", data, value)
        at = value + 4
        if kind == 9:
            of, items = struct.unpack_from("<IQ", data, at)
            at += 12
            for _ in range(items if of == 8 else 0):
                at += 8 + struct.unpack_from("<Q", data, at)[0]
            at += sizes.get(of, 0) * items
        else:
            at += 8 + struct.unpack_from("<Q", data, at)[0] if kind == 8 else sizes[kind]
    return found, at


def damaged():
    data = bytearray(original)
    entries, end = keys(data)
    kind = chance.choice(["cut", "byte", "byte", "several", "number", "number", "type", "length", "header", "tensors"])
    if kind == "cut":
        return kind, data[:chance.choice([chance.randrange(24), chance.randrange(end), chance.randrange(len(data))])]
    if kind == "header":
        at = chance.choice([4, 8, 16])
        data[at:at + 4] = struct.pack("<I", chance.choice([0, 1, 2, 99, 2**31, 2**32 - 1]))
    elif kind in ("byte", "several"):
        for _ in range(1 if kind == "byte" else 20):
            data[chance.randrange(end)] = chance.randrange(256)
    elif kind == "tensors":
        for _ in range(4):
            data[chance.randrange(end, min(end + 2000, len(data)))] = chance.randrange(256)
    else:
        key, value = chance.choice(entries)
        if kind == "type":
            data[value:value + 4] = struct.pack("<I", chance.randrange(16))
        elif kind == "number":
            data[value + 4:value + 8] = struct.pack("<I", chance.choice([0, 1, 2, 3, 7, 2**16, 2**31 - 1, 2**31, 2**32 - 1]))
        else:
            data[key:key + 8] = struct.pack("<Q", chance.choice([0, 2**20, 2**31, 2**32, 2**63, 2**64 - 1]))
    return kind, data


with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch)
    (folder / "damaged.json").write_text(json.dumps(
        {"title": "damaged", "models": {"target": {"kind": "gguf", "file": "damaged.gguf", "context": 64}, "draft": {"kind": "uniform"}},
         "gamma": 1, "simulation": {"trials": 1, "length": 3, "prompt": "It is a truth"}}))
    whole = run_with(original)
    if "scripts/setup.sh neural" in whole.stderr:
        print("skipped: built without libllama (scripts/setup.sh neural)")
        sys.exit(77)
    check(f"the file itself runs: {whole.stderr}", whole.returncode == 0)
    codes = {}
    for number in range(files):
        kind, data = damaged()
        try:
            found = run_with(data)
        except subprocess.TimeoutExpired:
            check(f"file {number}, {kind}: runs for more than {longest} s", False)
            continue
        codes.setdefault(kind, []).append(found.returncode)
        check(f"file {number}, {kind}: exit code {found.returncode}: {found.stderr[-400:]}", found.returncode in (0, 2))
        check(f"file {number}, {kind}: sanitizer: {found.stderr[-400:]}", "Sanitizer" not in found.stderr and "runtime error" not in found.stderr)
        check(f"file {number}, {kind}: no name: {found.stderr[-400:]}", found.returncode != 2 or "damaged.gguf" in found.stderr)
    for kind, ends in sorted(codes.items()):
        print(f"{kind}: {len(ends)} files, {ends.count(0)} ran, {ends.count(2)} refused, {len(ends) - ends.count(0) - ends.count(2)} otherwise")
print(f"{failures} failures")
sys.exit(1 if failures else 0)
