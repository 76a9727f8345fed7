"""Tests transformers' verification, `_speculative_sampling`, with check_sampler. Skipped by name if torch or transformers is not
installed."""

import math
from fractions import Fraction

import numpy as np
import pytest

import speclab

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
utils = pytest.importorskip("transformers.generation.utils")
torch.set_num_threads(1)  # small arrays
sampling = getattr(utils, "_speculative_sampling", None)
pytestmark = pytest.mark.skipif(sampling is None, reason=f"transformers {transformers.__version__} has no _speculative_sampling")

TARGET = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]])
DRAFT = np.array([[0.2, 0.3, 0.5], [0.4, 0.3, 0.3], [0.3, 0.6, 0.1]])


def of_transformers(**options):
    """Calls it as the generation loop does: with logits of one sequence, in float32."""

    def sampler(target, draft, drafted):
        ids = torch.tensor(drafted)[None]
        logits = (torch.tensor(np.log(rows), dtype=torch.float32)[None] for rows in (draft, target))
        draft_logits, target_logits = logits
        try:
            tokens, _ = sampling(ids, draft_logits, len(drafted), target_logits, **options)
        except TypeError:
            # for releases before 5
            tokens, _ = sampling(ids, draft_logits, len(drafted), target_logits, False, **options)
        return tokens[0].tolist()

    sampler.__name__ = f"transformers {transformers.__version__} _speculative_sampling {options or ''}"
    return sampler


def test_standard_sampling():
    """False-alarm rate 1e-6; a total variation of .1 is found with probability .99."""
    torch.manual_seed(1)
    result = speclab.check_sampler(of_transformers(), TARGET, DRAFT, 2, total_variation=0.1)
    print(result)
    assert not result.different


def ensemble(weight):
    """A rule that does what the option assistant_ensemble_weight does."""

    def ensemble(draw, target, draft, drafted):
        for i, x in enumerate(drafted):
            if not draw.bernoulli(min(1, 1 - weight + weight * target[i][x] / draft[i][x])):
                return i, draw.categorical(np.maximum(target[i] - draft[i], 0), target[i])
        return len(drafted), draw.categorical(target[-1])

    return ensemble


def test_ensemble_is_another_distribution():
    """The option is documented as biased. The test finds it, and so does enumeration, with a counterexample. The sampler has the
    distribution of the enumerated rule."""
    torch.manual_seed(2)
    try:
        result = speclab.check_sampler(of_transformers(assistant_ensemble_weight=0.5), TARGET, DRAFT, 1, total_variation=0.05)
    except TypeError:
        pytest.skip(f"transformers {transformers.__version__} has no assistant_ensemble_weight")
    assert result.different
    proof = speclab.prove(ensemble(Fraction(1, 2)), TARGET, DRAFT, 1)
    assert not proof.lossless
    print(f"{result}\n{proof}")
    drawn, sampler = [], of_transformers(assistant_ensemble_weight=0.5)
    for x in np.random.default_rng(3).choice(3, size=4000, p=DRAFT[0]):
        drawn.append(sampler(TARGET[[0, x]], DRAFT[[0]], np.array([x]))[0])
    first = {(token,): 0.0 for token in range(3)}
    for tokens, p in proof.law.items():
        first[tokens[:1]] += float(p)
    assert not speclab.check(drawn, first).different


def test_the_same_arrays_by_verify():
    """Both accept a drafted token with min(1, p/q): shares of accepted prefixes on the same rows, within 6 standard
    deviations (false-alarm rate 1e-8)."""
    torch.manual_seed(4)
    n, accept = 3000, min(1, TARGET[0][2] / DRAFT[0][2])
    ids = np.full((n, 1), 2)
    rows = np.broadcast_to(TARGET[[0, 2]], (n, 2, 3)), np.broadcast_to(DRAFT[[0]], (n, 1, 3))
    mine = speclab.verify(*rows, ids, seed=1).accepted.mean()
    sampler = of_transformers()
    theirs = np.mean([len(sampler(TARGET[[0, 2]], DRAFT[[0]], np.array([2]))) - 1 for _ in range(n)])
    for share in (mine, theirs):
        assert abs(share - accept) < 6 * math.sqrt(accept * (1 - accept) / n)
