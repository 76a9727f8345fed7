"""Copies the repository's pages into a folder that Sphinx reads, and adds those that are generated.

usage: stage.py FOLDER PROGRAM     PROGRAM: speclab, which prints the reference and draws figures of the gallery

sections.json names the pages by reader. Pages of a folder below a page of the navigation follow it. Links between pages stay as they are. A link to
a source file leads to the repository if pyproject.toml has its URL, and otherwise to a page that shows the file.
Exit codes: 0; 1 if a link leads to no file, or a page of docs/ is in no section.
"""

import json
import os
import re
import shutil
import sys
import tomllib
from pathlib import Path

import generated

SOURCE = Path(__file__).resolve().parents[2]
EXPLORER = SOURCE / "build/explorer/explorer.html"  # conf.py puts it beside index.html
EXPLORER_SHOWN = """
## The explorer itself
<iframe class="explorer" src="../explorer.html" title="The explorer"></iframe>
<p><a href="../explorer.html">The explorer in a window of its own</a></p>
"""
LONGEST_SHOWN = 60_000  # bytes; a longer or binary file is offered as a download
LANGUAGES = {".py": "python", ".cpp": "cpp", ".hpp": "cpp", ".h": "c", ".cu": "cuda", ".sh": "sh", ".json": "json", ".cff": "yaml", ".toml": "toml"}
# Matches code, in a block or in a line, in which nothing is a link; else the address of a link or picture.
PARTS = re.compile(r"(?P<block>^(?P<fence>`{3,}).*?^(?P=fence)[ \t]*$)|(?P<code>(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`))|\]\((?P<link>[^)\s]+)\)",
                   re.MULTILINE | re.DOTALL)


def repository():
    """The URL of the repository, or None while pyproject.toml has a placeholder."""
    url = tomllib.loads((SOURCE / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]["Repository"]
    return None if ".invalid/" in url + "/" else url.rstrip("/")


class Stage:
    def __init__(self, folder, pages):
        self.folder, self.faults, self.pictures = folder, [], {}
        self.repository = repository()
        self.waiting, self.known = list(pages), set(pages)

    def write(self, path, text):
        to = self.folder / path
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(text, encoding="utf-8")

    def copy(self, path):
        to = self.folder / path
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(SOURCE / path, to)
        if path.endswith(".svg"):  # in the dark theme the site shows pictures on a light ground, on which their own dark colours cannot be read
            to.write_text(re.sub(r"@media \(prefers-color-scheme: dark\) \{(?:[^{}]*\{[^{}]*\})*\s*\}", "", to.read_text(encoding="utf-8")), encoding="utf-8")

    def address(self, page, link):
        """What a link of a page becomes in the site."""
        if re.match(r"[a-z]+:", link) or link.startswith("#"):
            return link
        name, hash_sign, anchor = link.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(page), name))
        if path == "README.md":
            path = "index.md"
        elif path == "docs/notebooks":
            path = "start.md"
        elif path in self.known or path in generated.PAGES or path == "index.md":
            pass
        elif (SOURCE / path / "README.md").is_file():
            path += "/README.md"
        elif not (SOURCE / path).exists():
            self.faults.append(f"{page}: the link {link} leads to no file")
            return link
        if path.endswith((".md", ".ipynb")):
            if path not in self.known and (SOURCE / path).is_file() and path != "index.md":
                self.known.add(path)
                self.waiting.append(path)
        elif Path(path).suffix in (".svg", ".png"):
            self.copy(path)
        else:
            path = self.source_file(path)
            if ":" in path:
                return path
        return os.path.relpath(path, os.path.dirname(page) or ".") + hash_sign + anchor

    def source_file(self, path):
        if self.repository:
            return f"{self.repository}/blob/HEAD/{path}"
        data = (SOURCE / path).read_bytes()
        if len(data) > LONGEST_SHOWN or b"\0" in data:
            self.copy(path)
            return path
        language = LANGUAGES.get(Path(path).suffix, "text")
        self.write(f"source/{path}.md", f"---\norphan: true\nnosearch: true\n---\n# {path}\n`````{{code-block}} {language}\n{data.decode()}\n`````\n")
        return f"source/{path}.md"

    def with_links(self, page, text):
        def replaced(found):
            if not found["link"]:
                return found[0]
            return f"]({self.address(page, found['link'])})"

        for alternative, link in re.findall(r"!\[([^\]]*)\]\(([^)\s]+)\)", text):
            path = os.path.normpath(os.path.join(os.path.dirname(page), link))
            self.pictures.setdefault(path, (alternative, page))
        return PARTS.sub(replaced, text)

    def page(self, path):
        """Stages one page, with the pages of the folder below it in the navigation."""
        text = (SOURCE / path).read_text(encoding="utf-8")
        if path.endswith(".ipynb"):
            notebook = json.loads(text)
            for cell in notebook["cells"]:
                if cell["cell_type"] == "markdown":
                    cell["source"] = self.with_links(path, "".join(cell["source"]))
            self.write(path, json.dumps(notebook))
            return
        shown = EXPLORER_SHOWN if path == "docs/explorer.md" and EXPLORER.is_file() else ""
        self.write(path, self.with_links(path, text) + shown + self.below(path))

    def below(self, path):
        """The table of contents of a folder's README: its other pages, and the READMEs of folders below it."""
        if not path.endswith("/README.md") or path.startswith("docs/"):
            return ""
        folder = SOURCE / Path(path).parent
        found = sorted(folder.glob("*.md")) + sorted(file for file in folder.rglob("*/README.md") if self.owner(file) == folder)
        names = [str(file.relative_to(SOURCE)) for file in found]
        names = [name for name in names if name != path and name not in self.listed]
        for name in names:
            if name not in self.known:
                self.known.add(name)
                self.waiting.append(name)
        return generated.contents([os.path.relpath(name, folder.relative_to(SOURCE)) for name in names], hidden=True)

    @staticmethod
    def owner(readme):
        """The nearest folder above a README's own that has one too."""
        folder = readme.parent.parent
        while not (folder / "README.md").is_file():
            folder = folder.parent
        return folder

    def run(self, sections):
        self.listed = {page for section in sections for page in section["pages"]}
        while self.waiting:
            path = self.waiting.pop(0)
            if path not in generated.PAGES:
                self.page(path)
        for page in sorted((SOURCE / "docs").glob("**/*.md")) + sorted((SOURCE / "docs").glob("**/*.ipynb")):
            if str(page.relative_to(SOURCE)) not in self.listed:
                self.faults.append(f"{page.relative_to(SOURCE)} is in no section of scripts/site/sections.json")


def main(folder, program):
    folder = Path(folder).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    sections = json.loads((SOURCE / "scripts/site/sections.json").read_text(encoding="utf-8"))
    stage = Stage(folder, [page for section in sections for page in section["pages"]])
    stage.run(sections)
    home = stage.with_links("index.md", (SOURCE / "README.md").read_text(encoding="utf-8"))
    stage.run(sections)  # what only the README links to
    stage.write("index.md", home + generated.contents([section["title"].lower() + ".md" for section in sections], hidden=True))
    generated.write_pages(SOURCE, stage, program, importable=os.environ.get("SITE_PACKAGE") == "yes")
    for section in sections:
        stage.write(section["title"].lower() + ".md", generated.section(folder, section))
    for fault in stage.faults:
        print(f"stage.py: {fault}", file=sys.stderr)
    return 1 if stage.faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
