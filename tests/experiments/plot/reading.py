"""Shared by the tests of this folder: reads a picture back from its SVG as a person would, by the numbers beside the axes'
ticks."""

import math
import os
import re
import sys
import xml.etree.ElementTree as ElementTree

SPECLAB, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
sys.path.append(os.path.join(SOURCE, "python/speclab"))
try:
    import matplotlib  # noqa: F401
except ImportError:
    print("skipped: no matplotlib (apt install python3-matplotlib)")
    sys.exit(77)

from _plots.picture import Picture, drawn  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"
LINK = "{http://www.w3.org/1999/xlink}href"
PALETTE = ["#0072b2", "#d55e00", "#008a64", "#b8578f", "#a87200", "#2b8cc4"]
#: The tolerance, as a share of the length of an axis: an SVG has six decimals, and ticks have six digits.
TOLERANCE = 1e-5
checks = 0


def require(holds, *what):
    global checks
    checks += 1
    if not holds:
        raise AssertionError(" ".join(map(str, what)))


def picture(panel, **options):
    return drawn(panel, Picture(palette=PALETTE, **options))[0]


def coordinates(path):
    """Returns the corners of a path of straight lines."""
    return [(float(x), float(y)) for x, y in re.findall(r"[ML] (\S+) (\S+)", path)]


class Drawing:
    """An SVG file, in the numbers of its axes; of an axis of names, in units of the file."""

    def __init__(self, text, log="", names=""):
        self.root = ElementTree.fromstring(text)
        groups = [group for group in self.root.iter(f"{SVG}g") if group.get("id")]
        self.groups = {group.get("id"): group for group in groups}
        require(len(self.groups) == len(groups), "a name is given twice")
        self.x = self.y = float
        if names != "x":
            self.x, self.x_length = self._scale("matplotlib.axis_1", "x", "x" in log)
        if names != "y":
            self.y, self.y_length = self._scale("matplotlib.axis_2", "y", "y" in log)
        self.texts = ["".join(text.itertext()) for text in self.root.iter(f"{SVG}text")]

    def _scale(self, name, side, log):
        """Returns a function from a place to a value, from the first and the last tick with a number, and the axis' length."""
        ticks = []
        for tick in self.groups[name].findall(f"{SVG}g"):
            mark, label = tick.find(f".//{SVG}use[@y]"), tick.find(f".//{SVG}text")
            if mark is None or label is None:
                continue
            text = "".join(label.itertext()).replace("−", "-")
            power = re.fullmatch(r"(?:(-?[\d.]+)·)?10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", text)
            if power:
                text = f"{power[1] or 1}e{power[2].translate(str.maketrans('⁻⁰¹²³⁴⁵⁶⁷⁸⁹', '-0123456789'))}"
            ticks.append((float(mark.get(side)), float(text)))
        require(len(ticks) > 1, "ticks at", name, len(ticks))
        (a, first), (b, last) = min(ticks), max(ticks)
        forth, back = (math.log, math.exp) if log else (float, float)
        slope = (forth(last) - forth(first)) / (b - a)
        for place, value in ticks:
            require(abs(forth(first) + slope * (place - a) - forth(value)) < abs(slope), "a number beside the wrong place:", value)
        (ends,) = (coordinates(patch.find(f"{SVG}path").get("d")) for patch in [self.groups["patch_2"]])
        places = [end[side == "y"] for end in ends]
        length = abs(slope) * (max(places) - min(places))
        return (lambda place: back(forth(first) + slope * (place - a))), (lambda x, y: abs(forth(x) - forth(y)) / length)

    def markers(self, id):
        return [(self.x(float(use.get("x"))), self.y(float(use.get("y")))) for use in self.groups[id].iter(f"{SVG}use")]

    def paths(self, id):
        group = self.groups[id]
        named = {"#" + path.get("id"): coordinates(path.get("d")) for path in group.iter(f"{SVG}path") if path.get("id")}
        found = [coordinates(path.get("d")) for path in group.iter(f"{SVG}path") if not path.get("id")]
        for use in group.iter(f"{SVG}use"):
            found.append([(float(use.get("x")) + x, float(use.get("y")) + y) for x, y in named[use.get(LINK)]])
        return [[(self.x(x), self.y(y)) for x, y in path] for path in found]

    def near(self, found, wanted):
        return self.x_length(found[0], wanted[0]) < TOLERANCE and self.y_length(found[1], wanted[1]) < TOLERANCE

    def require_points(self, found, wanted, what):
        require(len(found) == len(wanted), what, ":", len(found), "of", len(wanted))
        for one, other in zip(sorted(found), sorted(wanted)):
            require(self.near(one, other), what, ":", one, "instead of", other)


def run(tests):
    """Runs the tests of a module, given by name."""
    for name, test in list(tests.items()):
        if name.startswith("test_"):
            test()
            print(f"{name}: ok")
    print(f"{checks} checks")
