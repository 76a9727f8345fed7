#!/usr/bin/env python3
"""Puts the explorer's modules, style, engine and data into one page.

usage: scripts/bundle_explorer.py FOLDER     which has engine.wasm and excerpt.txt, and gets explorer.html

Modules are written one after another, each after those that it imports, into one scope: their top-level names must
differ, which is checked. Imports are relative and named ("import { a } from ./b.js") and rename nothing."""
import base64
import csv
import gzip
import json
import pathlib
import re
import sys

from of_package.gguf_file import GgufFile
from pair import bpe

root = pathlib.Path(__file__).resolve().parent.parent
folder = root / "explorer" / "page"
imports = re.compile(r'^import \{[^}]*\} from "\./(\w+)\.js";\n', re.MULTILINE)


def published_pairs():
    """The paper's pairs, from the config of its tables."""
    cases = json.loads((root / "configs" / "paper" / "table2-4.json").read_text())["cases"]
    pairs = [{"name": case["label"].split(":")[0], "alpha": case["set"]["/models/draft/alpha"],
              "c": case["set"]["/cost/c"], "gamma": case["set"]["/gamma"]} for case in cases]
    return f"const publishedPairs = {json.dumps(pairs, ensure_ascii=False)};\n"


def token_texts(gguf):
    """The vocabulary of a GGUF file with GPT-2's letters for bytes, as one text per token."""
    return [bytes(map(bpe.BYTES.get, letters)).decode(errors="replace") if set(letters) <= set(bpe.BYTES) else letters
            for letters in GgufFile(gguf).values["tokenizer.ggml.tokens"]]


def recorded_example():
    """Seven sequences of each task of the shipped recordings (configs/recorded), by the neural draft, with the tokens' texts:
    lines "token<TAB>logp<TAB>logq" by sequence."""
    texts = token_texts(root / "configs" / "neural" / "target.gguf")
    sequences = []
    for task in ("austen", "headers", "help"):
        by_sequence = {}
        with open(root / "configs" / "recorded" / f"{task}.csv", encoding="utf-8") as rows:
            for row in csv.DictReader(rows):
                text = texts[int(row["token"])].replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")
                by_sequence.setdefault(row["sequence"], []).append("\t".join([text, row["logp"], row["logq.draft"]]))
        sequences += [{"task": task, "rows": "\n".join(lines)} for lines in list(by_sequence.values())[:7]]
    return f"const recordedSequences = {json.dumps(sequences, ensure_ascii=False)};\n"


def rows_of(page, *header):
    """The cells of the rows of all tables of a page whose header begins with these words."""
    rows, inside = [], False
    for line in (root / page).read_text(encoding="utf-8").splitlines():
        line = re.sub(r" \(\[[^]]*\]\([^)]*\)\)", "", line)  # a mere link in brackets
        cells = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", cell.strip()) for cell in line.strip("|").split(" | ")] if line.startswith("|") else []
        if not cells:
            inside = False
        elif all(cell.startswith(word) for cell, word in zip(cells, header)) and len(cells) >= len(header):
            inside = True
        elif inside and not line.startswith("|---"):
            rows.append(cells)
    if not rows:
        sys.exit(f"bundle_explorer.py: {page} has no table that begins with {', '.join(header)}")
    return rows


def methods_by_year():
    """The entries of the catalogue whose source has a year, from the tables of docs, the earliest first."""
    found = [("rule", row[0], f"{header} {row[1]}", row[2])
             for header in ("accepts", "decides among") for row in rows_of("docs/rules.md", "rule", header)]
    found += [(kind, row[0], changes, row[1]) for kind, changes in (("drafter", "the source of drafted tokens"), ("policy", "the number of drafted tokens"))
              for row in rows_of("docs/drafters-and-policies.md", kind)]
    methods = []
    for kind, entry, changes, source in found:
        year = re.search(r"\b(?:19|20)\d\d\b", source)
        name = re.match(r"`([^`]+)`", entry)
        if year and name:
            methods.append({"year": int(year[0]), "kind": kind, "entry": name[1], "changes": changes.replace("`", ""), "source": source.replace("`", "")})
    methods.sort(key=lambda method: method["year"])
    return f"const methodsByYear = {json.dumps(methods, ensure_ascii=False)};\n"


def measured_tasks():
    """Measured speedups, from the page of results."""
    tasks = []
    for task, drafter, gamma, speedup, alpha in rows_of("results/drafters/README.md", "task", "drafter", "best γ"):
        value, spread = speedup.split(" ± ")
        tasks.append({"task": task, "drafter": drafter, "gamma": gamma, "speedup": float(value), "plusMinus": float(spread), "alpha": alpha})
    return f"const measuredTasks = {json.dumps(tasks, ensure_ascii=False)};\n"


generated = {"published_pairs": published_pairs, "recorded_example": recorded_example, "methods_by_year": methods_by_year,
             "measured_tasks": measured_tasks}


def bundle(name, done):
    """The module and its imports, without those already in the bundle and without lines of comments."""
    if name in done:
        return ""
    done.add(name)
    if name in generated:
        return generated[name]()
    text = (folder / f"{name}.js").read_text()
    before = "".join(bundle(imported, done) for imported in imports.findall(text))
    text = re.sub(r"^export |^ *//.*\n", "", imports.sub("", text), flags=re.MULTILINE)
    if re.search(r"^import ", text, re.MULTILINE):
        sys.exit(f"bundle_explorer.py: {name}.js has an import of another form than the others'")
    return before + text


def once(text):
    """The modules' text. Refuses top-level names that occur twice."""
    names = re.findall(r"^(?:const|let|(?:async )?function|class) (\w+)", text, re.MULTILINE)
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        sys.exit(f"bundle_explorer.py: modules share the top-level name {', '.join(sorted(twice))}; rename one")
    return text


def packed(file):
    return base64.b64encode(gzip.compress(file.read_bytes(), 9, mtime=0)).decode()


def main():
    folder_out = pathlib.Path(sys.argv[1])
    page = folder_out / "explorer.html"
    version = re.search(r"project\(\s*speclab\s+VERSION\s+([\d.]+)", (root / "CMakeLists.txt").read_text())
    parts = {
        "/*{{style}}*/": (folder / "style.css").read_text(),
        "{{version}}": version[1] if version else "",
        "{{engine}}": packed(folder_out / "engine.wasm"),
        "{{text}}": packed(folder_out / "excerpt.txt"),
        "{{worker}}": once(bundle("worker", set())),
        "{{script}}": once(bundle("main", set())),
    }
    text = (folder / "index.html").read_text()
    for place, part in parts.items():
        if "</script" in part:
            sys.exit(f"bundle_explorer.py: {place} holds the end of a script")
        text = text.replace(place, part)
    page.write_text(text)
    print(f"{page}: {page.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
