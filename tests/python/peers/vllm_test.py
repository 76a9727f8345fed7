"""Tests vLLM's samplers that need only PyTorch: rejection and typical acceptance of its first engine (up to about 0.8), and greedy
rejection of the second (0.7). They are read from the installed package's files, because importing the package needs a GPU's
libraries; `pip install --no-deps` suffices. Skipped by name if torch or vllm is not installed, or if the release verifies by Triton
kernels only."""

import importlib.metadata
import importlib.util
import inspect
import itertools
import logging
import math
import pathlib
import re
import sys
import types

import numpy as np
import pytest

import speclab

torch = pytest.importorskip("torch")
found = importlib.util.find_spec("vllm")
if found is None or found.origin is None:
    pytest.skip("vllm is not installed", allow_module_level=True)
FOLDER = pathlib.Path(found.origin).parent
torch.set_num_threads(1)  # small arrays

TARGET = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]])
DRAFT = np.array([[0.2, 0.3, 0.5], [0.4, 0.3, 0.3], [0.3, 0.6, 0.1]])
REJECTION = "model_executor/layers/rejection_sampler.py"
TYPICAL = "model_executor/layers/typical_acceptance_sampler.py"
GREEDY = "v1/sample/rejection_sampler.py"


def version():
    try:
        return importlib.metadata.version("vllm")
    except importlib.metadata.PackageNotFoundError:
        texts = [path.read_text() for name in ("_version.py", "version.py", "__init__.py") if (path := FOLDER / name).exists()]
        numbers = re.findall(r"version__?\s*=\s*(?:version\s*=\s*)?['\"]([0-9][^'\"]*)", "\n".join(texts))
        return numbers[0] if numbers else "of unknown version"


def load(monkeypatch, path):
    """The module in a file of vllm, with stubs for the rest of the package; skips the test if they do not suffice."""
    if not (FOLDER / path).exists():
        pytest.skip(f"vllm {version()} has no {path}")
    if "triton" in (FOLDER / path).read_text():
        pytest.skip(f"{path} of vllm {version()} consists of Triton kernels")

    def module(name, **contents):
        made = types.ModuleType(name)
        made.__path__ = []
        made.__dict__.update(contents)
        monkeypatch.setitem(sys.modules, name, made)
        return made

    envs = module("vllm.envs", VLLM_USE_FLASHINFER_SAMPLER=False)
    module("vllm", envs=envs)
    module("vllm.logger", init_logger=logging.getLogger)
    platform = types.SimpleNamespace(simple_compile_backend="eager", is_cuda=False, is_cuda_alike=lambda: False)
    module("vllm.platforms", current_platform=platform)
    for name in ("vllm.model_executor", "vllm.model_executor.layers", "vllm.v1", "vllm.v1.sample"):
        module(name)
    module("vllm.v1.outputs", SamplerOutput=types.SimpleNamespace)
    module("vllm.v1.sample.metadata", SamplingMetadata=types.SimpleNamespace)

    def read(file, name):
        spec = importlib.util.spec_from_file_location(name, file)
        made = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, made)
        spec.loader.exec_module(made)
        return made

    try:
        base = FOLDER / "model_executor/layers/spec_decode_base_sampler.py"
        if base.exists():
            read(base, "vllm.model_executor.layers.spec_decode_base_sampler")
        return read(FOLDER / path, "vllm.under_test")
    except ImportError as problem:
        pytest.skip(f"{path} of vllm {version()} does not import on its own: {problem}")


def as_sampler(made, name):
    """A sampler for check_sampler, one batch per call; it draws the bonus token beforehand, as vLLM's caller does."""
    for count in ("num_accepted_tokens", "num_emitted_tokens"):
        setattr(made, count, torch.tensor(0))
    with_bonus = "target_with_bonus_probs" in inspect.signature(made.forward).parameters

    def sampler(target, draft, drafted):
        rows, drafts = torch.tensor(target, dtype=torch.float32), torch.tensor(draft, dtype=torch.float32)
        bonus = torch.multinomial(rows[:, -1], 1)
        return made(rows if with_bonus else rows[:, :-1], bonus, drafts, torch.tensor(drafted)).numpy()

    sampler.__name__ = f"vllm {version()} {name}"
    return sampler


@pytest.mark.parametrize("case", ["rows", "sure draft", "equal"])
def test_rejection_sampler(monkeypatch, case):
    """Tests of false-alarm rate 1e-6; a total variation of .05 is found with probability .99. A draft of one
    token has a ratio of probabilities that is 0 or large; of equal rows nothing may be rejected."""
    module = load(monkeypatch, REJECTION)
    target = np.array([[0.5, 0.5, 0.0], [0.0, 0.9, 0.1], [1.0, 0.0, 0.0]]) if case == "sure draft" else TARGET
    draft = {"rows": DRAFT, "sure draft": np.eye(3), "equal": TARGET}[case]
    torch.manual_seed(1)
    can_be_without_bonus = "disable_bonus_tokens" in inspect.signature(module.RejectionSampler).parameters
    for options in ({}, {"disable_bonus_tokens": False}) if can_be_without_bonus else ({},):
        sampler = as_sampler(module.RejectionSampler(**options), f"RejectionSampler {options or ''}")
        result = speclab.check_sampler(sampler, target, draft, 2, total_variation=0.05, batch=1000)
        print(result)
        assert not result.different


def test_a_fault_would_be_found(monkeypatch):
    """The same class without the residual: corrections are drawn from the target's row."""
    module = load(monkeypatch, REJECTION)
    made = module.RejectionSampler()
    made._get_recovered_probs = lambda target, draft: target.clone()
    torch.manual_seed(2)
    assert speclab.check_sampler(as_sampler(made, "without residual"), TARGET, DRAFT, 2, total_variation=0.05, batch=1000).different


def typical(threshold, scale):
    """The rule in vllm's documentation: accept above min(threshold, scale exp(-entropy)), correct by the argmax."""

    def typical(draw, target, draft, drafted):
        for i, x in enumerate(drafted):
            entropy = -sum(p * math.log(p + 1e-5) for p in target[i])
            if not target[i][x] > min(threshold, scale * math.exp(-entropy)):
                return i, int(np.argmax(target[i]))
        return len(drafted), draw.categorical(target[-1])

    return typical


def test_typical_acceptance_is_another_distribution(monkeypatch):
    """It is documented as such. The test finds it, and enumeration refutes a rule that makes the same decisions."""
    module = load(monkeypatch, TYPICAL)
    made = module.TypicalAcceptanceSampler(posterior_threshold=0.35, posterior_alpha=0.6)
    sampler, rule = as_sampler(made, "TypicalAcceptanceSampler"), typical(0.35, 0.6)
    torch.manual_seed(3)
    result = speclab.check_sampler(sampler, TARGET, DRAFT, 2, total_variation=0.05, batch=1000)
    assert result.different
    proof = speclab.prove(rule, TARGET, DRAFT, 2, exact=False)
    assert not proof.lossless
    print(f"{result}\n{proof}")

    class Bonus:
        def categorical(self, weights):
            return None

    for drafted in itertools.product(range(3), repeat=2):
        rows = TARGET[[0, *drafted]], DRAFT[[0, drafted[0]]]
        emitted = [int(token) for token in sampler(*(part[None] for part in rows), np.array([drafted]))[0] if token >= 0]
        accepted, following = rule(Bonus(), *rows, drafted)
        assert emitted[:accepted] == list(drafted[:accepted]) and len(emitted) == accepted + 1
        assert following is None or emitted[accepted] == following


def test_greedy_of_the_second_engine(monkeypatch):
    """On 300 random rows, decision by decision, what the rule "greedy" decides."""
    module = load(monkeypatch, GREEDY)
    made = module.RejectionSampler()
    generator = np.random.default_rng(4)
    target, gamma = generator.dirichlet(np.ones(4), (300, 4)).astype(np.float32), 3
    drafted = np.where(generator.random((300, gamma)) < 0.7, target[:, :gamma].argmax(-1), generator.integers(0, 4, (300, gamma)))
    asked = types.SimpleNamespace(all_greedy=True, spec_token_ids=drafted.tolist())
    theirs = made(torch.tensor(target.reshape(-1, 4)).log(), asked).sampled_token_ids.numpy()
    draft = np.full((300, gamma, 4), 0.25, np.float32)
    assert (theirs == speclab.verify(target, draft, drafted, seed=1, rule="greedy").tokens).all()
