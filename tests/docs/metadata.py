#!/usr/bin/env python3
"""Tests that CITATION.cff has the version of CMakeLists.txt, and the URL and authors of pyproject.toml. usage: metadata.py SOURCE_DIR"""

import re
import sys
import tomllib
from pathlib import Path

source = Path(sys.argv[1])
citation = (source / "CITATION.cff").read_text(encoding="utf-8")
project = tomllib.loads((source / "pyproject.toml").read_text(encoding="utf-8"))["project"]
version = re.search(r"project\(speclab VERSION ([0-9.]+)", (source / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
wanted = [f"version: {version}", f'repository-code: "{project["urls"]["Repository"]}"', f'  - name: "{project["authors"][0]["name"]}"']
missing = [line for line in wanted if line not in citation.splitlines()]
print(*(f"CITATION.cff lacks the line: {line}" for line in missing), sep="\n")
sys.exit(bool(missing))
