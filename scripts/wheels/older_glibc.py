#!/usr/bin/env python3
"""Makes stub libraries with the functions and versions of an older C library, so that programs linked with them run on older machines.

    older_glibc.py 2.28 FOLDER      then: g++ -shared -L FOLDER ...

glibc keeps older versions of its functions, and the linker takes the newest: the stubs offer, for each function, the newest version that the older
library had. Needs objdump and gcc. Nothing runs with the stubs: a program finds the C library of its own machine. Functions that glibc 2.34 moved
into libc.so.6 from libpthread, libdl and librt are looked up in all libraries of a process, so that those three must be linked, too. If a function is
younger than the older library, linking fails.
Exit codes: 0; 2 wrong arguments, or this machine's C library has no older versions.
"""
import re
import subprocess
import sys
from pathlib import Path

LIBRARIES = ("libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2")
SINGLE_THREADED = "__libc_single_threaded"
SYMBOL = re.compile(r"^[0-9a-f]{16} .{6}(?P<kind>.) (?P<section>\S+)\t[0-9a-f]{16} +\(?GLIBC_(?P<version>[0-9.]+)\)? +(?P<name>\S+)$", re.M)


def number(version):
    return tuple(int(part) for part in version.split("."))


def newest_of(table, limit):
    """Returns each name's newest version up to the limit, and its type, from the output of objdump -T. Thread-local variables are left out."""
    newest = {}
    for found in SYMBOL.finditer(table):
        name, version = found["name"], found["version"]
        if found["section"] in ("*UND*", "*ABS*", ".tbss", ".tdata") or number(version) > limit:
            continue
        if name not in newest or number(version) > number(newest[name][0]):
            newest[name] = version, "object" if found["kind"] == "O" else "function"
    return newest


def make(library, limit, folder):
    real = path_of(library)
    table = subprocess.run(["objdump", "-T", real], capture_output=True, text=True, check=True).stdout
    newest = newest_of(table, limit)
    if not newest:
        raise ValueError(f"{real} has nothing of GLIBC_{'.'.join(map(str, limit))} or before: glibc of x86-64 is needed")
    source, versions = folder / f"{library}.s", folder / f"{library}.versions"
    source.write_text("".join(f".globl s{i}\n.symver s{i}, {name}@@@GLIBC_{version}\n.type s{i}, @{kind}\n.size s{i}, 1\ns{i}: .byte 0\n"
                              for i, (name, (version, kind)) in enumerate(newest.items())))
    versions.write_text("".join(f"GLIBC_{version} {{}};\n" for version in sorted({version for version, _ in newest.values()}, key=number)))
    subprocess.run(["gcc", "-shared", "-nostdlib", f"-Wl,-soname,{library}", f"-Wl,--version-script={versions}", "-o", folder / library,
                    source], check=True)
    return newest


def path_of(library):
    """Returns the path where gcc finds the library."""
    return subprocess.run(["gcc", f"-print-file-name={library}"], capture_output=True, text=True, check=True).stdout.strip()


def make_all(limit, folder):
    folder.mkdir(parents=True, exist_ok=True)
    known = {library: make(library, limit, folder) for library in LIBRARIES}
    parts = ["libc.so.6", "ld-linux-x86-64.so.2", path_of("libc_nonshared.a")]
    if SINGLE_THREADED not in known["libc.so.6"]:
        # libstdc++ reads this variable (of glibc 2.32). This replacement is 0: it tells libstdc++ that there are several threads.
        source = folder / "single_threaded.c"
        source.write_text(f'__attribute__((visibility("hidden"))) char {SINGLE_THREADED} = 0;\n')
        subprocess.run(["gcc", "-c", "-fPIC", "-o", folder / "single_threaded.o", source], check=True)
        parts.append("single_threaded.o")
    # The linker reads these for -lc and -lm.
    (folder / "libc.so").write_text(f"GROUP ( {' '.join(parts)} )\n")
    (folder / "libm.so").write_text("INPUT ( libm.so.6 )\n")


def main(arguments):
    if len(arguments) != 2 or not re.fullmatch(r"2\.[0-9]+", arguments[0]):
        print(f"older_glibc.py: {' '.join(arguments)!r} is not VERSION FOLDER, such as 2.28 build/older", file=sys.stderr)
        return 2
    try:
        make_all(number(arguments[0]), Path(arguments[1]))
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        print(f"older_glibc.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
