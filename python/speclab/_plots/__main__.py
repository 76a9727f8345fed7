"""The program that `speclab plot` runs. Standard input: JSON, the request with its figures. Standard output: a line of JSON
(an error, or the lengths of the pictures, and notes), then the pictures."""

from __future__ import annotations

import json
import sys
from typing import Any

from .figure import Refusal, panel_of


def size_of(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        width, height = map(float, text.split("x"))
    except ValueError:
        width = height = 0
    if not (20 <= width <= 1000 and 20 <= height <= 1000):
        raise Refusal(f"--size {text}: expected WIDTHxHEIGHT in mm, 20 to 1000, such as 85x60")
    return width, height


def answer(asked: dict[str, Any]) -> tuple[list[bytes], list[str]]:
    """The pictures, and notes."""
    size = size_of(asked["size"])
    try:
        import matplotlib
    except ImportError as problem:
        installs = "apt install python3-matplotlib" if sys.executable == "/usr/bin/python3" else "pip install matplotlib"
        why = f"{sys.executable} has no matplotlib ({problem}): {installs}"
        raise Refusal(f"cannot draw: {why}; --python names another Python") from None
    if matplotlib.__version_info__ < (3, 6):
        why = f"{sys.executable} has matplotlib {matplotlib.__version__}; 3.6 or later is needed"
        raise Refusal(f"cannot draw: {why}; --python names another Python")
    from .picture import Picture, drawn

    words = asked["words"]
    picture = Picture(asked["format"], size, asked["intervals"], words["palette"], words["colours"], asked["partial"])
    pictures, notes = zip(*(drawn(panel_of(figure), picture) for figure in asked["figures"]))
    return list(pictures), list(dict.fromkeys(note for one in notes for note in one))


def main() -> None:
    pictures: list[bytes] = []
    try:
        pictures, notes = answer(json.load(sys.stdin.buffer))
        head: dict[str, Any] = {"pictures": list(map(len, pictures)), "notes": notes}
    except Refusal as problem:
        head = {"error": str(problem)}
    sys.stdout.buffer.write(b"".join([json.dumps(head).encode(), b"\n", *pictures]))


if __name__ == "__main__":
    main()
