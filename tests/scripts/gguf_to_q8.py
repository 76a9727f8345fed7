"""Tests scripts/gguf_to_q8.py: matrices of q8_0 stay unchanged, those of q4_1 change by at most half a step (of 127), and the rest of
the file is kept.

usage: gguf_to_q8.py SPECLAB SOURCE
"""

import pathlib
import struct
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("gguf_to_q8: skipped, numpy is missing")
    sys.exit(77)

source = pathlib.Path(sys.argv[2])
sys.path.insert(0, str(source / "scripts"))
from of_package.gguf_file import GgufFile  # noqa: E402

SCRIPT, TARGET = source / "scripts/gguf_to_q8.py", source / "configs/neural/target.gguf"


def expect(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def run(*words):
    return subprocess.run([sys.executable, "-B", SCRIPT, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)


def string(text):
    return struct.pack("<Q", len(text)) + text.encode()


def q4_1(draws, rows, columns):
    """The bytes of a matrix, and its values by ggml's definition: d q + m, low halves of the bytes first."""
    data, values = bytearray(), []
    for _ in range(rows * columns // 32):
        scale, least = np.float16(draws.uniform(0.01, 0.1)), np.float16(draws.normal())
        whole = [int(one) for one in draws.integers(0, 16, 32)]
        data += scale.tobytes() + least.tobytes() + bytes(whole[i] | whole[i + 16] << 4 for i in range(16))
        values += [float(scale) * one + float(least) for one in whole]
    return bytes(data), np.array(values).reshape(rows, columns)


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    done = run(TARGET, folder / "same.gguf")
    expect(done.returncode == 0, done)
    before, after = GgufFile(TARGET), GgufFile(folder / "same.gguf")
    expect(before.values == after.values and list(before.tensors) == list(after.tensors), "what the file says")
    expect(all(np.array_equal(tensor, after.tensors[key]) for key, tensor in before.tensors.items()), "q8_0 stays as it is")

    data, values = q4_1(np.random.default_rng(1), 3, 64)
    norm = np.linspace(0, 1, 5).astype("<f4")
    head = b"GGUF" + struct.pack("<IQQ", 3, 2, 2) + string("general.file_type") + struct.pack("<II", 4, 3) + string("general.name") + struct.pack("<I", 8) + string("x")
    head += string("matrix") + struct.pack("<IQQIQ", 2, 64, 3, 3, 0) + string("norm") + struct.pack("<IQIQ", 1, 5, 0, -(-len(data) // 32) * 32)
    (folder / "q4.gguf").write_bytes(head + bytes(-len(head) % 32) + data + bytes(-len(data) % 32) + norm.tobytes())
    expect(np.abs(GgufFile(folder / "q4.gguf").tensors["matrix"] - values).max() < 1e-6, "q4_1 as ggml defines it")
    done = run(folder / "q4.gguf", folder / "q8.gguf")
    expect(done.returncode == 0, done)
    made = GgufFile(folder / "q8.gguf")
    expect(made.values == {"general.file_type": 7, "general.name": "x"}, made.values)
    expect(np.array_equal(made.tensors["norm"], norm), "vectors stay in f32")
    apart = np.abs(made.tensors["matrix"] - values).reshape(-1, 32).max(axis=1)
    largest = np.abs(values).reshape(-1, 32).max(axis=1)
    expect((apart < largest * (0.5 / 127 + 2 ** -11)).all(), "half a step, and the rounding of a scale to f16")
    expect((apart > 0).any(), "rounded")

    # The same file with its tensors at multiples of 64, as the file says.
    spread = head.replace(struct.pack("<IQQ", 3, 2, 2), struct.pack("<IQQ", 3, 2, 3)).replace(
        string("general.file_type"), string("general.alignment") + struct.pack("<II", 4, 64) + string("general.file_type")).replace(
        struct.pack("<QIQ", 5, 0, -(-len(data) // 32) * 32), struct.pack("<QIQ", 5, 0, -(-len(data) // 64) * 64))
    for more in (0, 32):  # where the head ends decides whether a reader at 32 would find the first tensor
        longer = spread.replace(string("x"), string("x" + "y" * more))
        (folder / "q4.gguf").write_bytes(longer + bytes(-len(longer) % 64) + data + bytes(-len(data) % 64) + norm.tobytes())
        expect(run(folder / "q4.gguf", folder / "spread.gguf").returncode == 0, "alignment 64")
        for name in ("q4", "spread"):
            read = GgufFile(folder / f"{name}.gguf")
            expect(read.values["general.alignment"] == 64 and np.array_equal(read.tensors["norm"], norm), f"{name}: alignment")
            expect(np.abs(read.tensors["matrix"] - (values if name == "q4" else made.tensors["matrix"])).max() < 1e-6, f"{name}: alignment")
        raw = (folder / "spread.gguf").read_bytes()
        expect(len(raw) % 64 == 0 and raw[-64:-44] == norm.tobytes(), "written at multiples of 64")

    expect("is no GGUF file" in run(SCRIPT, folder / "x.gguf").stderr, "another file")
    for content in (b"", b"GGUF", (folder / "q8.gguf").read_bytes()[:-64]):
        (folder / "damaged.gguf").write_bytes(content)
        for script, out in ((SCRIPT, folder / "x.gguf"), (source / "scripts/gguf_to_hf.py", folder / "x")):
            done = subprocess.run([sys.executable, "-B", script, folder / "damaged.gguf", out], stderr=subprocess.PIPE, text=True, check=False)
            expect(done.returncode == 2 and done.stderr.count("\n") == 1 and "damaged.gguf" in done.stderr and not out.exists(), done)
    done = subprocess.run([sys.executable, "-B", source / "scripts/gguf_to_hf.py", folder / "q8.gguf", folder / "x"], stderr=subprocess.PIPE, text=True, check=False)
    expect(done.returncode == 2 and done.stderr.count("\n") == 1 and not (folder / "x").exists(), f"no model of Llama: {done}")
    missing = run(folder / "nowhere.gguf", folder / "x.gguf")
    expect(missing.returncode == 2 and "nowhere.gguf: No such file" in missing.stderr, missing)
print("gguf_to_q8: passed")
