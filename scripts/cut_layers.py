#!/usr/bin/env python3
"""Writes a GGUF file with some blocks of another: the layer-skipping draft of a neural target, in its own tokens.

usage: cut_layers.py IN.gguf OUT.gguf --keep 0-8,21-29

Weights are copied as they are, in any quantisation; nothing but Python is needed. Embedding, last norm and output stay.
"""

import argparse

from of_package.gguf_file import UNSIGNED_32, GgufFile, joined
from of_package.whole_file import one_line, whole_file


def blocks_of(text, count):
    """The blocks that "0-8,21-29" names, in their order."""
    kept = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        if not first.isdigit() or not (last or first).isdigit() or int(last or first) >= count or int(first) > int(last or first):
            raise ValueError(f"--keep {text}: \"{part}\" is no range of the blocks 0-{count - 1}")
        kept += range(int(first), int(last or first) + 1)
    if sorted(set(kept)) != kept:
        raise ValueError(f"--keep {text}: blocks are kept in their order, each once")
    return kept


def cut(path, keep):
    """The bytes of the new file, and the numbers of blocks of the old one and the new one."""
    file = GgufFile(path)
    counts = [key for key, (kind, _) in file.places.items() if key.endswith(".block_count") and kind == UNSIGNED_32]
    if len(counts) != 1:
        raise ValueError(f"{path}: does not say how many blocks it has")
    kept = blocks_of(keep, file.values[counts[0]])
    parts = []
    for name, *rest in file.parts:
        if name.startswith("blk."):
            _, block, part = name.split(".", 2)
            if int(block) not in kept:
                continue
            name = f"blk.{kept.index(int(block))}.{part}"
        parts.append((name, *rest))
    return joined(file.with_number(counts[0], len(kept)), len(file.values), parts, file.alignment), file.values[counts[0]], len(kept)


@one_line()
def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("source", metavar="IN.gguf")
    parser.add_argument("out", metavar="OUT.gguf")
    parser.add_argument("--keep", required=True, help="blocks to keep, from 0: 0-8,21-29")
    options = parser.parse_args()
    made, before, after = cut(options.source, options.keep)
    with whole_file(options.out, "wb") as file:
        file.write(made)
    print(f"{options.out}: {after} of {before} blocks, {len(made)} bytes")


if __name__ == "__main__":
    main()
