"""Draws docs/floors.svg: the groups of folders ("doors") of the sources, their layers ("floors"), and the includes between them as arrows.
Arrows that follow from others are left out.

usage: draw_floors.py [--check] [ROOT]     --check: exit code 1 when the drawing is stale."""

import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
WIDTH, BOX, HEIGHT, ROW = 940, 124, 30, 72
# The groups, with the colours of their layers.
DOORS = {"laboratory": ("#e8f0fa", "#36c"), "kernels": ("#fdeede", "#b60"), "serving": ("#e8f5e9", "#287a3a")}


def floor_of(path):
    """The box of a file in the drawing; empty for a file without one, such as main.cpp."""
    top, *rest = path.split("/")
    if top in {"core", "sim", "analysis"}:
        return top
    if top == "kernels":
        return "kernels/lab" if rest[0] == "lab" else top
    return f"{top}/{rest[0]}" if top in {"experiments", "serving"} and len(rest) > 1 else ""


def door_of(floor):
    return next((door for door in DOORS if floor.startswith(door)), "laboratory")


def includes(root):
    """For each layer the layers that its files include."""
    below = {}
    for top in ("core", "sim", "analysis", "kernels", "experiments", "serving"):
        for file in sorted((root / top).rglob("*.?pp")):
            floor = floor_of(file.relative_to(root).as_posix())
            if floor:
                found = {floor_of(name) for name in INCLUDE.findall(file.read_text(encoding="utf-8"))}
                below.setdefault(floor, set()).update(found - {floor, ""})
    return below


def reaches(below, start):
    seen, left = set(), list(below[start])
    while left:
        name = left.pop()
        if name not in seen:
            seen.add(name)
            left += below[name]
    return seen


def levels(below):
    """The number of layers below each layer. A cycle of includes is an error."""
    circle = sorted(name for name in below if name in reaches(below, name))
    if circle:
        sys.exit(f"a circle of includes through {', '.join(circle)}")
    known = {}

    def level(name):
        if name not in known:
            known[name] = 1 + max((level(one) for one in below[name]), default=-1)
        return known[name]

    return {name: level(name) for name in below}


def drawing(below):
    level = levels(below)
    top = max(level.values())
    at = {}
    for row in range(top + 1):
        names = sorted((name for name in level if level[name] == row), key=lambda name: ([*DOORS].index(door_of(name)), name))
        for place, name in enumerate(names):
            at[name] = (round(WIDTH * (place + 0.5) / len(names)), 24 + (top - row) * ROW)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {24 + top * ROW + HEIGHT + 24}" font-family="sans-serif" '
           'font-size="14" role="img" aria-label="The floors of the three doors and what they include">',
           '<defs><marker id="end" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
           '<path d="M0 0 8 4 0 8z" fill="#666"/></marker></defs>', '<rect width="100%" height="100%" fill="#fff"/>']
    for name in sorted(below):
        follows = {other for one in below[name] for other in reaches(below, one)}
        for one in sorted(below[name] - follows):
            (x, y), (to_x, to_y) = at[name], at[one]
            out.append(f'<path d="M{x} {y + HEIGHT} {to_x} {to_y}" stroke="#666" fill="none" marker-end="url(#end)"/>')
    for name, (x, y) in sorted(at.items()):
        fill, stroke = DOORS[door_of(name)]
        out.append(f'<rect x="{x - BOX // 2}" y="{y}" width="{BOX}" height="{HEIGHT}" rx="4" fill="{fill}" stroke="{stroke}"/>'
                   f'<text x="{x}" y="{y + 20}" text-anchor="middle" fill="#111">{name.removeprefix("experiments/")}</text>')
    return "\n".join([*out, "</svg>", ""])


def main():
    words = [word for word in sys.argv[1:] if word != "--check"]
    root = pathlib.Path(words[0]) if words else pathlib.Path(__file__).resolve().parent.parent
    file = root / "docs" / "floors.svg"
    made = drawing(includes(root))
    if "--check" in sys.argv:
        if not file.exists() or file.read_text(encoding="utf-8") != made:
            sys.exit("docs/floors.svg is stale: python3 scripts/draw_floors.py")
        return
    file.write_text(made, encoding="utf-8")


main()
