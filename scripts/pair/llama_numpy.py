"""A model of the pair in numpy, from its GGUF file: the forward pass that other implementations are compared with."""

import numpy as np

from pair import bpe, gguf_file


class Llama:
    """Matrices are used in f32, and activations are not quantised as libllama does for q8_0."""

    def __init__(self, path):
        file = gguf_file.GgufFile(path)
        self.values, self.tensors = file.values, file.tensors
        self.layers, self.width = self.values["llama.block_count"], self.values["llama.embedding_length"]
        self.heads = self.values["llama.attention.head_count"]
        self.head = self.width // self.heads
        self.epsilon = self.values["llama.attention.layer_norm_rms_epsilon"]
        self.base = self.values["llama.rope.freq_base"]
        self.vocab = len(self.values["tokenizer.ggml.tokens"])

    def tokenizer(self):
        return bpe.Tokenizer([pair.split(" ") for pair in self.values["tokenizer.ggml.merges"]])

    def start(self, rows):
        """A state: keys and values of `rows` sequences, none yet."""
        empty = np.zeros((rows, self.heads, 0, self.head), np.float32)
        return [(empty, empty)] * self.layers

    def logits(self, tokens, state):
        """Logits [B, T, V] after each of tokens [B, T], which follow those in the state; and the state after them."""
        batch, length = tokens.shape
        past = state[0][0].shape[2]
        angle = np.arange(past, past + length)[:, None] * self.base ** (-np.arange(0, self.head, 2) / self.head)
        cos, sin = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
        visible = np.arange(past + length) <= np.arange(past, past + length)[:, None]
        x, after = self.tensors["token_embd.weight"][tokens], []
        for layer in range(self.layers):
            h = self._normed(x, f"blk.{layer}.attn_norm")
            q, k, v = ((h @ self._matrix(layer, f"attn_{m}")).reshape(batch, length, self.heads, self.head).swapaxes(1, 2)
                       for m in "qkv")
            q, k = rotated(q, cos, sin), rotated(k, cos, sin)
            k, v = np.concatenate([state[layer][0], k], axis=2), np.concatenate([state[layer][1], v], axis=2)
            after.append((k, v))
            weights = softmax(np.where(visible, q @ k.swapaxes(2, 3) * np.float32(self.head ** -0.5), -np.inf))
            x = x + (weights @ v).swapaxes(1, 2).reshape(batch, length, self.width) @ self._matrix(layer, "attn_output")
            h = self._normed(x, f"blk.{layer}.ffn_norm")
            gate = h @ self._matrix(layer, "ffn_gate")
            x = x + (gate / (1 + np.exp(-gate)) * (h @ self._matrix(layer, "ffn_up"))) @ self._matrix(layer, "ffn_down")
        return self._normed(x, "output_norm") @ self.tensors["token_embd.weight"].T, after

    def _matrix(self, layer, name):
        return self.tensors[f"blk.{layer}.{name}.weight"].T

    def _normed(self, x, name):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(self.epsilon)) * self.tensors[f"{name}.weight"]


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
