"""Reads a GGUF file as a model of llama_jax, with its tokenizer: a target from which drafts are distilled."""

import gguf
import jax.numpy as jnp
import numpy as np

from pair import bpe, gguf_export, llama_jax

SINGLE_DIGITS = {"gpt-2": False, "smollm": True}  # by tokenizer.ggml.pre: whether every digit is a word


class GivenTarget:
    """A given target. `parameters` have matrices in bf16, in which products are computed; `fields` are the file's as gguf reads them.
    ValueError names unsupported parts: other architectures, tokenizers, or tensors that llama_jax does not have."""

    def __init__(self, path):
        if not path.exists():
            raise FileNotFoundError(f"{path} is not there; scripts/setup.sh neural fetches data/smollm2-135m.gguf")
        try:
            reader = gguf.GGUFReader(path)
        except (ValueError, IndexError) as error:
            raise ValueError(f"{path}: is no GGUF file ({error})") from None
        self.path, self.fields = path, reader.fields
        self._demand("general.architecture", ("llama",))
        self._demand("tokenizer.ggml.model", ("gpt2",))
        self._demand("tokenizer.ggml.pre", SINGLE_DIGITS)
        tensors = {tensor.name: tensor for tensor in reader.tensors}
        layers = self.value("llama.block_count")
        self.shape = llama_jax.Shape(
            vocab=len(self.value("tokenizer.ggml.tokens")), width=self.value("llama.embedding_length"),
            inner=self.value("llama.feed_forward_length"), layers=layers, heads=self.value("llama.attention.head_count"),
            key_heads=self.value("llama.attention.head_count_kv"), rope_base=self.value("llama.rope.freq_base"))
        names = ["embed", "norm"] + [f"{layer}.{part}" for layer in range(layers) for part in gguf_export.NAMES]
        wanted = {gguf_export.tensor_name(name): name for name in names}
        if set(wanted) != set(tensors):
            odd = sorted(set(wanted) ^ set(tensors))[0]
            raise ValueError(f"{path}: the tensor {odd} is {'missing' if odd in wanted else 'one that this does not know'}")
        self.parameters = {wanted[name]: array_of(tensor) for name, tensor in tensors.items()}
        if not np.isclose(self.value("llama.attention.layer_norm_rms_epsilon"), llama_jax.EPSILON):
            raise ValueError(f"{path}: RMSNorm adds another number than {llama_jax.EPSILON}")
        merges = [pair.split(" ") for pair in self.value("tokenizer.ggml.merges")]
        self.tokenizer = bpe.Tokenizer(merges, self.value("tokenizer.ggml.tokens"),
                                       SINGLE_DIGITS[self.value("tokenizer.ggml.pre")])

    def value(self, key):
        if key not in self.fields:
            raise ValueError(f"{self.path}: has no {key}")
        return self.fields[key].contents()

    def _demand(self, key, known):
        if self.value(key) not in known:
            raise ValueError(f"{self.path}: {key} is {self.value(key)}; this knows {', '.join(known)}")


def array_of(tensor):
    array = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
    return jnp.asarray(array, jnp.bfloat16 if array.ndim > 1 else jnp.float32)


def projected(embedding, norm, width):
    """The initial embedding [V, width] of a draft: the output matrix [V, D] of the target times its norm's weights, projected on
    its principal axes. Rows have a mean square length of 1."""
    output = np.asarray(embedding, np.float32) * np.asarray(norm, np.float32)
    _, axes = np.linalg.eigh(output.T @ output)
    rows = output @ axes[:, :-width - 1:-1]
    return jnp.asarray(rows / np.sqrt((rows * rows).sum(-1).mean()))
