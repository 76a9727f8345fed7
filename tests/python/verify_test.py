"""Tests batched verification against a NumPy reference, its distributions, and its errors."""

import numpy as np
import pytest

import rules_in_python as py
import speclab
from speclab import verify


def rows(generator, *shape, dtype=np.float64):
    weights = generator.random(shape) ** 3
    weights[generator.random(shape) < 0.2] = 0
    weights[..., 0] += 1e-3
    return (weights / weights.sum(-1, keepdims=True)).astype(dtype)


def batch(seed, requests, gamma, vocab, dtype=np.float64):
    generator = np.random.default_rng(seed)
    target = rows(generator, requests, gamma + 1, vocab, dtype=dtype)
    draft = rows(generator, requests, gamma, vocab, dtype=dtype)
    drafted = np.array([[generator.choice(vocab, p=row / row.sum()) for row in request.astype(float)] for request in draft], np.int64)
    return target, draft, drafted.reshape(requests, gamma), generator.random((requests, gamma + 1))


def by_numpy(target, draft, drafted, uniforms):
    """Algorithm 1 of Leviathan et al. 2023 with given uniforms."""
    accepted, following = [], []
    for p, q, ids, u in zip(target, draft, drafted, uniforms):
        n = 0
        while n < len(ids) and u[n] < p[n][ids[n]] / q[n][ids[n]]:
            n += 1
        weights = p[n] if n == len(ids) else np.maximum(p[n] - q[n], 0)
        accepted.append(n)
        following.append(np.searchsorted(np.cumsum(weights), u[-1] * weights.sum(), side="right"))
    return np.array(accepted), np.array(following)


@pytest.mark.parametrize("vocab", [2, 7, 300, 5000])
@pytest.mark.parametrize("gamma", [1, 4])
def test_token_verification_by_numpy(vocab, gamma):
    target, draft, drafted, uniforms = batch(vocab, 40, gamma, vocab)
    found = verify(target, draft, drafted, uniforms=uniforms)
    accepted, following = by_numpy(target, draft, drafted, uniforms)
    assert (found.accepted == accepted).all()
    assert (found.next == following).all()
    assert 0 < accepted.mean() < gamma


def test_tokens():
    target, draft, drafted, _ = batch(1, 30, 3, 6)
    found = verify(target, draft, drafted, seed=5)
    for row, n, following, ids in zip(found.tokens, found.accepted, found.next, drafted):
        assert list(row[: n + 1]) == [*ids[:n], following]
        assert (row[n + 1 :] == -1).all()


def test_layouts_and_types_agree():
    target, draft, drafted, uniforms = batch(2, 20, 3, 50, np.float32)
    wanted = verify(target, draft, drafted, uniforms=uniforms).tokens
    wide = np.zeros((20, 8, 70), np.float32)
    wide[:, ::2, :50] = target
    strided = wide[:, ::2, :50]
    assert not strided.flags.c_contiguous
    read_only = target.copy()
    read_only.flags.writeable = False
    for form in (strided, read_only, np.asfortranarray(target), target.astype(">f4"), target.tolist(), target[::-1][::-1]):
        assert (verify(form, draft, drafted.astype(np.uint8), uniforms=uniforms).tokens == wanted).all()
    assert (verify(target.astype(np.float64), draft, drafted, uniforms=uniforms).tokens == wanted).mean() > 0.95
    half = verify(target.astype(np.float16), draft.astype(np.float16), drafted, uniforms=uniforms, validate=False)
    assert half.tokens.shape == wanted.shape


@pytest.mark.parametrize("rule", ["token", "block", {"kind": "lenient", "lenience": 0.5}, "typical", "gumbel", py.token])
def test_threads_and_batches_do_not_matter(rule):
    target, draft, drafted, _ = batch(3, 64, 3, 30)
    one = verify(target, draft, drafted, seed=9, rule=rule, threads=1)
    assert (one.tokens == verify(target, draft, drafted, seed=9, rule=rule, threads=2).tokens).all()
    assert (one.tokens[:7] == verify(target[:7], draft[:7], drafted[:7], seed=9, rule=rule).tokens).all()
    assert (one.tokens != verify(target, draft, drafted, seed=9, round=1, rule=rule).tokens).any()


@pytest.mark.parametrize("rule", ["token", "block", "gumbel", "match", py.block])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_law(rule, dtype):
    """Null: tokens drafted from the draft and verified have the target's distribution. False-alarm rate 1e-9 each."""
    target = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]])
    draft = np.array([[0.2, 0.3, 0.5], [0.4, 0.3, 0.3], [0.3, 0.6, 0.1]])

    def sampler(target_rows, draft_rows, drafted):
        return verify(target_rows.astype(dtype), draft_rows.astype(dtype), drafted, seed=4, rule=rule).tokens

    result = speclab.check_sampler(sampler, target, draft, 2, batch=20_000, samples=20_000, level=1e-9)
    assert not result.different


def test_uniforms_of_zero_and_one():
    """An event of probability 0 never happens, not even at the ends."""
    target, draft = [[[1.0, 0.0], [0.0, 1.0]]], [[[0.5, 0.5]]]
    for u in (0.0, 1.0):
        assert verify(target, draft, [[1]], uniforms=[[u, u]]).tokens.tolist() == [[0, -1]]
    assert verify(target, draft, [[0]], uniforms=[[0.0, 0.0]]).tokens.tolist() == [[0, 1]]


def test_no_drafted_tokens():
    assert verify([[[0.0, 1.0]]], np.empty((1, 0, 2)), np.empty((1, 0)), seed=1).tokens.tolist() == [[1]]


GOOD = dict(target_probs=[[[0.5, 0.5], [0.5, 0.5]]], draft_probs=[[[0.5, 0.5]]], drafted=[[1]])


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (dict(), TypeError, "uniforms, seed"),
        (dict(seed=1, uniforms=[[0.1, 0.1]]), TypeError, "uniforms, seed"),
        (dict(seed=1, drafted=[[2]]), ValueError, "drafted: token 2"),
        (dict(seed=1, drafted=[[0.5]]), TypeError, "drafted: expected integers"),
        (dict(seed=1, drafted=[[0, 0]]), ValueError, "drafted: "),
        (dict(seed=1, draft_probs=[[[0.5, 0.25, 0.25]]]), ValueError, "draft_probs: "),
        (dict(seed=1, target_probs=[[0.5, 0.5]]), ValueError, "target_probs: expected shape"),
        (dict(seed=1, target_probs=[[[2.0, -1.0], [0.5, 0.5]]]), ValueError, "target_probs: the row of request 0, position 0 holds a number below 0"),
        (dict(seed=1, target_probs=[[[0.9, 0.5], [0.5, 0.5]]]), ValueError, "does not sum to 1"),
        (dict(seed=1, target_probs=[[[np.nan, 0.5], [0.5, 0.5]]]), ValueError, "NaN"),
        (dict(seed=1, draft_probs=[[[np.inf, 0.5]]]), ValueError, "draft_probs: .*NaN or infinity"),
        (dict(uniforms=[[0.1, 1.5]]), ValueError, "uniforms: "),
        (dict(uniforms=[[0.1]]), ValueError, "uniforms: "),
        (dict(uniforms=[[0.1, 0.1]], rule="gumbel"), ValueError, "uniforms: only the rules"),
        (dict(seed=1, rule="recursive"), ValueError, "several drafts"),
        (dict(seed=1, rule="tokn"), speclab.ConfigError, "tokn"),
        (dict(seed=-1), ValueError, "seed: "),
        (dict(seed=1, threads=-1), ValueError, "threads: "),
    ],
)
def test_refused(change, error, words):
    with pytest.raises(error, match=words):
        verify(**{**GOOD, **change})


def test_the_first_faulty_request_is_named():
    target, draft, drafted, _ = batch(6, 200, 2, 40)
    target[77, 0, 3] += 0.5
    target[150, 0, 3] += 0.5
    with pytest.raises(ValueError, match="request 77, position 0"):
        verify(target, draft, drafted, seed=1)


def test_without_a_copy():
    """DLPack and NumPy arrays are read without a copy."""
    torch = pytest.importorskip("torch")
    target, draft, drafted, uniforms = batch(8, 5, 2, 9, np.float32)
    wanted = verify(target, draft, drafted, uniforms=uniforms).tokens
    assert (verify(torch.tensor(target), torch.tensor(draft), torch.tensor(drafted), uniforms=uniforms).tokens == wanted).all()


def test_nothing_was_drafted():
    """gamma = 0 with lists, arrays, and objects that offer only DLPack, as tensors do."""

    class Tensor:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

        def size(self):
            return self.array.shape

    target, draft, drafted = np.array([[[0.25, 0.75]]]), np.empty((1, 0, 2)), np.empty((1, 0), np.int64)
    for form in (np.asarray, np.ndarray.tolist, Tensor):
        assert speclab.verify(form(target), form(draft), form(drafted), uniforms=[[0.5]]).tokens.tolist() == [[1]]


def test_verdicts_keep_what_they_were_given():
    target, draft, drafted, _ = batch(1, 30, 3, 6)
    buffer = drafted.astype(np.int32)
    found = verify(target, draft, buffer, seed=5)
    before = found.tokens
    buffer[:] = 0
    assert (found.tokens == before).all() and (found.drafted == drafted).all()
    assert found == found and found != verify(target, draft, drafted, seed=5)
