"""Checks that the loops of a build are compiled for speed. Inline functions and templates are compiled in every file that uses
them, and the linker keeps the first copy for all, whatever its flags: a single file with -Og can make loops over rows ten times
slower in the whole program. So every compile command of the project must have the same flags that affect code, and no source may
set its own. What seldom runs (tests, the Python bindings, the objects of libspeclab_experiments.a) may have another level -O, which
shortens its compilation: whatever links it must name our libraries first, and that one as their last. Nothing but test programs
may link their objects. Planted faults must be found.

usage: flags.py ROOT BUILD
"""

import collections
import json
import pathlib
import re
import shlex
import sys

CODE = re.compile(r"-(O|f|m|D_?NDEBUG|U_?NDEBUG|-param)")
# Flags that may differ. Position, visibility and sections of code depend on the program or library and do not slow a loop. Python
# modules have no stack protector, which Debian's GCC never adds by itself. The last concerns the memory of the compiler.
OTHERWISE = re.compile(r"-f(PIC|PIE|pic|pie|visibility=\w+|visibility-inlines-hidden|function-sections|data-sections|"
                       r"no-stack-protector|expt-\S+)$|--param=ggc-\S+$|-f(sanitize|no-sanitize|no-omit-frame)\S*$|-mtls-dialect=\S+$|"
                       r"-forward-unknown-to-host-compiler$")


# Flags that are set within a source.
IN_SOURCE = re.compile(r'#\s*pragma\s+(GCC|clang)\s+(optimize|target)|_Pragma\s*\(\s*"(GCC|clang) (optimize|target)|'
                       r"(__attribute__|\[\[gnu::).*\b(optimize|target)\b\s*\(")
# An object of a test program, the archive of objects that seldom run, and the option that puts our libraries first.
TEST_OBJECT = re.compile(r"tests/CMakeFiles/\w+_tests\.dir/\S+\.o\b")
SELDOM_RUN = "libspeclab_experiments.a"
LIBRARIES_FIRST = re.compile(r"-Wl,--whole-archive,(\S+\.a),--no-whole-archive")
OBJECT = re.compile(r"-o (\S+\.o)\b")
FOLDERS = ("analysis", "core", "experiments", "explorer", "kernels", "python", "serving", "sim", "tests")


def code_flags(command):
    """The flags that change generated code; of several -O only the last, which is in effect."""
    flags = {word for word in command if CODE.match(word) and not OTHERWISE.match(word)}
    levels = [word for word in command if re.match(r"-O", word)]
    return frozenset({flag for flag in flags if not flag.startswith("-O")} | set(levels[-1:]))


def is_ours(file, root, build):
    """Returns whether a file is a source of the tree, or a file of the build that includes several; nanobind's files use none of our
    inline functions."""
    path = pathlib.Path(file)
    if path.suffix not in {".cpp", ".cxx", ".cu"}:
        return False
    return "Unity" in path.parts if path.is_relative_to(build) else path.is_relative_to(root)


def objects_that_seldom_run(build_file):
    archive = re.search(rf"^build {re.escape(SELDOM_RUN)}: \w+ (.*)", build_file, re.MULTILINE)
    return set(archive[1].split()) if archive else set()


def faults_of(commands, root, build, seldom_run=frozenset()):
    """One line per file whose flags differ from those of most files. For nvcc only the optimisation level counts."""
    found = collections.defaultdict(list)
    for entry in commands:
        if not is_ours(entry["file"], root, build):
            continue
        command = shlex.split(entry["command"])
        flags = code_flags(command)
        made = OBJECT.search(entry["command"])
        any_level = made and (made[1] in seldom_run or re.match(r"tests/|python/", made[1]))
        if any_level:
            flags = frozenset(flag for flag in flags if not flag.startswith("-O"))
        if entry["file"].endswith(".cu"):
            flags = frozenset(flag for flag in flags if flag.startswith("-O") or "fast" in flag)
        language = "nvcc" if entry["file"].endswith(".cu") else "C++ at any level" if any_level else "C++"
        found[language, flags].append(entry["file"])
    usual = {}
    for (language, flags), files in found.items():
        if language not in usual or len(files) > len(found[language, usual[language]]):
            usual[language] = flags
    faults = [f"{file}: {' '.join(sorted(flags)) or 'no flags'}, where most files have {' '.join(sorted(usual[language]))}"
              for (language, flags), files in found.items() if flags != usual[language] for file in files]
    levels = {language: {flag for flag in flags if flag.startswith("-O")} for language, flags in usual.items()}
    if "nvcc" in levels and levels["nvcc"] != levels["C++"]:
        faults.append(f"nvcc compiles with {levels['nvcc']}, where most files have {levels['C++']}")
    return faults


def faults_of_links(build_file):
    """One line per program or library that links objects of test programs and is no test program, or does not name our libraries
    first, those that are compiled for speed before the other."""
    faults = []
    for edge in re.split(r"\n(?=build )", build_file):
        output = re.match(r"build (\S+): CXX_\w+_LINKER__", edge)
        if not output or "STATIC_LIBRARY" in edge.splitlines()[0]:
            continue
        of_tests = TEST_OBJECT.search(edge.splitlines()[0])
        if of_tests and not re.fullmatch(r"tests/\w+_tests", output[1]):
            faults.append(f"{output[1]} links objects of a test program")
            continue
        libraries = set(re.findall(r"\S*libspeclab_\w+\.a", edge.splitlines()[0]))
        if SELDOM_RUN not in libraries and not (of_tests and libraries):
            continue
        first = LIBRARIES_FIRST.search(edge)
        named = first[1].split(",") if first else []
        late = [library for library in sorted(libraries) if not any(name.endswith(library) for name in named)]
        if late:
            faults.append(f"{output[1]} does not link {' '.join(late)} before its objects")
        elif any(name.endswith(SELDOM_RUN) for name in named[:-1]):
            faults.append(f"{output[1]} links {SELDOM_RUN} before {named[-1]}")
    return faults


def lines_with_flags(name, text):
    return [f"{name}:{number}: {line.strip()}" for number, line in enumerate(text.splitlines(), 1) if IN_SOURCE.search(line)]


def faults_in_sources(root):
    return [fault for folder in FOLDERS for path in sorted((root / folder).rglob("*"))
            if path.suffix in {".cpp", ".hpp", ".h", ".cu", ".cuh"}
            for fault in lines_with_flags(path.relative_to(root), path.read_text(encoding="utf-8"))]


def missed(root, build):
    """The planted faults that are not found."""
    common = "c++ -O3 -DNDEBUG -ffp-contract=off"
    def planted(extra, file="one.cpp"):
        return [{"file": str(root / name), "command": command}
                for name, command in [("a.cpp", common + " -fPIC"), ("b.cpp", common + " -fPIE"), (file, common + " " + extra)]]
    problems = [f"flags.py did not find {extra!r}" for extra in ["-Og", "-O2", "-ffast-math", "-march=native", "-fno-inline"]
                if not faults_of(planted(extra), root, build)]
    if not faults_of(planted("-O1", "one.cu"), root, build):
        problems.append("flags.py did not find another level of nvcc")
    sim, seldom_run = "sim/libspeclab_sim.a", SELDOM_RUN
    test = f"tests/CMakeFiles/a_tests.dir/a.cpp.o | {sim}"

    def link(output, inputs, *first):
        return f"build {output}: CXX_EXECUTABLE_LINKER__a {inputs}\n  LINK_FLAGS = -Wl,--whole-archive,{','.join(first)},--no-whole-archive"
    problems += [f"flags.py did not find {edge!r}" for edge in [
        link("bin/a", test, sim), f"build tests/a_tests: CXX_EXECUTABLE_LINKER__a {test}\n  LINK_FLAGS = -pie",
        link("bin/a", f"main.o | {seldom_run} {sim}", sim), link("bin/a", f"main.o | {seldom_run} {sim}", seldom_run, sim)]
                 if not faults_of_links(edge)]
    problems += [f"flags.py did not find {line!r}" for line in [
        '#pragma GCC optimize("Og")', "#pragma GCC target(\"avx2\")", '_Pragma("GCC optimize (0)")', '[[gnu::optimize("O1")]] int f();',
        '__attribute__((noinline, optimize("O0"))) int f();'] if not lines_with_flags("one.cpp", line)]
    if faults_of(planted("-fvisibility=hidden -Wall --param=ggc-min-heapsize=9 -DX=1"), root, build):
        problems.append("flags.py finds a fault where there is none")
    return problems


def main():
    root, build = (pathlib.Path(argument) for argument in sys.argv[1:3])
    commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    links = (build / "build.ninja").read_text(encoding="utf-8")
    problems = (faults_of(commands, root, build, objects_that_seldom_run(links)) + faults_of_links(links) + faults_in_sources(root)
                + missed(root, build))
    if not any(is_ours(entry["file"], root, build) for entry in commands):
        problems.append(f"{build}/compile_commands.json names no file of {root}")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
