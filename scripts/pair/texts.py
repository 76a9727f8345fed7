"""Reads the texts on which the pair is trained, as documents: files of data/, made by scripts/setup.sh tasks."""

import pathlib
import re

HELD_OUT = 20  # one in this many documents is held out for evaluation
SHORTEST = 200  # characters; shorter documents are left out
STRETCH = 1000  # tokens per document, when novels are cut by a given target's tokens


class Source:
    """A text: its source, its licence, and its division into documents."""

    def __init__(self, name, file, title, licence, documents):
        self.name, self.file, self.title, self.licence, self.documents = name, file, title, licence, documents


def chapters(text):
    """The chapters of a novel. Each is a document, so that some can be held out."""
    return re.split(r"(?m)^(?=(?:CHAPTER|Chapter) [IVXLC0-9]+)", text)


def pages(text):
    return text.split("\f\n")


def boost_headers(text):
    """Headers whose text says that they are under the Boost Software License."""
    return [page for page in pages(text) if "LICENSE_1_0" in page]


SOURCES = [
    Source("austen", "austen.txt", "six novels by Jane Austen (Debian package r-cran-janeaustenr)", "public domain", chapters),
    Source("help", "help_docs.txt", "LibreOffice help pages in English (Debian package libreoffice-help-en-us)",
           "MPL-2.0, in parts Apache-2.0", pages),
    Source("headers", "headers.txt", "every tenth C++ header of Boost 1.74 (Debian package libboost-dev)", "BSL-1.0",
           boost_headers),
]


def read(folder, source):
    """Reads a file. FileNotFoundError names the command that makes a missing file."""
    path = pathlib.Path(folder) / source.file
    if not path.exists():
        raise FileNotFoundError(f"{path} is not there; scripts/setup.sh tasks makes it")
    return path.read_text(encoding="utf-8")


def documents(folder):
    """{name: (training documents, held-out documents)}. Raises errors as `read`."""
    found = {}
    for source in SOURCES:
        kept = [text for text in source.documents(read(folder, source)) if len(text) >= SHORTEST]
        held = [text for i, text in enumerate(kept) if i % HELD_OUT == HELD_OUT // 2]
        found[source.name] = ([text for i, text in enumerate(kept) if i % HELD_OUT != HELD_OUT // 2], held)
    return found


def tenths(folder, source, encode):
    """(Training documents, held-out documents) in tokens; every tenth is held out, as with speclab's "hold_out": 10. Novels
    are cut into documents of 1,000 tokens. Raises errors as `read`."""
    text = read(folder, source)
    if source.documents is chapters:
        ids = encode(text)
        found = [ids[i:i + STRETCH] for i in range(0, len(ids), STRETCH)]
        kept = range(len(found))
    else:
        whole = [page for page in text.split("\f") if page.strip()]
        found = [encode(page) for page in whole]
        licensed = set(source.documents("\f\n".join(whole)))
        kept = {i for i, page in enumerate(whole) if page in licensed}
    return [found[i] for i in kept if i % 10 != 9], found[9::10]
