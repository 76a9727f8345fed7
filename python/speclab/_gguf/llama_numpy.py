"""The forward pass of the Llama architecture in numpy, from a GGUF file; other implementations are compared with it."""

import numpy as np

from .gguf_file import GgufFile
from .hf_folder import NAMES


class Llama:
    """A model. Matrices are used in `dtype`; activations are not quantised, as libllama does for q8_0. ValueError: the file is
    of another architecture, or has unknown tensors."""

    def __init__(self, path, dtype=np.float32):
        file = GgufFile(path)
        self.file, self.values = file, file.values
        if self.values.get("general.architecture") != "llama":
            raise ValueError(f"{path}: general.architecture is {self.values.get('general.architecture')!r}; only 'llama' is supported")
        self.tensors = {name: tensor.astype(dtype, copy=False) for name, tensor in file.tensors.items()}
        self.dtype = dtype
        self.layers, self.width = self.values["llama.block_count"], self.values["llama.embedding_length"]
        known = {"token_embd.weight", "output_norm.weight", "output.weight",
                 *(f"blk.{layer}.{name}.weight" for layer in range(self.layers) for name in NAMES)}
        if odd := sorted((known - {"output.weight"}) - set(self.tensors) | (set(self.tensors) - known)):
            raise ValueError(f"{path}: the tensor {odd[0]} is {'missing' if odd[0] in known else 'not supported'}")
        self.heads = self.values["llama.attention.head_count"]
        self.key_heads = self.values.get("llama.attention.head_count_kv", self.heads)
        self.head = self.width // self.heads
        self.epsilon = self.values["llama.attention.layer_norm_rms_epsilon"]
        self.base = self.values.get("llama.rope.freq_base", 10000.0)
        self.vocab = len(self.values["tokenizer.ggml.tokens"])
        # If a file has no output matrix, the embedding replaces it.
        self.output = self.tensors.get("output.weight", self.tensors["token_embd.weight"]).T

    def start(self, rows):
        """A state for `rows` sequences: keys and values, none yet."""
        empty = np.zeros((rows, self.key_heads, 0, self.head), self.dtype)
        return [(empty, empty)] * self.layers

    def logits(self, tokens, state):
        """Logits [B, T, V] after each of tokens [B, T], which continue the state's tokens; and the new state."""
        batch, length = tokens.shape
        past = state[0][0].shape[2]
        angle = np.arange(past, past + length)[:, None] * self.base ** (-np.arange(0, self.head, 2) / self.head)
        cos, sin = np.cos(angle).astype(self.dtype), np.sin(angle).astype(self.dtype)
        visible = np.arange(past + length) <= np.arange(past, past + length)[:, None]
        x, after = self.tensors["token_embd.weight"][tokens], []
        for layer in range(self.layers):
            h = self._normed(x, f"blk.{layer}.attn_norm")
            q, k, v = ((h @ self._matrix(layer, f"attn_{m}")).reshape(batch, length, -1, self.head).swapaxes(1, 2) for m in "qkv")
            q, k = rotated(q, cos, sin), rotated(k, cos, sin)
            k, v = np.concatenate([state[layer][0], k], axis=2), np.concatenate([state[layer][1], v], axis=2)
            after.append((k, v))
            # Neighbouring query heads share one head of keys and values.
            k, v = (np.repeat(one, self.heads // self.key_heads, axis=1) for one in (k, v))
            weights = softmax(np.where(visible, q @ k.swapaxes(2, 3) * self.dtype(self.head ** -0.5), -np.inf))
            x = x + (weights @ v).swapaxes(1, 2).reshape(batch, length, self.width) @ self._matrix(layer, "attn_output")
            h = self._normed(x, f"blk.{layer}.ffn_norm")
            gate = h @ self._matrix(layer, "ffn_gate")
            x = x + (gate / (1 + np.exp(-gate)) * (h @ self._matrix(layer, "ffn_up"))) @ self._matrix(layer, "ffn_down")
        return self._normed(x, "output_norm") @ self.output, after

    def _matrix(self, layer, name):
        return self.tensors[f"blk.{layer}.{name}.weight"].T

    def _normed(self, x, name):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + self.dtype(self.epsilon)) * self.tensors[f"{name}.weight"]


def rotated(x, cos, sin):
    """RoPE over neighbouring pairs (0, 1), (2, 3), ..."""
    out = np.empty_like(x)
    out[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
    out[..., 1::2] = x[..., 0::2] * sin + x[..., 1::2] * cos
    return out


def softmax(x):
    x = np.exp(x - x.max(-1, keepdims=True))
    return x / x.sum(-1, keepdims=True)


def log_softmax(x):
    """In f64."""
    x = x.astype(np.float64)
    x = x - x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))
