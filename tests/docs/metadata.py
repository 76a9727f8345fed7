#!/usr/bin/env python3
"""Tests that CITATION.cff has the version of CMakeLists.txt, and the URL and authors of pyproject.toml, and that the site has every page of
docs. usage: metadata.py SOURCE_DIR"""

import json
import re
import sys
import tomllib
from pathlib import Path

source = Path(sys.argv[1])
citation = (source / "CITATION.cff").read_text(encoding="utf-8")
project = tomllib.loads((source / "pyproject.toml").read_text(encoding="utf-8"))["project"]
version = re.search(r"project\(speclab VERSION ([0-9.]+)", (source / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
wanted = [f"version: {version}", f'repository-code: "{project["urls"]["Repository"]}"', f'  - name: "{project["authors"][0]["name"]}"']
missing = [f"CITATION.cff lacks the line: {line}" for line in wanted if line not in citation.splitlines()]
sections = json.loads((source / "scripts/site/sections.json").read_text(encoding="utf-8"))
listed = {page for section in sections for page in section["pages"]}
pages = [str(page.relative_to(source)) for page in sorted((source / "docs").glob("**/*")) if page.suffix in (".md", ".ipynb")]
missing += [f"scripts/site/sections.json lacks {page}" for page in pages if page not in listed]
print(*missing, sep="\n")
sys.exit(bool(missing))
