"""What `speclab plot` runs. Standard input: a line of JSON (the request, and how long the tables are), then the tables.
Standard output: a line of JSON (an error, or how long the pictures are, and notes), then the pictures."""

from __future__ import annotations

import gc
import json
import sys
from typing import Any

from .figure import Panel, panel_of
from .plan import FORMULA_AND_SIMULATION, KINDS, Request, panels_of
from .table import Refusal, joined, number, read_table


def words_of(option: str, text: str) -> list[str]:
    words = [word.strip() for word in text.split(",")] if text else []
    if "" in words:
        raise Refusal(f"{option} {text}: a name is empty")
    return words


def one_of(option: str, word: str, known: tuple[str, ...]) -> str:
    if word not in known:
        raise Refusal(f"{option} {word}: expected {', '.join(known)}")
    return word


def request_of(options: dict[str, Any]) -> Request:
    conditions = []
    for condition in options.get("where", []):
        name, equals, value = condition.partition("=")
        if not name or not equals:
            raise Refusal(f"--where {condition}: expected NAME=VALUE, such as c=0.05")
        conditions.append((name, value))
    kind = one_of("--kind", options["kind"], KINDS) if "kind" in options else None
    log: set[str] = set()
    for axis in words_of("--log", options["log"]):
        log |= {"x", "y"} if one_of("--log", axis, ("x", "y", "xy", "color")) == "xy" else {axis}
    names = [words_of(f"--{option}", options.get(option, "")) for option in ("color", "facet")]
    return Request(options.get("x"), options.get("y"), *names, conditions, kind, log)


def size_of(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    sides = [number(side) for side in text.split("x")]
    if len(sides) != 2 or not all(side is not None and 20 <= side <= 1000 for side in sides):
        raise Refusal(f"--size {text}: expected WIDTHxHEIGHT in mm, 20 to 1000, such as 85x60")
    return sides[0], sides[1]  # type: ignore[return-value]


def pictures_of(asked: dict[str, Any], read: Any) -> list[list[Panel]]:
    """The panels of each picture."""
    request = request_of(asked["options"])
    if asked["figures"]:
        panels = [panel_of(figure, note=FORMULA_AND_SIMULATION) for figure in asked["figures"]]
        for panel in panels:
            panel.log_x = panel.log_x or ("x" in request.log and not panel.categories)
            panel.log_y = panel.log_y or "y" in request.log
        return [[panel] for panel in panels]
    tables = [(one["name"], read_table(read(one["bytes"]), one["file"])) for one in asked["tables"]]
    if asked["no_figure"] and tables[0][1].size < 2:
        raise Refusal(f"{asked['tables'][0]['file']}: its page has no figure to draw; a choice of columns needs several rows")
    try:
        return [panels_of(joined(tables), request, asked["words"]["labels"])]
    except Refusal as problem:
        raise Refusal(f"{', '.join(one['file'] for one in asked['tables'])}: {problem}") from None


def answer(asked: dict[str, Any], read: Any) -> tuple[list[bytes], list[str]]:
    """The pictures, and notes."""
    options, words = asked["options"], asked["words"]
    theme = one_of("--theme", options["theme"], ("paper", "screen"))
    size = size_of(options.get("size"))
    panels = pictures_of(asked, read)
    try:
        import matplotlib
    except ImportError as problem:
        why = f"{sys.executable} has no matplotlib ({problem}); on Debian: apt install python3-matplotlib"
        raise Refusal(f"cannot draw: {why}; --python names another Python") from None
    if matplotlib.__version_info__ < (3, 6):
        why = f"{sys.executable} has matplotlib {matplotlib.__version__}; 3.6 or later is needed"
        raise Refusal(f"cannot draw: {why}; --python names another Python")
    from .picture import Picture, drawn

    picture = Picture(options["format"], theme, size, options["title"], asked["intervals"], words["palette"], words["colours"])
    pictures, notes = zip(*(drawn(one, picture) for one in panels))
    return list(pictures), list(dict.fromkeys(note for one in notes for note in one))


def main() -> None:
    gc.disable()  # nothing is let go of before the end: a million rows are read twice as fast
    asked = json.loads(sys.stdin.buffer.readline())
    pictures: list[bytes] = []
    try:
        pictures, notes = answer(asked, sys.stdin.buffer.read)
        head: dict[str, Any] = {"pictures": list(map(len, pictures)), "notes": notes}
    except Refusal as problem:
        head = {"error": str(problem)}
    sys.stdout.buffer.write(b"".join([json.dumps(head).encode(), b"\n", *pictures]))


if __name__ == "__main__":
    main()
