#!/usr/bin/env python3
"""Writes a GGUF file with its matrices in q8_0, a format from which all engines of speclab.audit compute the same model.

usage: gguf_to_q8.py IN.gguf OUT.gguf

OpenVINO GenAI computes another model than a file in q4_1 contains (results/engines/openvino.md). Reads f32, f16, q8_0 and
q4_1. Needs numpy.
"""

import argparse
import pathlib
import struct
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from pair.gguf_file import ALIGNMENT, BLOCK, F32, Q8_0, GgufFile  # noqa: E402

KIND = b"general.file_type" + struct.pack("<I", 4)  # an unsigned number of 32 bits
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
    facts = file.facts
    if (at := facts.find(KIND)) >= 0:
        at += len(KIND)
        facts = facts[:at] + struct.pack("<I", MOSTLY_Q8_0) + facts[at + 4:]
    table, data = bytearray(), bytearray()
    for name, tensor in file.tensors.items():
        matrix = tensor.ndim > 1
        table += struct.pack("<Q", len(name)) + name.encode("utf-8")
        table += struct.pack(f"<I{tensor.ndim}QIQ", tensor.ndim, *tensor.shape[::-1], Q8_0 if matrix else F32, len(data))
        made = q8_0(tensor) if matrix else tensor.astype("<f4").tobytes()
        data += made + bytes(-len(made) % ALIGNMENT)
    out = b"GGUF" + struct.pack("<IQQ", 3, len(file.tensors), len(file.values)) + facts + table
    return out + bytes(-len(out) % ALIGNMENT) + data


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("source", metavar="IN.gguf")
    parser.add_argument("out", metavar="OUT.gguf")
    options = parser.parse_args()
    try:
        made = converted(GgufFile(options.source))
        with open(options.out, "wb") as file:
            file.write(made)
    except OSError as error:
        sys.exit(f"{error.filename}: {error.strerror}")
    except ValueError as error:
        sys.exit(str(error))
    print(f"{options.out}: {len(made)} bytes")


if __name__ == "__main__":
    main()
