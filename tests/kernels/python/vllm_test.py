"""Compares speclab_kernels.vllm with vLLM's own function, which runs in Triton's interpreter. Skipped by name if torch, triton or vllm is not
installed; `pip install --no-deps vllm` will do, since only one file of vLLM is loaded, with stand-ins for its imports."""
import inspect
import os
import types

os.environ["TRITON_INTERPRET"] = "1"

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

import cases  # noqa: E402
from speclab_kernels import vllm as ours  # noqa: E402
from verify_methods import vllm_files  # noqa: E402

FOLDER = vllm_files.installed()
if FOLDER is None:
    pytest.skip("vllm is not installed", allow_module_level=True)

torch.set_num_threads(1)
ALL = 100_000
THEIRS = int(os.environ.get("SPECLAB_VLLM_REQUESTS", 1500))  # in the interpreter each takes milliseconds


@pytest.fixture(scope="module")
def theirs():
    return vllm_files.load(FOLDER, vllm_files.ENGINE_1)[0]


def metadata(temperature, generators=None):
    temperature = torch.tensor(temperature)
    return types.SimpleNamespace(temperature=temperature, all_greedy=bool((temperature == 0).all()),
                                 all_random=bool((temperature != 0).all()), generators=generators or {})


def batch(lengths, vocab=40, seed=1):
    """Returns all arguments of both functions but the last; every ninth drafted id is a padding id."""
    generator = torch.Generator().manual_seed(seed)
    tokens = sum(lengths)
    target = 2 * torch.randn(tokens, vocab, generator=generator)
    draft = (target + torch.randn(tokens, vocab, generator=generator)).softmax(-1)
    drafted = torch.multinomial(draft, 1, generator=generator)[:, 0].int()
    drafted[::9] = -1
    bonus = torch.randint(vocab, (len(lengths), 1), generator=generator)
    ends = torch.tensor(lengths).cumsum(0).int()
    return [drafted, lengths, max(lengths), ends, draft, target, bonus]


def test_after_a_damaged_row_follows_id_0():
    arguments = batch([2, 1, 3])
    arguments[0].clamp_(min=0)
    arguments[5][0] = arguments[5][3] = float("nan")
    tokens = ours.rejection_sample(*arguments, metadata([1.0, 1.0, 0.0]))
    assert tokens[0].tolist() == tokens[2].tolist() == [0, -1, -1, -1] and (tokens[:, 0] >= 0).all()


def recovering(uniforms):
    """Replaces vLLM's token after a rejection by the inverse CDF of the same residual, at each position, with the request's uniform."""
    def sample(max_spec_len, lengths, ends, drafted, draft, target, *_):
        owner = torch.repeat_interleave(torch.arange(len(lengths)), torch.tensor(lengths))
        if draft is None:
            ids = torch.arange(target.shape[1])
            weights = target.double() * (ids != drafted[:, None])
        else:
            weights = (target.double() - draft.double()).clamp(min=0)
        sums = weights.cumsum(1)
        return (sums <= uniforms[owner][:, None] * sums[:, -1:]).sum(1).to(drafted.dtype)
    return sample


LENGTHS = [3, 0, 5, 1, 2, 4, 5, 0, 3, 3] * 6


@pytest.mark.parametrize("draft", ["probabilities", "certain"])
@pytest.mark.parametrize("temperatures", [[1.0], [0.0], [0.0, 0.7]])
def test_same_decisions_from_the_same_seeds(theirs, monkeypatch, draft, temperatures):
    """Acceptance draws use the same generators, the token after a rejection the same uniform."""
    arguments = batch(LENGTHS)
    if draft == "certain":
        arguments[4] = None
    temperature = [temperatures[i % len(temperatures)] for i in range(len(LENGTHS))]
    uniforms = torch.rand(len(LENGTHS), dtype=torch.float64, generator=torch.Generator().manual_seed(8))
    monkeypatch.setattr(theirs, "sample_recovered_tokens", recovering(uniforms))
    results = []
    for function, more in ((theirs.rejection_sample, {}), (ours.rejection_sample, {"next_uniforms": uniforms})):
        torch.manual_seed(7)
        generators = {i: torch.Generator().manual_seed(i) for i in (0, 2, 3)}
        results.append(function(*arguments, metadata(temperature, generators), **more))
    assert results[0].dtype == results[1].dtype and results[0].shape == results[1].shape
    # No uniform of this seed comes within single precision's error of another outcome.
    assert (results[0] == results[1]).all()
    if temperatures == [1.0] and draft == "probabilities":
        counts = (results[0] >= 0).sum(1)
        assert (counts == torch.tensor(LENGTHS) + 1).any() and (counts == 1).any()


@pytest.mark.parametrize("which", ["ours", "theirs"])
def test_distribution(theirs, which):
    """Tests cases.p_value, with a bonus token drawn from the last row."""
    target, draft = cases.rows()
    count = ALL if which == "ours" else THEIRS
    torch.manual_seed(5)
    drafted = cases.drafted_of(draft, count, None)
    bonus = torch.multinomial(target[-1].softmax(-1), count, replacement=True)[:, None]
    q = draft.softmax(-1).repeat(count, 1)
    p = target[:cases.GAMMA].repeat(count, 1)
    ends = torch.arange(1, count + 1, dtype=torch.int32) * cases.GAMMA
    function = ours.rejection_sample if which == "ours" else theirs.rejection_sample
    tokens = function(drafted.reshape(-1).int(), [cases.GAMMA] * count, cases.GAMMA, ends, q, p, bonus, metadata([1.0] * count))
    good = cases.p_value(target, draft, drafted, *cases.from_padded(tokens))
    bad = cases.p_value(target, draft, drafted, *cases.faulty(tokens, target, None))
    print(f"{which}, {count} requests: p = {good:.3g}; resampling the target: p = {bad:.3g}")
    # The fault's p-value shrinks exponentially with the number of requests.
    assert good > cases.LEVEL and bad < 10 ** (-count / 1000)


def test_arguments_are_vllms(theirs):
    names = [name for name, parameter in inspect.signature(ours.rejection_sample).parameters.items()
             if parameter.kind is not inspect.Parameter.KEYWORD_ONLY]
    assert list(inspect.signature(theirs.rejection_sample).parameters) == names
    with pytest.raises(NotImplementedError, match="vLLM's own"):
        ours.rejection_sample(*batch([2]), metadata([1.0]), synthetic_mode=True)
    empty = batch([1, 1])
    nothing = [empty[0][:0], [0, 0], 0, torch.zeros(2, dtype=torch.int32), None, empty[5][:0], empty[6]]
    assert ours.rejection_sample(*nothing, metadata([1.0, 0.0])).tolist() == empty[6].tolist()
    nothing[2] = 2
    assert ours.rejection_sample(*nothing, metadata([1.0, 0.0])).tolist() == [[token, -1, -1] for token in empty[6].flatten().tolist()]
