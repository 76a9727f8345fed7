"""Reads, compares and rewrites the commands and printed outputs in Markdown pages.

A page has two kinds of fenced blocks that hold commands:

```console              commands after "$ ", each followed by what it prints, exactly. A line "..." stands for one or
                        more lines that are left out; a line that ends in " ..." is cut there. A command may end with
                        an exit code other than 0 only where the next command is "echo $?".
```console timing       the same, but numbers, widths of columns and units of time may differ.
```console long         the same, but the commands take long and run only with --long; otherwise they are checked like those of sh.
```sh                   commands that a test does not run, each with a comment that says how long it takes or what it
                        needs. Configs that they change by --set are validated, in a block "sh long" only with --long.
"""

import difflib
import os
import re
from dataclasses import dataclass, field

LEFT_OUT = "..."
CUT = " ..."
LONGEST = 190  # characters; longer lines are cut when they are written into a page


@dataclass
class Command:
    text: str
    line: int
    expected: list = field(default_factory=list)


@dataclass
class Block:
    language: str
    marks: list  # of a console block: "timing", "long"
    first: int  # index of the line after the opening fence
    end: int  # index of the closing fence
    commands: list

    @property
    def timing(self):
        return "timing" in self.marks


def console_commands(lines, first):
    commands = []
    for offset, line in enumerate(lines):
        continued = commands and not commands[-1].expected and commands[-1].text.endswith("\\")
        if line.startswith("$ "):
            commands.append(Command(line[2:], first + offset + 1))
        elif continued:
            commands[-1].text += "\n" + line
        elif not commands:
            raise ValueError(f"line {first + offset + 1}: a console block begins with a command, not with {line!r}")
        else:
            commands[-1].expected.append(line)
    return commands


def shell_commands(lines, first):
    commands = []
    for offset, line in enumerate(lines):
        if commands and commands[-1].text.endswith("\\"):
            commands[-1].text += "\n" + line
        elif line.strip() and not line.lstrip().startswith("#"):
            commands.append(Command(line, first + offset + 1))
    return commands


def blocks_of(text):
    """Every console and sh block of a page, in order."""
    lines = text.split("\n")
    found = []
    at = 0
    while at < len(lines):
        opening = re.fullmatch(r"(`{3,})(\S*)(.*)", lines[at])
        if not opening:
            at += 1
            continue
        fence, language, rest = opening.groups()
        first = at + 1
        end = first
        while end < len(lines) and lines[end].rstrip() != fence:
            end += 1
        if end == len(lines):
            raise ValueError(f"line {at + 1}: this block is never closed")
        inside = lines[first:end]
        if language == "console":
            if not set(rest.split()) <= {"timing", "long"}:
                raise ValueError(f"line {at + 1}: a console block is plain, \"timing\" or \"long\", not {rest.strip()!r}")
            found.append(Block(language, rest.split(), first, end, console_commands(inside, first)))
        elif language == "sh":
            found.append(Block(language, rest.split(), first, end, shell_commands(inside, first)))
        at = end + 1
    return found


NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")


def shape(line):
    """The line without the parts that differ between two measurements: numbers, units of time, widths of columns."""
    line = NUMBER.sub("#", line)
    line = re.sub(r"# ?(ns|µs|us|ms|s|seconds?|minutes?)\b", "# time", line)
    line = re.sub(r"─+", "─", line)
    return re.sub(r"\s+", " ", line).strip()


def same_line(expected, actual, timing):
    if expected.endswith(CUT):
        kept = expected[: -len(CUT)]
        return shape(actual).startswith(shape(kept)) if timing else actual.startswith(kept)
    return shape(expected) == shape(actual) if timing else expected.rstrip() == actual.rstrip()


def segments(expected):
    """Groups of consecutive printed lines, and whether lines are left out before each and at the end."""
    runs = [[]]
    for line in expected:
        if line.strip() == LEFT_OUT:
            runs.append([])
        else:
            runs[-1].append(line)
    return runs


def difference(expected, actual, timing=False):
    """None if the actual lines equal the printed ones, else a sentence about the first difference."""
    runs = segments(expected)
    at = 0
    for index, run in enumerate(runs):
        last = index == len(runs) - 1
        if index == 0:
            starts = [0]
        elif last:
            starts = [len(actual) - len(run)] if len(actual) - len(run) > at else []
        else:
            starts = range(at + 1, len(actual) - len(run) + 1)
        for start in starts:
            if len(actual) - start >= len(run) and all(
                same_line(line, actual[start + i], timing) for i, line in enumerate(run)
            ):
                at = start + len(run)
                break
        else:
            return describe(run, actual, at, timing)
    if at != len(actual):
        return f"the command prints more than the page: {actual[at]!r}"
    return None


def describe(run, actual, at, timing):
    if not run:
        return "the page leaves lines out where the command prints none"
    near = max(range(at, len(actual)), key=lambda i: similarity(run[0], actual[i]), default=None)
    if near is None:
        return f"the command does not print {run[0]!r}"
    for i, line in enumerate(run):
        if near + i >= len(actual):
            return f"the command does not print {line!r}"
        if not same_line(line, actual[near + i], timing):
            return f"the page has\n    {line}\n  and the command prints\n    {actual[near + i]}"
    return "lines are left out without a line \"...\" in their place, or the other way round"


def similarity(printed, actual):
    """A score of how likely the second line is a new version of the first: by its beginning, its words, and its numbers."""
    if printed.endswith(CUT):
        printed = printed[: -len(CUT)]
        actual = actual[: len(printed)]
    beginning = len(os.path.commonprefix([printed, actual])) / max(1, len(printed))
    words = difflib.SequenceMatcher(None, shape(printed), shape(actual), autojunk=False).ratio()
    return beginning + words + difflib.SequenceMatcher(None, printed, actual, autojunk=False).ratio()


def refreshed(expected, actual):
    """The page's lines, replaced by the actual ones; lines that the page leaves out or cuts remain so.

    Each group of printed lines is replaced by the actual lines that are most similar. None if a group has no place.
    """
    runs = segments(expected)
    if len(runs) == 1:
        result = []
        for i, line in enumerate(actual):
            cut = i < len(expected) and expected[i].endswith(CUT)
            result.append(shortened(line, len(expected[i]) if cut else LONGEST))
        return result
    # best[k][s]: the largest similarity of groups k.. if group k starts at s; filled from the last group backwards.
    total = len(actual)
    best, chosen = {}, {}
    for k in reversed(range(len(runs))):
        length = len(runs[k])
        starts = [0] if k == 0 else [total - length] if k == len(runs) - 1 else range(1, total - length + 1)
        for start in starts:
            if start < 0 or start + length > total:
                continue
            likeness = sum(similarity(line, actual[start + i]) for i, line in enumerate(runs[k]))
            if k + 1 < len(runs):
                followers = [s for (j, s) in best if j == k + 1 and s > start + length]
                if not followers:
                    continue
                follower = max(followers, key=lambda s: best[k + 1, s])
                chosen[k, start] = follower
                likeness += best[k + 1, follower]
            best[k, start] = likeness
    if (0, 0) not in best:
        return None
    result, start = [], 0
    for k, run in enumerate(runs):
        if k:
            result.append(LEFT_OUT)
        for i, line in enumerate(run):
            actual_line = actual[start + i]
            result.append(shortened(actual_line, len(line) if line.endswith(CUT) else LONGEST))
        start = chosen.get((k, start), 0)
    return result


def shortened(line, width):
    return line.rstrip() if len(line.rstrip()) <= width else line[: width - len(CUT)].rstrip() + CUT


def with_wrong_digit(expected):
    """The same lines with one digit changed, or None if they have no digit."""
    for i in reversed(range(len(expected))):
        digits = [j for j, character in enumerate(expected[i]) if character.isdigit()]
        if digits:
            at = digits[-1]
            wrong = str((int(expected[i][at]) + 1) % 10)
            return expected[:i] + [expected[i][:at] + wrong + expected[i][at + 1 :]] + expected[i + 1 :]
    return None
