"""Tests scripts/cut_layers.py: the kept blocks equal those of the source, in order.

usage: cut_layers.py SPECLAB SOURCE
"""

import pathlib
import struct
import subprocess
import sys
import tempfile

source = pathlib.Path(sys.argv[2])
SCRIPT, TARGET = source / "scripts/cut_layers.py", source / "configs/neural/target.gguf"


def expect(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def run(*words):
    return subprocess.run([sys.executable, SCRIPT, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)


def parts(path):
    """Number of blocks, and {tensor: its bytes}, read independently of the script."""
    raw, at, count, heads = path.read_bytes(), 24, None, []
    tensors, values = struct.unpack_from("<QQ", raw, 8)

    def string():
        nonlocal at
        length = struct.unpack_from("<Q", raw, at)[0]
        at += 8 + length
        return raw[at - length:at].decode()

    def value(kind):
        nonlocal at
        if kind == 8:
            return string()
        if kind == 9:
            of, many = struct.unpack_from("<IQ", raw, at)
            at += 12
            return [value(of) for _ in range(many)]
        width = {0: 1, 1: 1, 7: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4}.get(kind, 8)
        at += width
        return int.from_bytes(raw[at - width:at], "little")

    for _ in range(values):
        key = string()
        at += 4
        found = value(struct.unpack_from("<I", raw, at - 4)[0])
        count = found if key.endswith(".block_count") else count
    for _ in range(tensors):
        name = string()
        dimensions = struct.unpack_from("<I", raw, at)[0]
        at += 4 + 8 * dimensions
        heads.append((name, struct.unpack_from("<IQ", raw, at)[1]))
        at += 12
    start = -(-at // 32) * 32
    offsets = sorted(offset for _, offset in heads) + [len(raw) - start]
    return count, {name: raw[start + offset:start + offsets[offsets.index(offset) + 1]].rstrip(b"\0") for name, offset in heads}


with tempfile.TemporaryDirectory() as folder:
    out = pathlib.Path(folder) / "cut.gguf"
    before, all_tensors = parts(TARGET)
    done = run(TARGET, out, "--keep", "0,2-3")
    expect(done.returncode == 0 and "3 of 4 blocks" in done.stdout, done)
    after, kept = parts(out)
    expect((before, after) == (4, 3), (before, after))
    for name, data in kept.items():
        of = name
        if name.startswith("blk."):
            block, rest = name.split(".", 2)[1:]
            of = f"blk.{(0, 2, 3)[int(block)]}.{rest}"
        expect(data == all_tensors[of], f"{name} is not {of}")
    expect(len(all_tensors) - len(kept) == sum(name.startswith("blk.1.") for name in all_tensors), "tensors of one block are left out")
    everything = pathlib.Path(folder) / "all.gguf"
    expect(run(TARGET, everything, "--keep", "0-3").returncode == 0, "all blocks")
    expect(parts(everything) == parts(TARGET), "all blocks are the file")
    for wrong in ("4", "1-0", "x", "2,1", "0,0"):
        done = run(TARGET, out, "--keep", wrong)
        expect(done.returncode == 2 and "--keep" in done.stderr, f"{wrong}: {done}")
    # A file that is cut off anywhere, or damaged, is refused, and the older file stays.
    raw, damaged, old = TARGET.read_bytes(), pathlib.Path(folder) / "damaged.gguf", out.read_bytes()
    key = struct.pack("<Q", 17) + b"general.alignment"
    aligned = {what: raw[:16] + struct.pack("<Q", struct.unpack_from("<Q", raw, 16)[0] + 1) + key + value + raw[24:]
               for what, value in (("33", struct.pack("<II", 4, 33)), ("4", struct.pack("<II", 4, 4)), ("64", struct.pack("<IQ", 10, 64)))}
    for what, data in {"last tensor": raw[:-33], "data": raw[:-5000], "head": raw[:5000], "start": raw[:6], "nothing": b"", "text": SCRIPT.read_bytes(),
                       "key": raw[:32] + b"\xff" + raw[33:], **aligned}.items():
        damaged.write_bytes(data)
        done = run(damaged, out, "--keep", "0")
        expect(done.returncode == 2 and done.stderr.count("\n") == 1 and "damaged.gguf" in done.stderr, f"{what}: {done}")
        expect(out.read_bytes() == old and not list(pathlib.Path(folder).glob("*.part")), f"{what}: a file was written")
print("cut_layers: passed")
