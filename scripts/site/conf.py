"""Sphinx over the folder that stage.py makes. The pages load nothing from other hosts."""

import os
import re
from pathlib import Path

source = Path(__file__).resolve().parents[2]
project = "speclab"
author = "speclab contributors"
version = release = re.search(r"project\(speclab VERSION ([\d.]+)", (source / "CMakeLists.txt").read_text())[1]
package = os.environ.get("SITE_PACKAGE") == "yes"  # site.sh found that the Python package can be imported

extensions = ["myst_nb", "sphinx_copybutton"] + ["sphinx.ext.autodoc", "sphinx.ext.napoleon"] * package
root_doc = "index"
exclude_patterns = ["configs/**/*.json"]
myst_heading_anchors = 6  # the anchors that links between the repository's pages use
suppress_warnings = ["toc.not_included"]
nb_execution_mode = "force" if package else "off"
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True
default_role = "code"  # of docstrings, which put code between single back-quotes
autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_use_ivar = True
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = f"speclab {version}"
html_static_path = [str(Path(__file__).parent / "static")]
html_css_files = ["site.css"]
html_extra_path = [str(file) for file in [source / "build/explorer/explorer.html"] if file.is_file()]
html_search_scorer = str(Path(__file__).with_name("scorer.js"))
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
copyright = "speclab contributors, Apache-2.0"


# A screen reader needs a name for each toggle of the navigation, and must not read the empty corner of a table as a heading. The theme and pandas give neither.
REPAIRS = [
    (re.compile(r'<summary>(?=<span class="toctree-toggle")'), '<summary aria-label="Pages of this part">'),
    (re.compile(r"<th(?: [^>]*)?>(?:<p></p>)?\s*</th>"), "<td></td>"),
]


def repair_pages(app, _):
    for page in Path(app.outdir).rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        for fault, remedy in REPAIRS:
            text = fault.sub(remedy, text)
        page.write_text(text, encoding="utf-8")


def setup(app):
    app.connect("build-finished", repair_pages)
