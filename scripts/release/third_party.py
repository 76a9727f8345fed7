#!/usr/bin/env python3
"""Adds to a wheel that auditwheel has repaired the licences and the list of everything in it that other projects wrote.

    third_party.py WHEEL BUILD FOLDER      BUILD: the build folder of the wheel; writes FOLDER/WHEEL

Two kinds of parts come from Debian packages: libraries that auditwheel copied into the wheel, and headers that were compiled in, which are found
in the compiler's own list (ninja -t deps). nanobind comes from PyPI, and is found in the environment of the Python that runs this script. The
copyright file of each part, and the licences of Debian to which it refers, go to *.dist-info/licenses/third_party, and each part without a file
of its own to auditwheel's list (*.dist-info/sboms, CycloneDX). Members have the time of SOURCE_DATE_EPOCH.
Exit codes: 0; 2 a part has no licence here, and is named.
"""
import base64
import hashlib
import importlib.metadata
import json
import os
import re
import subprocess
import sys
import time
import urllib.parse
import zipfile
from pathlib import Path

# The compiler's and the C library's own headers are parts of the machine that the wheel's tag promises.
OF_THE_MACHINE = re.compile(r"^(libstdc\+\+-\d+-dev|libgcc-\d+-dev|libc6-dev|linux-libc-dev|g\+\+.*|gcc.*|libpython3.*-dev|python3.*-dev)$")
COMMON_LICENCE = re.compile(r"/usr/share/common-licenses/([A-Za-z0-9.+-]*[A-Za-z0-9])")


def fail(message):
    print(f"third_party.py: {message}", file=sys.stderr)
    sys.exit(2)


def packages_of(files):
    """The Debian packages that have these files."""
    files = sorted(files)
    # dpkg knows files by the names under which they were installed, where /lib may be a link to /usr/lib.
    known = files + [file.removeprefix("/usr") for file in files if file.startswith("/usr/lib")]
    said = subprocess.run(["dpkg", "-S", *known], capture_output=True, text=True).stdout
    return {name.split(":")[0] for line in said.splitlines() for name in line.rsplit(": ", 1)[0].split(", ") if not name.startswith("diversion")}


def queried(package, field):
    return subprocess.run(["dpkg-query", "-W", "-f", f"${{{field}}}", package], capture_output=True, text=True, check=True).stdout


def compiled_in(build):
    """The packages whose headers the compiler read."""
    said = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True, check=True).stdout
    headers = {os.path.realpath(line.strip()) for line in said.splitlines() if line.startswith("    /usr/")}
    return {package for package in packages_of(headers) if not OF_THE_MACHINE.match(package)}


def bundled_in(files):
    """The packages whose libraries auditwheel copied; its own list lacks those that Debian installs in /lib."""
    packages = set()
    for name in files:
        folder, _, library = name.rpartition("/")
        library = re.sub(r"-[0-9a-f]{8}(?=\.so)", "", library)
        if folder.endswith(".libs") and not library.startswith("liblapack."):  # that one is lapack_pair.c
            found = {one for one in packages_of([f"*/{library}"]) if not one.endswith("-dev")}
            packages |= found or fail(f"no Debian package has {library}")
    return packages


def licences_of(packages):
    """The copyright files of Debian packages, and the licences to which they refer."""
    texts = {}
    for package in sorted(packages):
        file = Path(f"/usr/share/doc/{package}/copyright")
        if not file.exists():
            fail(f"{package} has no {file}; in a container, see dpkg's path-exclude")
        # Packages of one source have one copyright file.
        texts[f"{queried(package, 'source:Package')}.txt"] = file.read_bytes()
    named = {name for text in texts.values() for name in COMMON_LICENCE.findall(text.decode(errors="replace"))}
    for name in sorted(named):
        file = Path("/usr/share/common-licenses") / name
        if file.is_file():
            texts[f"common-licenses/{name}"] = file.read_bytes()
    return texts


def licence_of_nanobind():
    own = importlib.metadata.distribution("nanobind")
    for file in own.files:
        if file.name == "LICENSE":
            return own.version, own.locate_file(file).read_bytes()
    fail("nanobind's distribution has no LICENSE")


def add_parts(sbom, parts):
    """Adds (name, version, purl) to a CycloneDX document, as parts on which the wheel depends."""
    document = json.loads(sbom)
    known = {one["name"] for one in document["components"]}
    for name, version, purl in parts:
        if name not in known:
            document["components"].append({"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl})
            document["dependencies"][0]["dependsOn"].append(purl)
            document["dependencies"].append({"ref": purl})
    return json.dumps(document, indent=1, sort_keys=True).encode()


def write_wheel(target, files, info):
    """Writes members in one order and with one time, and RECORD anew."""
    moment = time.gmtime(max(315532800, int(os.environ.get("SOURCE_DATE_EPOCH", "0"))))[:6]
    record = f"{info}/RECORD"
    lines = []
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(files, key=lambda name: (name == record, name.startswith(info), name)):
            content, mode = files[name]
            if name == record:
                content = "\n".join([*lines, f"{record},,"]).encode() + b"\n"
            entry = zipfile.ZipInfo(name, moment)
            entry.external_attr, entry.compress_type = mode, zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            lines.append(f"{name},sha256={digest},{len(content)}")


def main(wheel, build, folder):
    with zipfile.ZipFile(wheel) as archive:
        files = {one.filename: (archive.read(one), one.external_attr) for one in archive.infolist() if not one.is_dir()}
    info = next(name.split("/")[0] for name in files if name.endswith(".dist-info/RECORD"))
    sbom = f"{info}/sboms/auditwheel.cdx.json"
    bundled = bundled_in(files)
    headers = compiled_in(build)
    nanobind, text = licence_of_nanobind()
    texts = licences_of(bundled | headers) | {"nanobind.txt": text}
    for name, content in texts.items():
        files[f"{info}/licenses/third_party/{name}"] = content, 0o100644 << 16
    versions = {one: queried(one, "Version") for one in sorted(bundled | headers)}
    parts = [(one, version, f"pkg:deb/debian/{urllib.parse.quote(one)}@{urllib.parse.quote(version)}") for one, version in versions.items()]
    files[sbom] = add_parts(files[sbom][0], [*parts, ("nanobind", nanobind, f"pkg:pypi/nanobind@{nanobind}")]), files[sbom][1]
    target = Path(folder) / Path(wheel).name
    write_wheel(f"{target}.part", files, info)
    os.replace(f"{target}.part", target)
    print(f"libraries of {', '.join(sorted(bundled))}; headers of {', '.join(sorted(headers))}, nanobind")


if __name__ == "__main__":
    main(*sys.argv[1:])
