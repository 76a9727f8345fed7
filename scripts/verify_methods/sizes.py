"""The shapes of a sweep, and the bytes of global memory that each method moves for them, counted from its launches.

Counts are per request and id of the vocabulary, over arrays as long as a row; s is the size of a logit. Caches are ignored.
"""
import itertools
from dataclasses import dataclass

BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}


@dataclass(frozen=True)
class Shape:
    requests: int
    gamma: int
    vocab: int
    dtype: str

    def __str__(self):
        return f"B {self.requests}, gamma {self.gamma}, V {self.vocab}, {self.dtype}"

    @property
    def logit_bytes(self):
        """Bytes of both tensors of logits."""
        return self.requests * (2 * self.gamma + 1) * self.vocab * BYTES[self.dtype]


def sweep(requests, gammas, vocabs, dtypes):
    return [Shape(*point) for point in itertools.product(requests, gammas, vocabs, dtypes)]


def softmaxes(s, gamma):
    """Both tensors' probabilities as fp32."""
    return (s + 4) * (2 * gamma + 1)


def _loop(s, gamma):
    casts = 0 if s == 4 else softmaxes(s, gamma)
    # Softmaxes of fp32; difference, clamp, sum, division; the bonus row or the residual; multinomial (normalise,
    # cumulate).
    return casts + softmaxes(4, gamma) + 12 + 8 + 4 + 8 + 32


def _tiles(s, gamma):
    """Each row once, and the row pair of the next token again."""
    return 2 * gamma * s + 2 * s


def _cut(s, gamma):
    """The target's rows twice more, for the cut-offs of top-k and top-p."""
    return _tiles(s, gamma) + 2 * (gamma + 1) * s


def _copied(s, gamma):
    """Target rows copied as fp32 and divided by the temperature in place, then the tiles of these and of the draft."""
    return (gamma + 1) * (s + 4 + 8) + gamma * (s + 4) + s + 4


def _flashinfer(s, gamma):
    """Both cast to fp32, read and written by the softmax; then the pair of rows at the first rejection twice."""
    return (0 if s == 4 else softmaxes(s, gamma)) + softmaxes(4, gamma) + 2 * 8


def _speclab_known(s, gamma):
    """With the draft's sums known, only the rejected row of the draft is read."""
    return gamma * s + 2 * s


PER_ID = {
    "hf-loop": _loop,
    "speclab-fused": _tiles,
    "speclab-operator": _tiles,
    "speclab-prepared": _tiles,
    "speclab-operator-cut": _cut,
    "model-runner-drop-in": _tiles,
    "vllm-model-runner": _tiles,
    "vllm-model-runner-temperature": _copied,
    "flashinfer-chain": _flashinfer,
    "speclab-fused-draft-sums": _speclab_known,
}


def bytes_moved(method, shape):
    """Bytes moved; None if they have not been counted."""
    count = PER_ID.get(method)
    return None if count is None else shape.requests * shape.vocab * count(BYTES[shape.dtype], shape.gamma)


def memory_needed(shape):
    """An upper bound of the memory of any method: logits, fp32 copies and probabilities, noise and temporaries."""
    rows = shape.requests * shape.vocab * (2 * shape.gamma + 1)
    return shape.logit_bytes + 2 * 4 * rows + 8 * 4 * shape.requests * shape.vocab
