"""Writes tables as models of the Llama architecture, for serving engines: target.gguf, draft.gguf, and folders target and draft with
config.json and model.safetensors. Their rows are the config's, to the last digits of float32.

Token t of the config is id t of the models. Id 0 is their beginning and end of text; a prompt begins with it, because a config's text
starts after its token 0. The text of id t > 0 is the t-th letter. The models have one block that adds nothing, so that the last norm sees
only the embedding of the last token, and the row is the output matrix at that token.
"""

from __future__ import annotations

import math
import pathlib
import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .._errors import ConfigError
from .._gguf import hf_folder
from .._gguf.gguf_file import SIMPLE, GgufFile, joined
from .._recorders.whole_file import whole_file

NEVER = -1e4  #: logit of an id of probability 0
EPSILON = 1e-6
CONTEXT = 256  #: context length

Rows = list[list[float]]


def ending(config: Mapping[str, Any]) -> dict[str, Any]:
    """The config's pair with texts that end: token 0 has a probability of 0.1 to 0.2 after each token, different in the two models."""
    made = {}
    for side, rows in tables(config):
        ends = [0.1 + 0.05 * (at % 3) if side == "target" else 0.2 - 0.05 * (at % 3) for at in range(len(rows))]
        made[side] = {"kind": "table", "rows": [[end, *((1 - end) * one for one in row[1:])] for end, row in zip(ends, rows)]}
    return {**config, "models": made}


def tables(config: Mapping[str, Any], ends: bool = False) -> Iterator[tuple[str, Rows]]:
    """The rows of "target" and "draft", which sum to 1. `ends`: token 0 may have a probability above 0. ConfigError if they are no
    tables of this kind."""
    models = config.get("models")
    for side in ("target", "draft"):
        model = models.get(side) if isinstance(models, Mapping) else None
        rows = model.get("rows", []) if isinstance(model, Mapping) and model.get("kind") == "table" else []
        try:
            square = 2 <= len(rows) <= 27 and all(len(row) == len(rows) and min(row) >= 0 < sum(row) < math.inf for row in rows)
        except TypeError:
            square = False
        if not square:
            needed = 'engines decode models of the kind "table" with at most 27 tokens and a row of weights for each last one'
            raise ConfigError(f"/models/{side}: {needed}", f"/models/{side}")
        if not ends and any(row[0] > 0 for row in rows):
            raise ConfigError(f"/models/{side}/rows: a row gives token 0 a probability above 0; it is the end of text, which engines must not emit here",
                              f"/models/{side}/rows")
        yield side, [[weight / sum(row) for weight in row] for row in rows]


def width_of(rows: Rows) -> int:
    return -(-2 * len(rows) // 32) * 32


def tensors(rows: Rows) -> list[tuple[str, tuple[int, ...], list[float]]]:
    """The tensors: name, shape (rows, columns), values."""
    vocabulary, width = len(rows), width_of(rows)
    size = math.sqrt(width / 2)  # two entries of this size have a mean square of 1, so that the norm keeps them
    embedding = [0.0] * (vocabulary * width)
    output = [0.0] * (vocabulary * width)
    for token in range(vocabulary):
        first = 2 * token
        embedding[token * width + first] = embedding[token * width + first + 1] = size
        for after, weight in enumerate(rows[token]):
            logit = (math.log(weight) if weight > 0 else NEVER) * math.sqrt(1 + EPSILON) / size
            # A logit is the sum of two 16-bit numbers; the second is the rounding error of the first.
            large = half(logit)
            output[after * width + first : after * width + first + 2] = [large, half(logit - large)]
    square, ones = [0.0] * (width * width), [1.0] * width
    block = [(name, (width,), ones) if name.endswith("norm") else (name, (width, width), square) for name in hf_folder.NAMES]
    return [("token_embd.weight", (vocabulary, width), embedding), ("output_norm.weight", (width,), ones), ("output.weight", (vocabulary, width), output),
            *((f"blk.0.{name}.weight", shape, values) for name, shape, values in block)]


def half(value: float) -> float:
    return struct.unpack("<e", struct.pack("<e", value))[0]


def gguf(rows: Rows) -> bytes:
    """A GGUF file."""
    uint32, int32, float32, boolean, string, many = 4, 5, 6, 7, 8, 9

    def text(value: str) -> bytes:
        data = value.encode()
        return struct.pack("<Q", len(data)) + data

    def value(kind: int, content: Any) -> bytes:
        return text(content) if kind == string else struct.pack(SIMPLE[kind], content)

    width = width_of(rows)
    tokens = ["<|endoftext|>", *(chr(ord("a") + token - 1) for token in range(1, len(rows)))]
    keys = [("general.architecture", string, "llama"), ("general.name", string, "table"),
            ("llama.context_length", uint32, CONTEXT), ("llama.embedding_length", uint32, width), ("llama.block_count", uint32, 1),
            ("llama.feed_forward_length", uint32, width), ("llama.attention.head_count", uint32, 1),
            ("llama.attention.head_count_kv", uint32, 1), ("llama.rope.dimension_count", uint32, width),
            ("llama.rope.freq_base", float32, 10000.0), ("llama.attention.layer_norm_rms_epsilon", float32, EPSILON),
            ("llama.vocab_size", uint32, len(tokens)),
            ("general.file_type", uint32, 1), ("tokenizer.ggml.model", string, "gpt2"),
            ("tokenizer.ggml.pre", string, "gpt-2"), ("tokenizer.ggml.tokens", (many, string), tokens),
            ("tokenizer.ggml.token_type", (many, int32), [3] + [1] * (len(rows) - 1)),
            ("tokenizer.ggml.merges", (many, string), []), ("tokenizer.ggml.bos_token_id", uint32, 0),
            ("tokenizer.ggml.eos_token_id", uint32, 0), ("tokenizer.ggml.add_bos_token", boolean, False)]
    parts = []  # matrices have 16 bits, norms 32
    for name, shape, values in tensors(rows):
        matrix = len(shape) == 2
        data = struct.pack(f"<{len(values)}{'e' if matrix else 'f'}", *values)
        parts.append((name, shape, int(matrix), data))
    facts = b""
    for key, kind, content in keys:
        facts += text(key)
        if isinstance(kind, tuple):
            facts += struct.pack("<IIQ", many, kind[1], len(content)) + b"".join(value(kind[1], one) for one in content)
        else:
            facts += struct.pack("<I", kind) + value(kind, content)
    return joined(facts, len(keys), parts)


def write_whole(path: pathlib.Path, write: Callable[[Any], Any]) -> None:
    """Writes a file, and its folder, completely or not at all. A process that has mapped the old file keeps its contents."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path, "wb") as file:
        write(file)


def write_models(config: Mapping[str, Any], folder: pathlib.Path, ends: bool = False) -> None:
    for side, rows in list(tables(config, ends)):
        # An engine of another audit may have mapped the existing weights.
        write_whole(folder / f"{side}.gguf", lambda file, content=gguf(rows): file.write(content))
        for name, content in hf_folder.files(GgufFile(folder / f"{side}.gguf")).items():
            write_whole(folder / side / name, lambda file, content=content: file.write(content))
