#!/usr/bin/env python3
"""Tests that every name that docs/promises.md promises is still there: verbs with their options, kinds and keys of configs, columns of
results.csv, names of the Python package, functions of the C library. promises.txt lists them.
usage: promises.py SPECLAB SOURCE_DIR [--write]     --write adds new names to promises.txt"""

import ast
import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile

SPECLAB, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
LISTED = SOURCE / "tests/install/promises.txt"


def speclab(*arguments):
    return subprocess.run([SPECLAB, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def options():
    """Yields each verb with its options, and each verb that has verbs of its own with these."""
    for verb, words, verbs in re.findall(r'"([^"*]+?) ?\*?"\) options="([^"]*)" verbs="([^"]*)"', speclab("completion", "bash")):
        yield f"speclab {verb}", words.split() + verbs.split()


def keys(schema, path):
    """Yields the keys of each object that a config can have. The kind of an entry is part of its path."""
    kind = schema.get("properties", {}).get("kind", {}).get("const")
    path += f"({kind})" if kind else ""
    if schema.get("properties"):
        yield f"config {path}", list(schema["properties"])
    for key, value in schema.get("properties", {}).items():
        yield from keys(value, f"{path}/{key}")
    for key in ("oneOf", "anyOf", "allOf"):
        for one in schema.get(key, []):
            yield from keys(one, path)
    if isinstance(schema.get("items"), dict):
        yield from keys(schema["items"], f"{path}/-")


def config_keys():
    """Yields the keys of all objects of configs. One that occurs in several places with the same keys, as a model's sampling, is listed once."""
    schema = json.loads(speclab("schema"))
    listed = set()
    for name, entry in {"": schema, **schema["$defs"]}.items():
        for place, names in keys(entry, name):
            one = (place.rpartition("/")[2], *sorted(names))
            if "/" not in place or one not in listed:
                yield place, names
            listed.add(one)


def columns():
    with tempfile.TemporaryDirectory() as folder:
        speclab("run", SOURCE / "configs/first.json", "--set", "simulation.trials=2", "--set", "simulation.length=16", "--quiet", "--out", folder)
        with open(f"{folder}/results.csv", encoding="utf-8") as file:
            yield "results.csv of decode", next(csv.reader(file))


def python_names():
    for name in ("__init__", "models", "hf"):
        for node in ast.parse((SOURCE / f"python/speclab/{name}.py").read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                yield "python speclab" + ("" if name == "__init__" else f".{name}"), ast.literal_eval(node.value)


def functions():
    yield "C", re.findall(r"^SPECLAB_API .*?(speclab_\w+)\(", (SOURCE / "kernels/speclab_kernels.h").read_text(encoding="utf-8"), re.M)


def present():
    found = {}
    for collect in (options, config_keys, columns, python_names, functions):
        before = len(found)
        for place, names in collect():
            found.setdefault(place, set()).update(names)
        assert len(found) > before, f"{collect.__name__} found nothing"
    return found


def promised():
    return {place: set(names.split()) for place, _, names in (line.partition(": ") for line in LISTED.read_text(encoding="utf-8").splitlines())}


def missing(promise, found):
    return [f"{place}: {name}" for place, names in promise.items() for name in sorted(names - found.get(place, set()))]


found = present()
if "--write" in sys.argv:
    kept = promised() if LISTED.exists() else {}
    failed = gone = missing(kept, found)
    for place, names in found.items():
        kept.setdefault(place, set()).update(names)
    LISTED.write_text("".join(f"{place}: {' '.join(sorted(kept[place]))}\n" for place in sorted(kept)), encoding="utf-8")
else:
    gone = missing(promised(), found)
    new = missing(found, promised())
    for name in new:
        print(f"{name} is new: {LISTED} does not promise it; python3 {sys.argv[0]} {SPECLAB} {SOURCE} --write adds it")
    # A planted fault: a name that is gone is found.
    assert missing({"C": {"speclab_verify", "speclab_gone"}}, found) == ["C: speclab_gone"]
    failed = gone + new
for name in gone:
    print(f"{name} is promised, and gone")
sys.exit(bool(failed))
