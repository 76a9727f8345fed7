"""A Llama-architecture model in jax: shapes, forward pass, loss, optimizer, sampling with a cache."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np

EPSILON = 1e-5  # of RMSNorm
ROPE_BASE = 10000.0


@dataclasses.dataclass(frozen=True)
class Shape:
    """The shape of a model. One head has width/heads dimensions. Rows of every matrix must be multiples of 32 long, which
    q8_0 needs."""

    vocab: int
    width: int
    inner: int  # width of the feed-forward part
    layers: int
    heads: int
    key_heads: int = 0  # heads of keys and values, if fewer; a divisor of heads
    rope_base: float = ROPE_BASE

    @property
    def head(self):
        return self.width // self.heads

    @property
    def groups(self):
        return self.key_heads or self.heads


MATRICES = ("q", "k", "v", "o", "gate", "up", "down")


def initial(shape, seed):
    """Parameters as {name: array}; a matrix is [out, in], as in the file."""
    random = np.random.default_rng([seed, shape.width])
    sizes = {"q": (shape.width, shape.width), "k": (shape.width, shape.width), "v": (shape.width, shape.width),
             "o": (shape.width, shape.width), "gate": (shape.inner, shape.width), "up": (shape.inner, shape.width),
             "down": (shape.width, shape.inner)}
    parameters = {"embed": random.normal(0, 0.02, (shape.vocab, shape.width)), "norm": np.ones(shape.width)}
    for layer in range(shape.layers):
        for name, (rows, columns) in sizes.items():
            scale = columns ** -0.5 / ((2 * shape.layers) ** 0.5 if name in ("o", "down") else 1)
            parameters[f"{layer}.{name}"] = random.normal(0, scale, (rows, columns))
        parameters[f"{layer}.norm1"] = np.ones(shape.width)
        parameters[f"{layer}.norm2"] = np.ones(shape.width)
    return {name: jnp.asarray(value, jnp.float32) for name, value in parameters.items()}


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def product(subscripts, a, b):
    """einsum of two arrays, where each index occurs in two of the three arrays: factors in bf16, sums in f32."""
    return jnp.einsum(subscripts, a.astype(jnp.bfloat16), b.astype(jnp.bfloat16), preferred_element_type=jnp.float32)


def product_backward(subscripts, factors, gradient):
    a, b = factors
    (of_a, of_b), of_c = subscripts.split("->")[0].split(","), subscripts.split("->")[1]
    return product(f"{of_c},{of_b}->{of_a}", gradient, b), product(f"{of_c},{of_a}->{of_b}", gradient, a)


product.defvjp(lambda subscripts, a, b: (product(subscripts, a, b), (a, b)), product_backward)


def linear(x, matrix):
    """x [B, T, in] by a matrix [out, in]: [B, T, out]."""
    return product("bti,oi->bto", x, matrix)


def normed(x, weight):
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + EPSILON) * weight


def rotated(x, positions, base):
    """RoPE over neighbouring pairs (0, 1), (2, 3), ..., as in libllama for the Llama architecture. x [..., T, head]."""
    head = x.shape[-1]
    angle = positions[:, None] * base ** (-jnp.arange(0, head, 2) / head)
    cos, sin = jnp.cos(angle), jnp.sin(angle)
    even, odd = x[..., 0::2], x[..., 1::2]
    return jnp.stack([even * cos - odd * sin, even * sin + odd * cos], axis=-1).reshape(x.shape)


def feed_forward(p, layer, x):
    h = normed(x, p[f"{layer}.norm2"])
    return x + linear(jax.nn.silu(linear(h, p[f"{layer}.gate"])) * linear(h, p[f"{layer}.up"]), p[f"{layer}.down"])


def projected(p, layer, x, positions, shape):
    """Queries [B, heads, T, head], keys and values [B, groups, T, head] of x [B, T, width]."""
    h = normed(x, p[f"{layer}.norm1"])
    q, k, v = (linear(h, p[f"{layer}.{m}"]).reshape(*x.shape[:2], heads, shape.head).swapaxes(1, 2)
               for m, heads in zip("qkv", (shape.heads, shape.groups, shape.groups)))
    return rotated(q, positions, shape.rope_base) * shape.head ** -0.5, rotated(k, positions, shape.rope_base), v


def attended(p, layer, x, q, keys, values, visible):
    """Attention with the mask `visible` [T, keys], in f32, which is faster for many small products. Heads that share keys are
    treated as more queries of one head."""
    batch, heads, length, head = q.shape
    groups = keys.shape[1]
    q = q.reshape(batch, groups, -1, head)
    hidden = jnp.where(jnp.tile(visible, (heads // groups, 1)), 0, -1e9)
    weights = jax.nn.softmax(jnp.einsum("bhtd,bhsd->bhts", q, keys) + hidden, axis=-1)
    mixed = jnp.einsum("bhts,bhsd->bhtd", weights, values).reshape(batch, heads, length, head).swapaxes(1, 2).reshape(x.shape)
    return x + linear(mixed, p[f"{layer}.o"])


def logits(p, tokens, shape):
    """Logits [B, T, V] after each of tokens [B, T]."""
    length = tokens.shape[1]
    positions = jnp.arange(length, dtype=jnp.float32)
    visible = jnp.tril(jnp.ones((length, length), bool))
    x = p["embed"][tokens].astype(jnp.float32)
    for layer in range(shape.layers):
        q, k, v = projected(p, layer, x, positions, shape)
        x = feed_forward(p, layer, attended(p, layer, x, q, k, v, visible))
    return linear(normed(x, p["norm"]), p["embed"])


def cross_entropy(rows, following):
    """Mean of -log p of the following tokens [B, T], as a masked sum, because its gradient is faster than that of a look-up."""
    chosen = jnp.where(jnp.arange(rows.shape[-1]) == following[..., None], rows, 0).sum(-1)
    return (jax.nn.logsumexp(rows, axis=-1) - chosen).mean()


def sample(p, prompts, key, shape, length):
    """Samples sequences [B, length] at temperature 1 that begin with prompts [B, P]. Keys and values are kept, not
    computed again."""
    batch, given = prompts.shape
    room = (batch, shape.groups, length, shape.head)

    def step(state, position):
        cache, token, key = state
        x, grown = p["embed"][token][:, None].astype(jnp.float32), []
        for layer in range(shape.layers):
            q, k, v = projected(p, layer, x, position.astype(jnp.float32)[None], shape)
            keys = jax.lax.dynamic_update_slice(cache[layer][0], k, (0, 0, position, 0))
            values = jax.lax.dynamic_update_slice(cache[layer][1], v, (0, 0, position, 0))
            grown.append((keys, values))
            x = feed_forward(p, layer, attended(p, layer, x, q, keys, values, (jnp.arange(length) <= position)[None]))
        key, now = jax.random.split(key)
        drawn = jax.random.categorical(now, linear(normed(x, p["norm"]), p["embed"])[:, 0])
        inside = jnp.minimum(position + 1, given - 1)
        following = jnp.where(position + 1 < given, prompts[:, inside], drawn)
        return (grown, following, key), following

    cache = [(jnp.zeros(room), jnp.zeros(room)) for _ in range(shape.layers)]
    _, tokens = jax.lax.scan(step, (cache, prompts[:, 0], key), jnp.arange(length - 1))
    return jnp.concatenate([prompts[:, :1], tokens.T], axis=1)


def orthogonal(matrix):
    """Approximates the nearest matrix with singular values 1, by five Newton-Schulz steps (Jordan et al. 2024, Muon)."""
    tall = matrix.shape[0] > matrix.shape[1]
    x = matrix.T if tall else matrix
    x = x / (jnp.linalg.norm(x) + 1e-7)
    for _ in range(5):
        a = product("ik,jk->ij", x, x)
        x = 3.4445 * x + product("ij,jk->ik", -4.7750 * a + 2.0315 * product("ij,jk->ik", a, a), x)
    return x.T if tall else x


def is_matrix(name):
    return name.split(".")[-1] in MATRICES


def optimizer_state(p):
    return {"first": {n: jnp.zeros_like(v) for n, v in p.items()},
            "second": {n: jnp.zeros_like(v) for n, v in p.items() if not is_matrix(n)}}


def updated(p, gradient, state, step, rate):
    """Makes one step: Muon for matrices, Adam for the embedding and the norms. rate 1 is the highest."""
    new, first, second = {}, {}, {}
    for name, value in p.items():
        g = gradient[name]
        if is_matrix(name):
            first[name] = 0.95 * state["first"][name] + g
            change = orthogonal(g + 0.95 * first[name]) * max(1, value.shape[0] / value.shape[1]) ** 0.5
            new[name] = value * (1 - 0.002 * rate) - 0.02 * rate * change
        else:
            first[name] = 0.9 * state["first"][name] + 0.1 * g
            second[name] = 0.98 * state["second"][name] + 0.02 * g * g
            mean, square = first[name] / (1 - 0.9 ** step), second[name] / (1 - 0.98 ** step)
            new[name] = value - 0.004 * rate * mean / (jnp.sqrt(square) + 1e-10)
    return new, {"first": first, "second": second}
