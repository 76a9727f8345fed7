"""Reads and joins GGUF files. Tensors as f32 need numpy, and are read from q8_0, q4_1, f16 and f32; all else needs Python alone."""

import functools
import math
import struct

SIMPLE = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
UNSIGNED_32, STRING, LIST = 4, 8, 9
F32, F16, Q4_1, Q8_0 = 0, 1, 3, 8
BLOCK = 32  # values of q8_0 and q4_1 that share a scale
ALIGNMENT = 32  # of a file that does not say it
# By the number of values in a block: bytes of a block of each type (ggml.h).
BLOCKS = {1: {0: 4, 1: 2, 24: 1, 25: 2, 26: 4, 27: 8, 28: 8, 30: 2}, 32: {2: 18, 3: 20, 6: 22, 7: 24, 8: 34, 9: 36, 20: 18, 39: 17},
          64: {40: 36}, 128: {41: 18}, 256: {10: 84, 11: 110, 12: 144, 13: 176, 14: 210, 15: 292, 16: 66, 17: 74, 18: 98, 19: 50, 21: 110, 22: 82,
                                             23: 136, 29: 56, 34: 54, 35: 66}}


class Values(dict):
    def __missing__(self, key):
        raise ValueError(f"{self.path}: has no {key}")


class GgufFile:
    """`values` by key; `facts`: the values as bytes of the file; `places` {key: (a value's type, where it begins in `facts`)};
    `alignment` of tensors; `parts`: name, shape, type and bytes of each tensor; `tensors` {name: f32 array}, where a matrix is [out, in].
    ValueError: the file is damaged, or of another format."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self._bytes, self._at = file.read(), 4
        self.path, self.values, self.places = path, Values(), {}
        self.values.path = path
        if self._bytes[:4] != b"GGUF":
            raise ValueError(f"{path}: is no GGUF file")
        version, tensors, values = self._unpack("<IQQ")
        if version != 3:
            raise ValueError(f"{path}: GGUF version {version}; only version 3 is supported")
        for _ in range(values):
            key, kind = self._string(), self._unpack("<I")[0]
            self.places[key] = kind, self._at - 24
            self.values[key] = self._value(kind)
        self.facts = self._bytes[24:self._at]
        self.alignment = self.values.get("general.alignment", ALIGNMENT)
        if self.places.get("general.alignment", (UNSIGNED_32,))[0] != UNSIGNED_32 or self.alignment < 8 or self.alignment.bit_count() != 1:
            raise ValueError(f"{path}: general.alignment is {self.alignment}; expected a power of two from 8 on, as u32")
        heads = []
        for _ in range(tensors):
            name, dimensions = self._string(), self._unpack("<I")[0]
            heads.append((name, self._unpack(f"<{dimensions}Q")[::-1], *self._unpack("<IQ")))
        begin = -(-self._at // self.alignment) * self.alignment
        self.parts = [(name, shape, kind, self._data(name, shape, kind, begin + offset)) for name, shape, kind, offset in heads]

    @functools.cached_property
    def tensors(self):
        return {name: self._tensor(name, kind, data).reshape(shape) for name, shape, kind, data in self.parts}

    def with_number(self, key, number):
        """`facts` with another number of 32 bits."""
        at = self.places[key][1]
        return self.facts[:at] + struct.pack("<I", number) + self.facts[at + 4:]

    def _take(self, count, what="its head"):
        if self._at + count > len(self._bytes):
            raise ValueError(f"{self.path}: is cut off or damaged: {len(self._bytes)} bytes end within {what}; fetch or make it again")
        self._at += count
        return self._at - count

    def _unpack(self, form):
        return struct.unpack_from(form, self._bytes, self._take(struct.calcsize(form)))

    def _string(self):
        begin = self._take(self._unpack("<Q")[0])
        try:
            return self._bytes[begin:self._at].decode("utf-8")
        except UnicodeDecodeError:
            raise ValueError(f"{self.path}: is damaged: a text at byte {begin} is not UTF-8") from None

    def _value(self, kind):
        if kind == STRING:
            return self._string()
        of, count = self._unpack("<IQ") if kind == LIST else (LIST, 0)
        if of != LIST:
            return [self._value(of) for _ in range(count)]
        if kind not in SIMPLE:
            raise ValueError(f"{self.path}: is damaged: a value before byte {self._at} has no known type")
        return self._unpack(SIMPLE[kind])[0]

    def _data(self, name, shape, kind, at):
        values, size = next(((values, sizes[kind]) for values, sizes in BLOCKS.items() if kind in sizes), (0, 0))
        if not values or (shape and shape[-1] % values):
            raise ValueError(f"{self.path}: {name} has rows of {shape[-1:]} values of type {kind}, which this does not know; is the file damaged?")
        self._at = at
        at = self._take(math.prod(shape) // values * size, name)
        return memoryview(self._bytes)[at:self._at]

    def _tensor(self, name, kind, data):
        import numpy as np

        if kind in (F32, F16):
            return np.frombuffer(data, "<f4" if kind == F32 else "<f2").astype(np.float32)
        if kind == Q4_1:  # the low halves of the bytes are the first 16 values
            blocks = np.frombuffer(data, np.dtype([("scale", "<f2"), ("least", "<f2"), ("values", "u1", BLOCK // 2)]))
            values = np.concatenate([blocks["values"] & 15, blocks["values"] >> 4], axis=1)
            return blocks["scale"].astype(np.float32)[:, None] * values + blocks["least"].astype(np.float32)[:, None]
        if kind != Q8_0:
            raise ValueError(f"{self.path}: {name} is of type {kind}; only f32, f16, q8_0 and q4_1 are supported")
        blocks = np.frombuffer(data, np.dtype([("scale", "<f2"), ("values", "i1", BLOCK)]))
        return blocks["scale"].astype(np.float32)[:, None] * blocks["values"]


def joined(facts, count, parts, alignment=ALIGNMENT):
    """The bytes of a file of version 3 (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md) with `count` values, and parts as in GgufFile."""
    table, data = bytearray(), bytearray()
    for name, shape, kind, content in parts:
        table += struct.pack("<Q", len(name.encode())) + name.encode() + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape[::-1], kind, len(data))
        data += content
        data += bytes(-len(data) % alignment)
    out = b"GGUF" + struct.pack("<IQQ", 3, len(parts), count) + facts + table
    return out + bytes(-len(out) % alignment) + data
