"""Tests check_docs.py: it must find each planted fault in a small page, and --write must repair it."""

import pathlib
import tempfile

from blocks import difference, refreshed, shape, with_wrong_digit
from check_docs import check_code, check_page, inline_commands

PAGE = """A page.

```console
$ printf 'a 12\\nb 3.5\\nc 7\\n'
a 12
...
c 7
$ (exit 2)
$ echo $?
2
```

```console timing
$ printf 'took 3 ms\\n'
took 14.5 s
```

```sh
true   # takes 2 minutes
```
"""

FAULTS = {
    "a wrong digit": ("c 7\n$", "c 8\n$"),
    "a wrong first digit": ("\na 12", "\na 22"),
    "a line that is not printed": ("...\nc 7", "...\nx\nc 7"),
    "a line that is missing": ("a 12\n...\nc 7", "a 12\nc 7"),
    "dots that stand for nothing": ("a 12\n...", "a 12\nb 3.5\n..."),
    "a wrong exit code": ("\n2\n", "\n1\n"),
    "an exit code that nobody asks for": ("$ echo $?\n2\n", ""),
    "another word in a measured line": ("took 14.5 s", "lost 14.5 s"),
    "a command without its time": ("# takes 2 minutes", "# long"),
    "a command that does not parse": ("true   #", "if true   #"),
    "a link that leads nowhere": ("A page.", "A [page](nowhere.md)."),
    "a link to a missing heading": ("A page.", "A [page](#nothing)."),
}


def complaints_of(text, write=False):
    with tempfile.TemporaryDirectory(prefix="speclab_docs_") as folder:
        page = pathlib.Path(folder) / "page.md"
        page.write_text(text, encoding="utf-8")
        complaints, not_run, ran, _ = check_page(page, None, pathlib.Path(folder), write, False)
        return complaints, not_run, ran, page.read_text(encoding="utf-8")


def self_test():
    failures = []

    def expect(holds, what):
        if not holds:
            failures.append(what)

    complaints, not_run, ran, _ = complaints_of(PAGE)
    expect(not complaints, f"the right page is refused: {complaints}")
    expect(ran == 4 and len(not_run) == 1, "commands are miscounted")
    for name, (right, wrong) in FAULTS.items():
        expect(PAGE.count(right) == 1, f"the fault is not planted: {name}")
        expect(complaints_of(PAGE.replace(right, wrong))[0], f"not found: {name}")

    # A long block is run, or checked like one that never runs: without its output, but with its syntax.
    long = PAGE.replace("```console\n", "```console long\n")
    for planted, run, found in ((long, True, False), (long, False, False), (long.replace("a 12\n...", "a 13\n..."), True, True),
                                (long.replace("$ (exit 2)", "$ (exit 2"), False, True)):
        with tempfile.TemporaryDirectory(prefix="speclab_docs_") as folder:
            page = pathlib.Path(folder) / "page.md"
            page.write_text(planted, encoding="utf-8")
            complaints, _, ran, _ = check_page(page, None, page.parent, False, False, None, run)
            expect(bool(complaints) == found and ran == (4 if run else 1), f"a long block, {'run' if run else 'not run'}: {complaints}")

    stale = "```cpp\n// a.hpp\nint a = 2;\n```\n"
    with tempfile.TemporaryDirectory(prefix="speclab_docs_") as folder:
        (pathlib.Path(folder) / "a.hpp").write_text("struct A {};\nint a = 1;\n", encoding="utf-8")
        page = pathlib.Path(folder) / "page.md"
        expect(list(check_code(stale, page, page.parent)), "stale code is not found")
        expect(not list(check_code(stale.replace("2", "1"), page, page.parent)), "code of a file is refused")

    repaired = complaints_of(PAGE.replace("c 7\n$", "c 8\n$").replace("a 12\n", "a 13\n"), write=True)[3]
    expect(repaired == PAGE, "--write does not repair wrong digits")
    expect(complaints_of(PAGE, write=True)[3] == PAGE, "--write changes a right page")

    with tempfile.TemporaryDirectory(prefix="speclab_docs_") as folder:
        first, second = (pathlib.Path(folder) / name for name in ("first.md", "second.md"))
        first.write_text("```console\n$ touch left\n```\n", encoding="utf-8")
        second.write_text("```console\n$ test ! -e left\n```\n", encoding="utf-8")
        (pathlib.Path(folder) / "work").mkdir()
        for where, finds in ((None, False), (pathlib.Path(folder) / "work", True)):
            found = [check_page(page, None, pathlib.Path(folder), False, False, where)[0] for page in (first, second)]
            expect(bool(found[1]) == finds and not found[0], "pages see what others left just when they share a folder")

    table = ["head", "alpha   1", "beta    2", "gamma   3", "delta   4", "foot"]
    expect(refreshed(["head", "...", "beta    9", "...", "foot"], table)
           == ["head", "...", "beta    2", "...", "foot"], "a left-out line is not kept left out")
    expect(refreshed(["head", "alp ..."] + table[2:], ["head", "alpha   1"] + table[2:])[1] == "alp ...",
           "a cut line does not stay cut")
    expect(not difference(["alpha ...", "b"], ["alpha   1", "b"]), "a cut line does not match")
    expect(difference(["...", "delta   4"], table), "a missing last line is not found")
    expect(shape("12 µs ──── 1,000.5") == shape("9 ms ── 2"), "measured lines differ in shape by numbers alone")
    expect(shape("n 12") != shape("m 12"), "words do not matter in a measured line")
    expect(inline_commands("`speclab run a.json` `speclab run CONFIG` `speclab prove ...`") == ["speclab run a.json"],
           "commands in running text are not found")
    expect(with_wrong_digit(["a1", "b"]) == ["a2", "b"], "no wrong digit is made")
    for failure in failures:
        print(f"WRONG: {failure}")
    print(f"self-test: {len(FAULTS)} planted faults, {len(failures)} complaints")
    return 1 if failures else 0
