"""The texts that the pair is trained on, in documents: files of data/, made by scripts/setup.sh tasks."""

import pathlib
import re

HELD_OUT = 20  # one document in so many is kept for evaluation
SHORTEST = 200  # characters; shorter documents are left out


class Source:
    """A text: where it comes from, under which licence, and how it falls into documents."""

    def __init__(self, name, file, title, licence, documents):
        self.name, self.file, self.title, self.licence, self.documents = name, file, title, licence, documents


def chapters(text):
    """A novel's chapters: its own documents, so that some can be held out."""
    return re.split(r"(?m)^(?=(?:CHAPTER|Chapter) [IVXLC0-9]+)", text)


def pages(text):
    return text.split("\f\n")


def boost_headers(text):
    """Headers that say themselves that they are under the Boost Software License."""
    return [page for page in pages(text) if "LICENSE_1_0" in page]


SOURCES = [
    Source("austen", "austen.txt", "six novels by Jane Austen (Debian package r-cran-janeaustenr)", "public domain", chapters),
    Source("help", "help_docs.txt", "LibreOffice help pages in English (Debian package libreoffice-help-en-us)",
           "MPL-2.0, in parts Apache-2.0", pages),
    Source("headers", "headers.txt", "every tenth C++ header of Boost 1.74 (Debian package libboost-dev)", "BSL-1.0",
           boost_headers),
]


def documents(folder):
    """{name: (training documents, held-out documents)}; FileNotFoundError names what makes a missing file."""
    found = {}
    for source in SOURCES:
        path = pathlib.Path(folder) / source.file
        if not path.exists():
            raise FileNotFoundError(f"{path} is not there; scripts/setup.sh tasks makes it")
        kept = [text for text in source.documents(path.read_text(encoding="utf-8")) if len(text) >= SHORTEST]
        held = [text for i, text in enumerate(kept) if i % HELD_OUT == HELD_OUT // 2]
        found[source.name] = ([text for i, text in enumerate(kept) if i % HELD_OUT != HELD_OUT // 2], held)
    return found
