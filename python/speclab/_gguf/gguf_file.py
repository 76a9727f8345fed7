"""Reads GGUF files with numpy alone: their values, and their matrices as f32. It reads q8_0, q4_1, f16 and f32."""

import struct

import numpy as np

SIMPLE = {0: "<u1", 1: "<i1", 2: "<u2", 3: "<i2", 4: "<u4", 5: "<i4", 6: "<f4", 7: "?", 10: "<u8", 11: "<i8", 12: "<f8"}
STRING, LIST = 8, 9
F32, F16, Q4_1, Q8_0 = 0, 1, 3, 8
BLOCK = 32  # values of a quantised kind that share a scale
ALIGNMENT = 32


class GgufFile:
    """`values` by key; `tensors` {name: f32 array}, where a matrix is [out, in]; `facts`: the values as bytes of the file."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self._bytes, self._at = file.read(), 4
        if self._bytes[:4] != b"GGUF":
            raise ValueError(f"{path}: is no GGUF file")
        version, tensors, values = self._unpack("<IQQ")
        if version != 3:
            raise ValueError(f"{path}: GGUF version {version}; only version 3 is supported")
        self.values = {}
        for _ in range(values):
            key = self._string()
            self.values[key] = self._value(*self._unpack("<I"))
        self.facts = self._bytes[24:self._at]
        heads = []
        for _ in range(tensors):
            name = self._string()
            dimensions = self._unpack("<I")[0]
            heads.append((name, self._unpack(f"<{dimensions}Q")[::-1], *self._unpack("<IQ")))
        begin = (self._at + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        self.tensors = {name: self._tensor(path, name, shape, kind, begin + offset) for name, shape, kind, offset in heads}

    def _unpack(self, form):
        out = struct.unpack_from(form, self._bytes, self._at)
        self._at += struct.calcsize(form)
        return out

    def _string(self):
        length = self._unpack("<Q")[0]
        self._at += length
        return self._bytes[self._at - length:self._at].decode("utf-8")

    def _value(self, kind):
        if kind == STRING:
            return self._string()
        if kind == LIST:
            of, count = self._unpack("<IQ")
            return [self._value(of) for _ in range(count)]
        value = np.frombuffer(self._bytes, SIMPLE[kind], 1, self._at)[0].item()
        self._at += np.dtype(SIMPLE[kind]).itemsize
        return value

    def _tensor(self, path, name, shape, kind, at):
        count = int(np.prod(shape))
        if kind in (F32, F16):
            return np.frombuffer(self._bytes, "<f4" if kind == F32 else "<f2", count, at).astype(np.float32).reshape(shape)
        if kind == Q4_1:  # the low halves of the bytes are the first 16 values
            blocks = np.frombuffer(self._bytes, np.dtype([("scale", "<f2"), ("least", "<f2"), ("values", "u1", BLOCK // 2)]), count // BLOCK, at)
            values = np.concatenate([blocks["values"] & 15, blocks["values"] >> 4], axis=1)
            return (blocks["scale"].astype(np.float32)[:, None] * values + blocks["least"].astype(np.float32)[:, None]).reshape(shape)
        if kind != Q8_0:
            raise ValueError(f"{path}: {name} is of type {kind}; only f32, f16, q8_0 and q4_1 are supported")
        blocks = np.frombuffer(self._bytes, np.dtype([("scale", "<f2"), ("values", "i1", BLOCK)]), count // BLOCK, at)
        return (blocks["scale"].astype(np.float32)[:, None] * blocks["values"]).reshape(shape)
