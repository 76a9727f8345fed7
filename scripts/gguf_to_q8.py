#!/usr/bin/env python3
"""Writes a GGUF file with its matrices in q8_0, a format from which all engines of speclab.audit compute the same model.

usage: gguf_to_q8.py IN.gguf OUT.gguf

OpenVINO GenAI computes another model than a file in q4_1 contains (results/engines/openvino.md). Reads f32, f16, q8_0 and
q4_1. Needs numpy.
"""

import argparse

import numpy as np

from of_package.gguf_file import BLOCK, F32, Q8_0, UNSIGNED_32, GgufFile, joined
from of_package.whole_file import one_line, whole_file

KIND = "general.file_type"
MOSTLY_Q8_0 = 7


def q8_0(matrix):
    blocks = matrix.reshape(-1, BLOCK)
    scale = np.abs(blocks).max(axis=1, keepdims=True) / 127
    values = np.divide(blocks, scale, out=np.zeros_like(blocks), where=scale > 0)
    made = np.empty(len(blocks), np.dtype([("scale", "<f2"), ("values", "i1", BLOCK)]))
    made["scale"], made["values"] = scale[:, 0], np.rint(values)
    return made.tobytes()


def converted(file):
    """The bytes of the new file."""
    parts = []
    for name, tensor in file.tensors.items():
        if tensor.ndim > 1 and tensor.shape[-1] % BLOCK:
            raise ValueError(f"{file.path}: a row of {name} has {tensor.shape[-1]} values; q8_0 needs a multiple of {BLOCK}")
        made = (Q8_0, q8_0(tensor)) if tensor.ndim > 1 else (F32, tensor.astype("<f4").tobytes())
        parts.append((name, tensor.shape, *made))
    said = file.places.get(KIND, (None,))[0] == UNSIGNED_32
    return joined(file.with_number(KIND, MOSTLY_Q8_0) if said else file.facts, len(file.values), parts, file.alignment)


@one_line()
def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("source", metavar="IN.gguf")
    parser.add_argument("out", metavar="OUT.gguf")
    options = parser.parse_args()
    made = converted(GgufFile(options.source))
    with whole_file(options.out, "wb") as file:
        file.write(made)
    print(f"{options.out}: {len(made)} bytes")


if __name__ == "__main__":
    main()
