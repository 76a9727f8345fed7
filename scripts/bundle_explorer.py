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

root = pathlib.Path(__file__).resolve().parent.parent
folder = root / "explorer" / "page"
imports = re.compile(r'^import \{[^}]*\} from "\./(\w+)\.js";\n', re.MULTILINE)


def published_pairs():
    """The paper's pairs, as its tables' config has them."""
    cases = json.loads((root / "configs" / "paper" / "table2-4.json").read_text())["cases"]
    pairs = [{"name": case["label"].split(":")[0], "alpha": case["set"]["/models/draft/alpha"],
              "c": case["set"]["/cost/c"], "gamma": case["set"]["/gamma"]} for case in cases]
    return f"const publishedPairs = {json.dumps(pairs, ensure_ascii=False)};\n"


def recorded_example():
    """The shipped recordings of a neural pair as one, a task each (configs/recorded); empty without them."""
    lines = []
    for file in sorted((root / "configs" / "recorded").glob("*.csv")):
        with open(file, encoding="utf-8") as rows:
            for row in csv.DictReader(rows):
                drafted = row.get("logq") or row.get("logq.draft")
                if drafted and not file.stem.endswith("_greedy"):
                    lines.append(",".join([f"{file.stem} {row['sequence']}", row["position"], row["token"], row["logp"], drafted, file.stem]))
    text = "".join(f"{line}\n" for line in ["sequence,position,token,logp,logq,task", *lines]) if lines else ""
    return f"const recordedText = {json.dumps(text)};\n"


generated = {"published_pairs": published_pairs, "recorded_example": recorded_example}


def bundle(name, done):
    """The module and what it imports, without those that are done."""
    if name in done:
        return ""
    done.add(name)
    if name in generated:
        return generated[name]()
    text = (folder / f"{name}.js").read_text()
    before = "".join(bundle(imported, done) for imported in imports.findall(text))
    text = re.sub(r"^export ", "", imports.sub("", text), flags=re.MULTILINE)
    if re.search(r"^import ", text, re.MULTILINE):
        sys.exit(f"bundle_explorer.py: {name}.js has an import of another form than the others'")
    return before + text


def once(text):
    """The modules' text, if no top-level name comes twice."""
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


main()
