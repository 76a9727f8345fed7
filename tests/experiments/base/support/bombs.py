#!/usr/bin/env python3
"""Tests small files that unpack to gigabytes: each reader of compressed files refuses them by name, within 4 GB of address space.

usage: bombs.py SPECLAB     about two minutes"""
import json
import pathlib
import resource
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib

speclab = pathlib.Path(sys.argv[1]).resolve()
gibi = 1 << 30
space = 4 * 10**9  # bytes of address space, set by ulimit -v
block = 1 << 22
failures = 0


def check(what, holds):
    global failures
    if not holds:
        failures += 1
        print("FAILED:", what, flush=True)


def gzip_of(piece, size):
    """Returns members of 4 MiB, one after the other, which gzip files may have."""
    pack = zlib.compressobj(9, zlib.DEFLATED, 31)
    member = pack.compress(piece * (block // len(piece))) + pack.flush()
    return member * (size // block)


def npz_of(name, shape, kind, size):
    """Returns an archive of one compressed array of zeros with so many bytes."""
    file = folder / name
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (64 - (11 + len(header)) % 64) + b"\n"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1, allowZip64=True) as archive:
        with archive.open("rows.npy", "w", force_zip64=True) as out:
            out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
            for _ in range(size // block):
                out.write(bytes(block))
    return name


def lying_npz(name):
    """Returns an archive whose directory claims 3.9 GB for data packed from a few bytes."""
    file = folder / name
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("rows.npy", b"\x93NUMPY\x01\x00" + bytes(100))
    data = bytearray(file.read_bytes())
    at = data.index(b"PK\x01\x02")
    data[at + 24:at + 28] = struct.pack("<I", 3_900_000_000)
    file.write_bytes(data)
    return name


def refused(what, name, *arguments):
    """Checks that the program ends with exit code 2, names the file and a limit or a size, and held less than the limit."""
    run = subprocess.Popen([speclab, *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (space, space)))
    out, err = run.communicate(timeout=900)
    check(f"{what}: exit code {run.returncode}: {err[:300]} {out[:100]}", run.returncode == 2)
    check(f"{what} names {name}: {err[:300]}", name in err and len(err) < 2000)
    check(f"{what} says what is too much: {err[:300]}",
          any(word in err for word in ("more than 1 GiB", "unpacks to", "needs more memory", "can be packed", "holds no rounds")))
    print(f"{what}: {(folder / name).stat().st_size} bytes: {err.strip()[:200]}", flush=True)


with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch)
    logs = {"zeros.gz": gzip_of(b"\0", 8 * gibi), "rounds.gz": gzip_of(b"5,3\n", gibi - block), "blank.gz": gzip_of(b"\n", gibi - block),
            "lines.gz": gzip_of(b'{"drafted": 5, "accepted": 3}\n' + b" " * 2, gibi - block), "nested.gz": gzip_of(b"[", gibi - block)}
    for name, data in logs.items():
        (folder / name).write_bytes(data)
        refused(f"plan log {name}", name, "plan", "log", name, "--c", "0.1")
    small = folder / "before.prom"
    small.write_text("vllm:spec_decode_num_drafts_total 4\n")
    refused("plan log --since zeros.gz", "zeros.gz", "plan", "log", "before.prom", "--since", "zeros.gz", "--c", "0.1")

    size = 3_900_000_000 // block * block
    for name in npz_of("rows.npz", f"(1, {size // 8})", "<f8", size), lying_npz("lying.npz"):
        (folder / "table.json").write_text(json.dumps({"title": "bomb", "models": {"target": {"kind": "table", "file": name}, "draft": {"kind": "uniform"}}}))
        refused(f"run with a table of {name}", name, "run", "table.json", "--out", "out")
    (folder / "check.json").write_text(json.dumps(
        {"title": "bomb", "models": {"target": {"kind": "table", "rows": [[0.5, 0.5]]}, "draft": {"kind": "uniform"}}}))
    for name in npz_of("ids.npz", f"({size // 64}, 8)", "<i8", size), "lying.npz":
        refused(f"check --samples {name}", name, "check", "check.json", "--samples", name)
    with zipfile.ZipFile(folder / "recording.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for array, shape, kind in (("target", (60000, 4096), "<f4"), ("draft", (60000, 4096), "<f4"), ("tokens", (60000,), "<i8")):
            header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode() + b"\n"
            with archive.open(f"{array}.npy", "w", force_zip64=True) as out:
                out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
                for _ in range(60000):
                    out.write(bytes(shape[-1] * 4 if len(shape) == 2 else 8))
    # Both arrays fit at twice 0.98 GB; at four times as many bytes neither would.
    run = subprocess.run([speclab, "plan", "recording", "recording.npz", "--c", "0.1"], cwd=folder, capture_output=True, text=True,
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (space // 2, space // 2)))
    check(f"plan recording recording.npz: {run.returncode} {run.stderr[:300]}", run.returncode == 2 and "recording.npz" in run.stderr)
    print(f"plan recording recording.npz: {run.stderr.strip()[:200]}")
print(f"{failures} failures")
sys.exit(1 if failures else 0)
