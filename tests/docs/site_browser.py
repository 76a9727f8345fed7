#!/usr/bin/env python3
"""Opens every page of a built site in Chromium, at 1,280 and 390 pixels and in both themes. axe-core must find no violation, no page may be
wider than the window or ask another host, and each search term must find its page. First plants faults in a copy of a page, which must be found.

usage: site_browser.py SITE [SCREENSHOTS [PAGE...]]     exit code 0; 1 with a list of faults; 77: skipped
Needs Debian's chromium, and Playwright and axe-playwright-python of PyPI, whose axe.min.js runs in the page.
"""

import functools
import http.server
import shutil
import sys
import tempfile
import threading
from pathlib import Path

try:
    import axe_playwright_python
    from playwright.sync_api import sync_playwright
except ImportError as problem:
    print(f"skipped: {problem} (pip install -r tests/docs/requirements.txt)")
    sys.exit(77)

AXE = (Path(axe_playwright_python.__file__).with_name("axe.min.js")).read_text(encoding="utf-8")
VIOLATIONS = """() => axe.run({resultTypes: ['violations']}).then(found => found.violations.flatMap(
  rule => rule.nodes.map(node => `${rule.id}: ${node.target.join(' ')}`)))"""
# The page that each term must find among the first three.
SEARCHES = {
    "lossless": "docs/losslessness.html",
    "gumbel": "docs/reference.html",
    "temperature 0": "docs/temperature-zero.html",
    "vLLM": "results/engines/vllm.html",
    "shards": "docs/shards.html",
    "recording": "docs/recordings.html",
    "explorer": "docs/explorer.html",
    "acceptance rate": "docs/acceptance-metrics.html",
    "speclab.prove": "docs/python-reference.html",
    "glossary": "docs/glossary.html",
    "serving": "docs/serving.html",
    "neural": "docs/neural.html",
}


def served(folder):
    """Serves a folder on the loopback address, and returns its URL."""
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/"


def page_faults(tab, url, name, width):
    asked = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(url + name)
    tab.evaluate(AXE)
    faults = tab.evaluate(VIOLATIONS)
    wide = tab.evaluate("document.scrollingElement.scrollWidth")
    if wide > width:
        faults.append(f"is {wide} pixels wide")
    return faults + [f"asks {other}" for other in asked if not other.startswith((url, "data:", "blob:"))]


def faults_of(browser, site, pages, shots=None, shown=()):
    url = served(site)
    for width in (1280, 390):
        for theme in ("light", "dark"):
            context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme)
            for name in pages:
                tab = context.new_page()
                for fault in page_faults(tab, url, name, width):
                    yield f"{name}, {width} pixels, {theme}: {fault}"
                if shots and (not shown or name in shown):
                    tab.screenshot(path=shots / f"{name.replace('/', '-')}-{width}-{theme}.png", full_page=True)
                tab.close()
            context.close()


def search_faults(browser, site):
    url = served(site)
    tab = browser.new_page()
    for term, page in SEARCHES.items():
        tab.goto(f"{url}search.html?q={term}")
        tab.wait_for_selector("ul.search li a")
        tab.wait_for_function("!document.querySelector('#search-progress')?.innerText.endsWith('...')")
        found = tab.eval_on_selector_all("ul.search > li > a", "links => links.map(link => link.href)")
        found = list(dict.fromkeys(link.removeprefix(url).partition("#")[0].partition("?")[0] for link in found))[:3]
        if page not in found:
            yield f"the search for {term} does not find {page} but {', '.join(found) or 'nothing'}"


def self_test(browser):
    with tempfile.TemporaryDirectory() as folder:
        good = "<!doctype html><html lang=en><title>a</title><main><h1>a</h1><p>text</p></main></html>"
        (Path(folder) / "a.html").write_text(good)
        assert not list(faults_of(browser, folder, ["a.html"]))
        bad = good.replace("<p>", "<p style='color: #bbb; background: #fff; width: 1500px'>").replace("</main>", "<img src='a.png'></main>")
        (Path(folder) / "a.html").write_text(bad)
        found = " ".join(faults_of(browser, folder, ["a.html"]))
        assert all(rule in found for rule in ("color-contrast: p", "image-alt: img", "pixels wide")), found


def main(site, shots=None, *shown):
    site = Path(site).resolve()
    chromium = shutil.which("chromium")
    if chromium is None or not (site / "index.html").exists():
        print(f"skipped: {'no chromium (scripts/setup.sh test)' if chromium is None else f'{site} has no site; scripts/site.sh builds it'}")
        return 77
    pages = sorted(str(file.relative_to(site)) for file in site.rglob("*.html") if file.relative_to(site).parts[0] not in ("_static", "explorer.html"))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        self_test(browser)
        faults = [*faults_of(browser, site, pages, shots and Path(shots), shown), *search_faults(browser, site)]
        browser.close()
    print(*faults, f"{len(faults)} faults in {len(pages)} pages, {len(SEARCHES)} searches", sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
