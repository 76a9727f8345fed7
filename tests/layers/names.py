"""Finds names that a .cpp file uses without including the header that declares them. Files of a folder are compiled together, so
another file's includes hide this until the preset dev compiles each alone. Also finds classes that two headers define under one
name: in one program the linker would mix their functions.

A name is a type that a header declares without indentation, or such a function where it is called. It is missing if neither the
file nor any header that it includes, directly or through others, contains the word. Precompiled headers do not count. Faults
planted in a temporary tree must be found.

usage: names.py ROOT
"""

import collections
import re
import sys

from layers import ALLOWED, FOREIGN, INCLUDE, inside, main

TYPE = re.compile(r"^(?:template.*>\s*)?(?:struct|class|enum class|enum)\s+(?:alignas\(\w+\)\s*)?(\w+)(?=[^;\n]*(?:\{|$|:))"
                  r"|^(?:using|concept) (\w+) =", re.MULTILINE)
NAMESPACE = re.compile(r"^namespace ([\w:]+) \{", re.MULTILINE)
CLASS = re.compile(r"^(?:struct|class)\s+(\w+)\b(?!<)(?=[^;\n]*(?:\{|$))", re.MULTILINE)
FUNCTION = re.compile(r"^(?!return|using|else|template|namespace|#|struct|class|enum|friend|typedef|static_assert|extern)"
                      r"[A-Za-z_][\w:<>,&*\s]*?[\s&*](\w+)\(", re.MULTILINE)
DECLARED = re.compile(r"(?:struct|class|enum|using|typename|auto&?&?)\s+(\w+)"
                      r"|\b(?!return\b|case\b|throw\b|else\b)[\w>]+[&*]?\s+[&*]?(\w+)\s*[({=;,):]")
USED = re.compile(r"(?<![\w.:])(?<!->)(\w+)\b(\s*\()?")
WORD = re.compile(r"\w+")


def code_of(text):
    """The code without comments and text in quotes."""
    text = re.sub(r'R"(\w*)\((?:.|\n)*?\)\1"', '""', text)
    return re.sub(r'//.*|"(?:\\.|[^"\\\n])*"', " ", text)


def groups(pattern, text):
    return {name for found in pattern.finditer(text) for name in found.groups() if name}


def included(path, includes):
    """All headers that a file includes, directly or through others."""
    found, waiting = set(), [path]
    while waiting:
        for name in includes.get(waiting.pop(), ()):
            if name not in found:
                found.add(name)
                waiting.append(name)
    return found


def faults_of(root):
    """One line per name that a file uses without its header."""
    texts = {file.relative_to(root).as_posix(): file.read_text(encoding="utf-8")
             for top in {folder.split("/")[0] for folder in ALLOWED} for file in (root / top).rglob("*")
             if file.suffix in {".hpp", ".cpp"}}
    texts = {path: text for path, text in texts.items() if not inside(path, FOREIGN)}
    includes = {path: [name for name in INCLUDE.findall(text) if name in texts] for path, text in texts.items()}
    codes = {path: code_of(text) for path, text in texts.items()}
    words = {path: set(WORD.findall(code)) for path, code in codes.items()}
    types, functions = collections.defaultdict(list), collections.defaultdict(list)
    for path, code in codes.items():
        if path.endswith(".hpp"):
            for names, pattern in ((types, TYPE), (functions, FUNCTION)):
                for name in groups(pattern, code):
                    names[name].append(path)
    faults = []
    defined = {}
    for path, code in sorted(codes.items()):
        if path.endswith(".hpp"):
            space = "::".join(NAMESPACE.findall(code))
            for name in CLASS.findall(code):
                other = defined.setdefault((space, name), path)
                if other != path:
                    faults.append(f"{path}: defines {name}, as {other} does")
            continue
        known = groups(TYPE, code) | groups(DECLARED, code)
        for header in included(path, includes):
            known |= words[header]
        used = {(found.group(1), bool(found.group(2))) for found in USED.finditer(code)}
        for name in sorted({name for name, called in used if name in types or (called and name in functions)} - known):
            headers = " or ".join(types[name] + functions[name])
            faults.append(f"{path}: uses {name} without including {headers}")
    return faults


HEADER = "namespace speclab {\nstruct Row {\n  int size;\n};\nint width(const Row& row);\n}\n"
# A .cpp file beside that header, and the fault that the check must report; empty: none.
SOURCES = [
    ('#include "core/row.hpp"\nint f(Row row) { return width(row); }\n', ""),
    ('#include "core/through.hpp"\nint f(Row row) { return width(row); }\n', ""),
    ("int f() { return Row{}.size; }\n", "uses Row without"),
    ("int f() { return width({}); }\n", "uses width without"),
    ("struct Row {};\nint width(int row);\nint f() { return width(Row{}); }\n", ""),
    ('int f(int width) { return width; }  // Row\nconst char* g() { return "Row width()"; }\n', ""),
    ("int f(Other other) { return other.width(); }\n", ""),
]
PLANTED = [({"core/row.hpp": HEADER, "core/through.hpp": '#include "core/row.hpp"\n', "core/a.cpp": source}, wanted)
           for source, wanted in SOURCES]
PLANTED += [({"core/row.hpp": HEADER, "sim/rows.hpp": f"namespace {space} {{\n{line}\n}}\n"}, wanted) for space, line, wanted in [
    ("speclab", "struct Row {", "defines Row, as"), ("speclab", "struct Row;", ""), ("speclab::other", "struct Row {", "")]]


if __name__ == "__main__":
    sys.exit(main(faults_of, PLANTED))
