"""Builds the page for the tests. Exits with 77 and a reason if something is missing."""
import pathlib
import shutil
import subprocess
import sys


def skip(what):
    print(f"skipped: {what}")
    sys.exit(77)


def built_page(source, folder):
    """explorer.html in `folder`, built if a source is newer."""
    if shutil.which("em++") is None:
        skip("em++ is missing (scripts/setup.sh explorer)")
    page = pathlib.Path(folder) / "explorer.html"
    if not (source / "data" / "austen.txt").exists():
        skip("data/austen.txt is missing (scripts/setup.sh explorer)")
    tops = ("explorer", "core", "analysis", "sim", "experiments/base/format", "experiments/catalog/rules", "serving/advisor", "experiments/recording", "experiments/base/support",
            "configs/paper/table2-4.json", "configs/recorded", "scripts/build_explorer.sh", "scripts/bundle_explorer.py", "scripts/of_package", "scripts/pair/bpe.py", "python/speclab/_gguf",
            "configs/neural/target.gguf")
    sources = [path for top in map(source.joinpath, tops) for path in ([top] if top.is_file() else top.rglob("*"))
               if path.is_file() and path.suffix != ".md"]
    newest = max(path.stat().st_mtime for path in sources)
    if not page.exists() or page.stat().st_mtime < newest:
        subprocess.run([source / "scripts" / "build_explorer.sh", folder], check=True)
    return page
