#!/usr/bin/env python3
"""Writes a GGUF file with some blocks of another: the layer-skipping draft of a neural target, in its own tokens.

usage: cut_layers.py IN.gguf OUT.gguf --keep 0-8,21-29

Weights are copied as they are, in any quantisation; nothing but Python is needed. Embedding, last norm and output stay.
"""

import argparse
import struct
import sys

WIDTHS = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}  # bytes of GGUF's simple kinds
STRING, LIST = 8, 9
UNSIGNED_32 = 4
USUAL_ALIGNMENT = 32


class Reader:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = file.read()
        self.path, self.at = path, 0

    def unpack(self, form):
        out = struct.unpack_from(form, self.bytes, self.at)
        self.at += struct.calcsize(form)
        return out[0] if len(out) == 1 else out

    def string(self):
        length = self.unpack("<Q")
        self.at += length
        return self.bytes[self.at - length:self.at].decode("utf-8")

    def skip(self, kind):
        if kind == STRING:
            self.string()
        elif kind == LIST:
            of, count = self.unpack("<IQ")
            if of == STRING:
                for _ in range(count):
                    self.string()
            else:
                self.at += count * WIDTHS[of]
        else:
            self.at += WIDTHS[kind]


def blocks_of(text, count):
    """The blocks that "0-8,21-29" names, in their order."""
    kept = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        if not first.isdigit() or not (last or first).isdigit() or int(last or first) >= count or int(first) > int(last or first):
            sys.exit(f"--keep {text}: \"{part}\" is no range of the blocks 0-{count - 1}")
        kept += range(int(first), int(last or first) + 1)
    if sorted(set(kept)) != kept:
        sys.exit(f"--keep {text}: blocks are kept in their order, each once")
    return kept


def cut(path, keep):
    """The bytes of the new file, and the number of blocks of the old one."""
    reader = Reader(path)
    if reader.bytes[:4] != b"GGUF":
        sys.exit(f"{path}: is no GGUF file")
    reader.at = 4
    version, tensors, values = reader.unpack("<IQQ")
    if version != 3:
        sys.exit(f"{path}: GGUF version {version}; this reads version 3")
    facts, counted, alignment = bytearray(), None, USUAL_ALIGNMENT
    for _ in range(values):
        begin = reader.at
        key, kind = reader.string(), reader.unpack("<I")
        value = reader.at
        reader.skip(kind)
        entry = bytearray(reader.bytes[begin:reader.at])
        if key.endswith(".block_count") and kind == UNSIGNED_32:
            counted = struct.unpack_from("<I", reader.bytes, value)[0]
            kept = blocks_of(keep, counted)
            entry[-4:] = struct.pack("<I", len(kept))
        elif key == "general.alignment":
            alignment = struct.unpack_from("<I", reader.bytes, value)[0]
        facts += entry
    if counted is None:
        sys.exit(f"{path}: does not say how many blocks it has")
    heads = []
    for _ in range(tensors):
        name = reader.string()
        dimensions = reader.unpack("<I")
        shape = reader.bytes[reader.at:reader.at + 8 * dimensions]
        reader.at += 8 * dimensions
        kind, offset = reader.unpack("<IQ")
        heads.append((name, dimensions, shape, kind, offset))
    start = -(-reader.at // alignment) * alignment
    ends = sorted(head[4] for head in heads) + [len(reader.bytes) - start]
    table, data, left = bytearray(), bytearray(), 0
    for name, dimensions, shape, kind, offset in heads:
        if name.startswith("blk."):
            _, block, rest = name.split(".", 2)
            if int(block) not in kept:
                continue
            name = f"blk.{kept.index(int(block))}.{rest}"
        end = ends[ends.index(offset) + 1]
        data += bytes(-len(data) % alignment)
        table += struct.pack("<Q", len(name)) + name.encode("utf-8") + struct.pack("<I", dimensions) + shape
        table += struct.pack("<IQ", kind, len(data))
        data += reader.bytes[start + offset:start + end]
        left += 1
    out = b"GGUF" + struct.pack("<IQQ", version, left, values) + facts + table
    return out + bytes(-len(out) % alignment) + data, counted, len(kept)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("source", metavar="IN.gguf")
    parser.add_argument("out", metavar="OUT.gguf")
    parser.add_argument("--keep", required=True, help="blocks to keep, from 0: 0-8,21-29")
    options = parser.parse_args()
    try:
        made, before, after = cut(options.source, options.keep)
        with open(options.out, "wb") as file:
            file.write(made)
    except OSError as error:
        sys.exit(f"{error.filename}: {error.strerror}")
    print(f"{options.out}: {after} of {before} blocks, {len(made)} bytes")


if __name__ == "__main__":
    main()
