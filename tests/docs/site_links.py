#!/usr/bin/env python3
"""Finds links of a built site that lead to no file or anchor, and what its pages would load from other hosts. First plants one of each
in a copy of two pages, which must be found.

usage: site_links.py SITE     exit code 0; 1 with a list of faults; 77 if there is no site
"""

import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.anchors, self.loaded = [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors |= {values.get("id"), values.get("name")}
        found = [values[key] for key in ("href", "src") if values.get(key)]
        self.links += found
        if tag in ("script", "img", "iframe") or tag == "link" and values.get("rel") in ("stylesheet", "preload", "icon"):
            self.loaded += found


def faults_of(site):
    pages = {file: Page(file.read_text(encoding="utf-8")) for file in site.rglob("*.html") if file.relative_to(site).parts[0] != "_static"}
    for file, page in sorted(pages.items()):
        name = file.relative_to(site)
        for link in page.links:
            url = urlsplit(link)
            if url.scheme == "data":
                continue
            if url.scheme or url.netloc:
                if link in page.loaded:
                    yield f"{name} loads {link}"
                continue
            to = (file.parent / unquote(url.path)).resolve() if url.path else file
            if not to.exists():
                yield f"{name}: {link} leads to no file"
            elif url.fragment and to in pages and unquote(url.fragment) not in pages[to].anchors:
                yield f"{name}: {link} leads to no anchor"


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder).resolve()
        (site / "a.html").write_text('<h1 id="top">a</h1><a href="b.html">b</a><a href="b.html#two">two</a><a href="#top">top</a>')
        (site / "b.html").write_text('<h2 id="two">b</h2><a href="https://example.org/">elsewhere</a>')
        assert list(faults_of(site)) == []
        (site / "a.html").write_text('<a href="c.html">c</a><a href="b.html#three">three</a><img src="https://example.org/x.png">')
        assert [fault.rpartition(" ")[2] for fault in faults_of(site)] == ["file", "anchor", "https://example.org/x.png"]


def main(folder):
    self_test()
    site = Path(folder).resolve()
    if not (site / "index.html").exists():
        print(f"skipped: {site} has no site; scripts/site.sh builds it")
        return 77
    faults = sorted(set(faults_of(site)))
    print(*faults, f"{len(faults)} faults in {len(list(site.rglob('*.html')))} pages", sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
