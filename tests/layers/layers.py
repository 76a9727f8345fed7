"""Checks every #include "..." of the sources: it must name a file from the repository root and obey the table below. Nor may they
print on standard error in a way that throws. Faults planted in a temporary tree must be found.

usage: layers.py ROOT
"""

import pathlib
import re
import sys
import tempfile

def inside(path, folder):
    return path == folder or path.startswith(folder + "/")


LABORATORY = [f"experiments/{floor}" for floor in ("base", "recording", "catalog", "config", "run", "results", "verify", "studies")]
# folder: the folders that its files may include, besides itself and the folders inside it. The longest entry that contains a file
# applies to it. An allowed "core" also allows "core/distribution".
ALLOWED = {
    "core": [],
    "core/distribution": ["core/token.hpp", "core/host_device.hpp"],
    "core/random": ["core/token.hpp", "core/host_device.hpp", "core/stop.hpp", "core/distribution"],
    "core/rules": ["core"],
    "core/round": ["core/token.hpp", "core/host_device.hpp", "core/distribution", "core/random", "core/rules"],
    "core/fast": ["core"],
    "sim": ["core"],
    "sim/text": ["core", "sim"],
    "sim/policies": ["core", "sim/any_memory.hpp"],
    "sim/schedules": ["core", "sim"],
    "analysis/theory": ["core"],
    "analysis/exact": ["core", "analysis/theory"],
    "analysis/cost": ["analysis/theory", "analysis/statistics"],
    "analysis/recorded": ["core", "analysis/statistics"],
    "analysis/statistics": ["core", "sim/tally.hpp", "analysis/theory", "analysis/exact"],
    "serving/server": ["core/random", "sim/control.hpp"],
    "serving/queues": ["serving/server", "analysis/cost", "analysis/statistics"],
    "serving/traces": ["core", "serving/server", "experiments/base/support", "experiments/base/format", "experiments/recording"],
    "serving/advisor": ["core", "sim", "analysis", "serving/server", "serving/queues", "serving/traces", *LABORATORY],
    "serving/study": ["core", "sim", "analysis", "serving/server", "serving/queues", "serving/traces", "serving/advisor", *LABORATORY],
    "serving/cli": ["core", "sim", "analysis", "serving", *LABORATORY],
    "kernels": ["core"],
    "kernels/lab": ["core", "analysis", "sim/parallel.hpp", "kernels", "experiments/base"],
    "python": ["core", "sim", "analysis", "experiments", "serving"],
    "explorer": ["core", "sim", "analysis", "experiments/base/format", "experiments/catalog/rules", "serving/advisor", "experiments/recording"],
    "tests": ["core", "sim", "analysis", "kernels", "serving", "experiments", "explorer"],
}
# The layers of experiments, from the lowest: each may include the earlier ones that are named here.
FLOORS = {
    "base/support": [],
    "base/format": ["base/support"],
    "base/page": ["base/support"],
    "base/command": ["base"],
    "recording": ["base/support", "base/format"],
    "catalog": ["base/support", "base/format", "recording"],
    "config": ["base/support", "base/format", "base/command", "catalog"],
    "run": ["base/support", "base/format", "recording", "catalog", "config"],
    "results": ["base", "config", "run"],
    "verify": ["base", "catalog", "config", "run", "results"],
    "studies": ["base", "recording", "catalog", "config", "run", "results", "verify"],
    "shards": ["base/support", "base/format", "config", "run", "results"],
    "plot": ["base"],
    "cli": ["base", "recording", "catalog", "config", "run", "results", "verify", "studies", "shards", "plot"],
}
ALLOWED["experiments/main.cpp"] = ["experiments/cli"]
for floor, below in FLOORS.items():
    earlier = [*FLOORS][:[*FLOORS].index(floor)]
    if not all(any(inside(known, name) for known in earlier) for name in below):
        sys.exit(f"tests/layers/layers.py: {floor} names a floor that is not below it")
    ALLOWED[f"experiments/{floor}"] = ["core", "sim", "analysis", "kernels", *(f"experiments/{name}" for name in below)]
# Headers that change often, and the headers of experiments that may include them. Others use forward declarations, so that a change
# compiles few files.
SELDOM_INCLUDED = {"experiments/config/config.hpp": []}
SOURCES = {".hpp", ".cpp", ".cu", ".h", ".c"}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
PRINTS = re.compile(r"\bprint\(stderr|\bcerr\b")
OWN = re.compile(r"^\s*#\s*include\s*<(speclab/[^>]+)>", re.MULTILINE)
# Another project's program, which includes the installed headers.
FOREIGN = "tests/install/consumer"


def entry_of(path):
    return max((folder for folder in ALLOWED if inside(path, folder)), key=len, default=None)


def faults_of(root):
    """One line per forbidden include."""
    faults = []
    for top in sorted({folder.split("/")[0] for folder in ALLOWED}):
        for file in sorted((root / top).rglob("*")):
            path = file.relative_to(root).as_posix()
            if file.suffix not in SOURCES or inside(path, FOREIGN):
                continue
            entry = entry_of(path)
            if entry is None:
                faults.append(f"{path}: its folder has no entry in the table of tests/layers/layers.py")
                continue
            text = file.read_text(encoding="utf-8")
            faults += [f"{path}: <{name}> is the installed path; write the path from the repository root"
                       for name in OWN.findall(text)]
            if top != "tests" and PRINTS.search(text):
                faults.append(f"{path}: this fails if standard error is closed or full; call print_error (experiments/base/support)")
            for name in INCLUDE.findall(text):
                if not (root / name).is_file():
                    faults.append(f'{path}: "{name}" does not exist below the repository root')
                elif not any(inside(name, folder) for folder in [entry, *ALLOWED[entry]]):
                    faults.append(f'{path}: "{name}" may not be included from {entry}')
                elif file.suffix == ".hpp" and inside(path, "experiments") and path not in SELDOM_INCLUDED.get(name, [path]):
                    faults.append(f'{path}: "{name}" is for .cpp files; declare what is named of it')
    return faults


# Files of a temporary tree, and the fault that the check must report; empty: none.
PLANTED = [
    ({"core/row.hpp": "", "sim/decode.hpp": '#include "core/row.hpp"\n'}, ""),
    ({"sim/decode.hpp": "", "core/row.hpp": '#include "sim/decode.hpp"\n'}, "may not be included from core"),
    ({"sim/tally.hpp": "", "analysis/exact/chain.hpp": '#include "sim/tally.hpp"\n'}, "may not be included from analysis/exact"),
    ({"sim/tally.hpp": "", "analysis/statistics/estimates.hpp": '#include "sim/tally.hpp"\n'}, ""),
    ({"sim/tally.hpp": "", "kernels/a.cu": '#include "sim/tally.hpp"\n'}, "may not be included from kernels"),
    ({"kernels/a.hpp": "", "sim/b.cpp": '  #  include "kernels/a.hpp"\n'}, "may not be included from sim"),
    ({"experiments/run/a.hpp": "", "analysis/cost/b.hpp": '#include "experiments/run/a.hpp"\n'},
     "may not be included from analysis/cost"),
    ({"experiments/base/page/a.hpp": "", "experiments/run/b.hpp": '#include "experiments/base/page/a.hpp"\n'},
     "may not be included from experiments/run"),
    ({"experiments/studies/trace/a.hpp": "", "experiments/studies/beam/b.hpp": '#include "experiments/studies/trace/a.hpp"\n'}, ""),
    ({"experiments/own/a.hpp": ""}, "has no entry in the table"),
    ({"core/random/philox.hpp": "", "core/distribution/row.hpp": '#include "core/random/philox.hpp"\n'},
     "may not be included from core/distribution"),
    ({"core/row.hpp": "", "core/rules/token.hpp": '#include "../row.hpp"\n'}, "does not exist below the repository root"),
    ({"core/rules/token.hpp": '#include "core/rwo.hpp"\n'}, "does not exist below the repository root"),
    ({"core/rules/token.hpp": "#include <speclab/core/row.hpp>\n"}, "is the installed path"),
    ({"sim/decode.cpp": 'void warn() { fmt::print(stderr, "slow"); }\n'}, "call print_error"),
    ({"analysis/a.hpp": ""}, "has no entry in the table"),
    ({"experiments/config/config.hpp": "", "experiments/run/result.hpp": '#include "experiments/config/config.hpp"\n'}, "is for .cpp files"),
    ({"experiments/config/config.hpp": "", "experiments/config/cells.cpp": '#include "experiments/config/config.hpp"\n'}, ""),
]


def faults_missed(faults_of, planted):
    """One line per planted tree whose reported faults are not the expected one."""
    missed = []
    for files, wanted in planted:
        with tempfile.TemporaryDirectory() as folder:
            for path, text in files.items():
                file = pathlib.Path(folder, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
            found = faults_of(pathlib.Path(folder))
        right = len(found) == 1 and wanted in found[0] if wanted else not found
        if not right:
            missed.append(f"planted {files}: wanted {wanted!r}, found {found}")
    return missed


def main(faults_of, planted):
    """Checks the tree that the argument names, then tests the check itself."""
    problems = faults_of(pathlib.Path(sys.argv[1])) + faults_missed(faults_of, planted)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(faults_of, PLANTED))
