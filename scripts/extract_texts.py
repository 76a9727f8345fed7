#!/usr/bin/env python3
"""Makes texts for experiments out of Debian packages. The same package versions give the same bytes.

usage: extract_texts.py help EN_ROOT DE_ROOT OUT_EN OUT_DE OUT_DOCS
       extract_texts.py headers INCLUDE_FOLDER OUT
       extract_texts.py descriptions LISTS_FOLDER OUT

help: the unpacked packages libreoffice-help-en-us and -de. Paragraphs and headings with the same file name and id
translate one another; line i of OUT_EN and line i of OUT_DE are such a pair. Pairs that are empty, the same in both
languages or seen before are left out. OUT_DOCS holds the English pages as running text, a paragraph a line.
headers: every STRIDE-th C++ header below a folder, by path, among those written by people: repetitive headers of
Boost.Preprocessor, and those made by it, are left out.
descriptions: the long description of every STRIDE-th package by name, a line "%%%%", and its short description; from
Translation-en files of apt. Packages with the description of an earlier one are left out.

Documents are separated by lines of one form feed. Files are UTF-8.
"""

import glob
import html.parser
import os
import sys

from of_package.whole_file import one_line, whole_file

HEADER_STRIDE = 10
DESCRIPTION_STRIDE = 4
SEPARATOR = "\f\n"
BLOCKS = {"p", "h1", "h2", "h3", "h4", "h5", "h6"}
OTHER_SYSTEMS = {"MAC", "UNIX", "WIN"}  # alternatives to the text for everybody else
VOID = {"a", "base", "br", "hr", "img", "input", "link", "meta"}  # also "a", which is only used as an anchor


class Page(html.parser.HTMLParser):
    """The paragraphs and headings of one page, in order, as (id or None, text)."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.blocks = []
        self._open = None
        self._hidden = 0  # depth inside elements that are left out
        self._inside = False  # depth inside the page's content, without navigation
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if attributes.get("id") == "DisplayArea":
            self._inside = True
        if self._hidden:
            self._hidden += tag not in VOID
        elif tag in ("script", "style") or attributes.get("id") == "DEBUG" or attributes.get("class") in OTHER_SYSTEMS:
            self._hidden = 1
        elif tag in BLOCKS and self._inside:
            self._open = (attributes.get("id"), [])
        elif tag == "br":
            self.handle_data(" ")

    def handle_endtag(self, tag):
        if self._hidden:
            self._hidden -= tag not in VOID
        elif tag in BLOCKS and self._open:
            text = " ".join("".join(self._open[1]).split())
            if text:
                self.blocks.append((self._open[0], text))
            self._open = None

    def handle_data(self, data):
        if self._open and not self._hidden:
            self._open[1].append(data)


def write(target, parts):
    with whole_file(target) as file:
        file.writelines(parts)
    print(f"{target}: {os.path.getsize(target)} bytes")


def write_documents(target, documents):
    write(target, (("" if i == 0 else SEPARATOR) + document for i, document in enumerate(documents)))


def files_below(folder, ending):
    """Paths relative to the folder, in ascending order."""
    found = []
    for path, _, names in os.walk(folder):
        found += [os.path.relpath(os.path.join(path, name), folder) for name in names if name.endswith(ending)]
    return sorted(found)


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def help_texts(english_root, german_root, english_out, german_out, docs_out):
    english_root, german_root = (os.path.join(root, "usr/share/libreoffice/help", language, "text")
                                 for root, language in ((english_root, "en-US"), (german_root, "de")))
    pairs = {}  # a dictionary keeps the order and drops pairs seen before
    documents = []
    for path in files_below(english_root, ".html"):
        english = Page(read(os.path.join(english_root, path))).blocks
        if english:
            documents.append("".join(text + "\n" for _, text in english))
        translated = os.path.join(german_root, path)
        german = dict(Page(read(translated)).blocks) if os.path.exists(translated) else {}
        for name, text in english:
            translation = german.get(name) if name else None
            if translation and translation != text:
                pairs[text, translation] = None
    if not pairs:
        raise ValueError(f"{english_root} and {german_root} have no paragraphs in common")
    write(english_out, (english + "\n" for english, _ in pairs))
    write(german_out, (german + "\n" for _, german in pairs))
    write_documents(docs_out, documents)


def headers(folder, out):
    paths = [path for path in files_below(folder, ".hpp") if "preprocess" not in path][::HEADER_STRIDE]
    if not paths:
        raise ValueError(f"{folder} has no headers")
    texts = (read(os.path.join(folder, path)).replace("\f", " ") for path in paths)
    write_documents(out, (text if text.endswith("\n") else text + "\n" for text in texts if text.strip()))


def descriptions(folder, out):
    described = {}
    for path in sorted(glob.glob(os.path.join(folder, "*_debian_dists_*_main_i18n_Translation-en"))):
        for entry in read(path).split("\n\n"):
            lines = entry.strip("\n").split("\n")
            if len(lines) < 4 or not lines[2].startswith("Description-en: "):
                continue
            short = lines[2].split(": ", 1)[1]
            long = "\n".join("" if line == " ." else line[1:] for line in lines[3:])
            described.setdefault(lines[0], f"{long}\n%%%%\n{short}\n")
    if not described:
        raise ValueError(f"{folder} has no Translation-en of Debian")
    distinct = dict.fromkeys(described[name] for name in sorted(described))
    write_documents(out, list(distinct)[::DESCRIPTION_STRIDE])


def main():
    makers = {"help": (help_texts, 5), "headers": (headers, 2), "descriptions": (descriptions, 2)}
    maker, count = makers.get(sys.argv[1] if len(sys.argv) > 1 else "", (None, 0))
    if maker is None or len(sys.argv) != 2 + count:
        sys.exit(__doc__.split("\n\n")[1])
    with one_line():
        maker(*sys.argv[2:])


if __name__ == "__main__":
    main()
