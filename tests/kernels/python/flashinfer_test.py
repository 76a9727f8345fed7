"""Compares speclab_kernels.flashinfer with what FlashInfer documents and its kernel does: accept while u q < p, then the
inverse CDF of (p - q)+, or of p after the last. FlashInfer's kernel itself needs a GPU. If flashinfer is installed, the arguments are compared with
its own. Skipped by name if torch is not installed."""
import ast
import importlib.util
import inspect
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

import cases  # noqa: E402
from speclab_kernels.flashinfer import chain_speculative_sampling  # noqa: E402

torch.set_num_threads(1)


def published(draft, drafted, target, uniforms):
    """Does the steps of FlashInfer's kernel in single precision, for all requests at once."""
    requests, gamma = drafted.shape
    p, q = (probs[:, :gamma].gather(2, drafted[..., None])[..., 0] for probs in (target, draft))
    kept = (uniforms[:, :gamma].float() * q < p).long().cumprod(1).sum(1)
    which = torch.arange(requests)
    subtracted = torch.where((kept < gamma)[:, None], draft[which, kept.clamp(max=gamma - 1)], 0.0)
    sums = (target[which, kept] - subtracted).clamp(min=0).cumsum(1)
    found = (sums <= uniforms[:, gamma:].float() * sums[:, -1:]).sum(1)
    tokens = torch.cat((drafted, drafted[:, :1]), 1)
    places = torch.arange(gamma + 1)
    return torch.where(places < kept[:, None], tokens, torch.where(places == kept[:, None], found[:, None], -1)), kept


def batch(requests, gamma=3, vocab=40, seed=1):
    generator = torch.Generator().manual_seed(seed)
    target = (2 * torch.randn(requests, gamma + 1, vocab, generator=generator)).softmax(-1)
    draft = (target[:, :gamma].log() + torch.randn(requests, gamma, vocab, generator=generator)).softmax(-1)
    drafted = torch.multinomial(draft.reshape(-1, vocab), 1, generator=generator).reshape(requests, gamma)
    return draft, drafted, target, torch.rand(requests, gamma + 1, dtype=torch.float64, generator=generator)


def test_same_decisions_from_the_same_uniforms():
    draft, drafted, target, uniforms = batch(2000)
    expected, kept = published(draft, drafted, target, uniforms)
    tokens, alone, emitted = chain_speculative_sampling(draft, drafted.int(), target, uniforms=uniforms)
    assert tokens.dtype == torch.int32 and (emitted == kept).all()
    different = (tokens != expected).any(1).nonzero()[:, 0].tolist()
    # FlashInfer computes in single precision: a uniform may come within 1e-6 of another outcome.
    for request in different:
        assert cases.definition(target[request].double(), draft[request].double(), drafted[request], uniforms[request])[1] < 1e-6
    assert len(different) <= 2
    q, p = (probs[:, :3].gather(2, drafted[..., None])[..., 0] for probs in (draft, target))
    assert (alone == (uniforms[:, :3] * q < p).sum(1)).all() and (alone >= emitted).all() and (alone > emitted).any()


@pytest.mark.parametrize("source", ["generator", "seed", "published"])
def test_distribution(source):
    target, draft = cases.rows()
    count = 100_000
    generator = torch.Generator().manual_seed(6)
    drafted = cases.drafted_of(draft, count, generator)
    p, q = (rows.softmax(-1).expand(count, -1, -1).contiguous() for rows in (target, draft))
    if source == "published":
        tokens = published(q, drafted, p, torch.rand(count, 3, dtype=torch.float64, generator=generator))[0]
    else:
        tokens = chain_speculative_sampling(q, drafted, p, **{source: generator if source == "generator" else 11})[0]
    good = cases.p_value(target, draft, drafted, *cases.from_padded(tokens))
    bad = cases.p_value(target, draft, drafted, *cases.faulty(tokens, target, generator))
    print(f"{source}, {count} requests: p = {good:.3g}; resampling the target: p = {bad:.3g}")
    assert good > cases.LEVEL and bad < 1e-100


def test_counts_are_added_and_seeds_are_of_requests():
    draft, drafted, target, uniforms = batch(20)
    given = [torch.full((20,), 100, dtype=torch.int32) for _ in range(2)]
    fresh = chain_speculative_sampling(draft, drafted, target, uniforms=uniforms)
    results = chain_speculative_sampling(draft, drafted, target, *given, uniforms=uniforms)
    for found, tensor, alone in zip(results[1:], given, fresh[1:]):
        assert found is tensor and (tensor == 100 + alone).all()
    seeds = torch.arange(20) * 1_000_003
    tokens = chain_speculative_sampling(draft, drafted, target, seed=seeds, offset=5)[0]
    turned = chain_speculative_sampling(draft.flip(0), drafted.flip(0), target.flip(0), seed=seeds.flip(0), offset=5)[0]
    assert (tokens == turned.flip(0)).all()
    assert (tokens != chain_speculative_sampling(draft, drafted, target, seed=seeds, offset=torch.tensor([9]))[0]).any()
    drafted[3, 0] = -1
    assert chain_speculative_sampling(draft, drafted, target, uniforms=uniforms)[2][3] == 0


def test_arguments_are_flashinfers():
    spec = importlib.util.find_spec("flashinfer")
    if spec is None:
        pytest.skip("flashinfer is not installed")
    tree = ast.parse((Path(next(iter(spec.submodule_search_locations))) / "sampling.py").read_text())  # importing it may need a GPU
    theirs = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "chain_speculative_sampling")
    ours = [name for name, parameter in inspect.signature(chain_speculative_sampling).parameters.items()
            if parameter.kind is not inspect.Parameter.KEYWORD_ONLY]
    assert [argument.arg for argument in theirs.args.args] == ours
