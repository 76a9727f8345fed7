"""Pages of the site that no file of the repository holds: the references, the gallery and the start page of each section."""

import concurrent.futures
import json
import re
import subprocess
from pathlib import Path

import python_page

PAGES = ("docs/reference.md", "docs/python-reference.md", "docs/c-reference.md", "docs/gallery.md")
# Configs whose figures the gallery draws: each takes a few seconds.
DRAWN = ("paper/figure2", "paper/figure3", "paper/figure4", "paper/figure5", "first", "schedules_iid")


def contents(pages, hidden=False):
    if not pages:
        return ""
    return "\n\n```{toctree}\n" + ":hidden:\n" * hidden + ":maxdepth: 1\n\n" + "\n".join(pages) + "\n```\n"


def start_of(page):
    """The title of a staged page and the first sentence below it, without links."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".ipynb":
        text = next("".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown")
    _, _, text = text.partition("# ")
    title, _, rest = text.partition("\n")
    paragraph = " ".join(re.split(r"\n\s*\n|\n- |\n```", rest.strip())[0].split())
    paragraph = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", paragraph)
    sentence = re.match(r".*?[.:](?= [A-Z`]|$)", paragraph)
    return title, sentence[0].rstrip(":.") + "." if sentence and not paragraph.startswith(("|", "!")) else ""


def section(folder, entry):
    """The start page of a section: its pages, each with its first sentence."""
    lines = [f"# {entry['title']}", entry["about"], ""]
    for name in entry["pages"]:
        title, sentence = start_of(folder / name)
        lines.append(f"- [{title}]({name}): {sentence}" if sentence else f"- [{title}]({name})")
    return "\n".join(lines) + contents(entry["pages"], hidden=True)


def declarations(header):
    """The comments of a C header that stand before a declaration, each with the declaration."""
    for found in re.finditer(r"^/\*((?:(?!\*/).)*)\*/\n(?=#define SPECLAB_KERNELS_VERSION|typedef|enum|SPECLAB_API)"
                             r"(#define[^\n]*|(?:typedef[^\n]*\{|enum \{\n).*?^\}[^\n]*;|enum \{[^\n]*\};|.*?;\n(?=\n)|[^\n]*;)",
                             header, re.MULTILINE | re.DOTALL):
        comment = re.sub(r"\n \* ?", "\n", found[1]).strip()
        yield comment, re.sub(r"SPECLAB_API ", "", found[2]).strip()


def c_reference(source):
    header = (source / "kernels/speclab_kernels.h").read_text(encoding="utf-8")
    kinds = {"Functions": [], "Structures": [], "Constants": []}
    for comment, code in declarations(header):
        names = re.findall(r"\b(speclab_\w+)\(|^\} (speclab_\w+);|#define (\w+)", code, re.MULTILINE)
        name = ", ".join(f"`{''.join(found)}`" for found in names) or comment.partition(".")[0].split(":")[0]
        kind = "Functions" if "(" in code and "{" not in code else "Structures" if code.startswith("typedef struct") else "Constants"
        kinds[kind].append(f"### {name}\n{comment}\n\n```c\n{code}\n```\n")
    text = ["# C interface of the kernels", "`kernels/speclab_kernels.h` declares these functions and structures. [Verification on a GPU](gpu.md#from-c) has an "
            "example.\n"]
    for kind, entries in kinds.items():
        text += [f"## {kind}\n", *entries]
    return "\n".join(text)


def drawn(source, folder, program):
    """Runs the configs of the gallery, and returns the figures of each."""
    def run(name):
        out = folder / "docs/gallery" / Path(name).name
        config = json.loads((source / f"configs/{name}.json").read_text(encoding="utf-8"))
        subprocess.run([program, "run", f"configs/{name}.json", "-q", "--out", out], cwd=source, check=True, stdout=subprocess.DEVNULL)
        return name, config["title"], sorted(out.glob("*.svg"))

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(run, DRAWN))


def gallery(source, stage, program):
    lines = ["# Gallery", "Every figure of these pages, and some that the program draws. Each leads to its page or names its command.", ""]
    for path, (alternative, page) in sorted(stage.pictures.items()):
        shown = "../index.md" if page in ("README.md", "index.md") else f"../{page}"
        lines += [f"![{alternative}](../{path})\n", f"{alternative}. [The page]({shown})\n"]
    for name, title, figures in drawn(source, stage.folder, program):
        lines += [f"## {title}\n", f"`speclab run configs/{name}.json`\n"]
        for figure in figures:
            label = re.search(r'aria-label="([^"]*)"', figure.read_text(encoding="utf-8"))[1]
            lines.append(f"![{label}](gallery/{figure.parent.name}/{figure.name})\n")
    return "\n".join(lines)


def write_pages(source, stage, program, importable):
    reference = subprocess.run([program, "list", "--markdown"], capture_output=True, text=True, check=True).stdout
    stage.write("docs/reference.md", stage.with_links("docs/reference.md", reference))
    stage.write("docs/python-reference.md", python_page.page(importable))
    stage.write("docs/c-reference.md", c_reference(source))
    stage.write("docs/gallery.md", gallery(source, stage, program))
