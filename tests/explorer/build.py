"""The built page, for the tests; exit 77 names what is missing."""
import pathlib
import shutil
import subprocess
import sys


def skip(what):
    print(f"skipped: {what}")
    sys.exit(77)


def built_page(source, folder):
    """explorer.html in `folder`, built when a source is newer."""
    if shutil.which("em++") is None:
        skip("em++ is missing (scripts/setup.sh explorer)")
    page = pathlib.Path(folder) / "explorer.html"
    sources = [path for top in ("explorer", "core", "analysis", "scripts/build_explorer.sh", "scripts/bundle_explorer.py")
               for path in ([source / top] if (source / top).is_file() else (source / top).rglob("*"))
               if path.is_file() and path.suffix not in (".md",)]
    newest = max(path.stat().st_mtime for path in sources)
    if not page.exists() or page.stat().st_mtime < newest:
        subprocess.run([source / "scripts" / "build_explorer.sh", folder], check=True)
    return page
