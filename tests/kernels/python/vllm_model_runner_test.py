"""Compares speclab_kernels.vllm_model_runner with the function of vLLM's second model runner, which runs in Triton's interpreter. Skipped by name
if torch, triton or vllm is not installed; `pip install --no-deps vllm` will do, or the folder that scripts/gpu/rivals.py made on the PYTHONPATH.
Distributions: cases.py has the null, the level and the planted fault."""
import inspect
import os

os.environ["TRITON_INTERPRET"] = "1"

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

import cases  # noqa: E402
from speclab_kernels import SpeclabError  # noqa: E402
from speclab_kernels import vllm_model_runner as ours  # noqa: E402
from verify_methods import in_rivals, vllm_files  # noqa: E402
from verify_methods.case import Case  # noqa: E402

torch.set_num_threads(1)
ALL = 100_000
INTERPRETED = int(os.environ.get("SPECLAB_VLLM_REQUESTS", 1200))  # each takes milliseconds
pytestmark = pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning", "ignore:divide by zero:RuntimeWarning")


@pytest.fixture(scope="module")
def theirs():
    folder = vllm_files.installed()
    if folder is None:
        pytest.skip("vllm is not installed")
    return vllm_files.load(folder, vllm_files.MODEL_RUNNER)[0].rejection_sample


LENGTHS = [3, 0, 2, 1, 3, 3, 2, 3] * 4
TEMPERATURES = [1.0, 0.7, 0.0, 1.5]


def batch(vocab=40, seed=1, dtype=torch.float32, certain=False):
    """Returns arguments by name: ragged requests in slots of a larger state, at several temperatures, some places without a drafted token; target
    logits are not yet divided by the temperature."""
    generator = torch.Generator().manual_seed(seed)
    count, steps, rows = len(LENGTHS), max(LENGTHS), sum(LENGTHS) + len(LENGTHS)
    state = count + 3
    slots = torch.randperm(state, generator=generator)[:count].int()
    lengths = torch.tensor(LENGTHS)
    owner = torch.repeat_interleave(torch.arange(count), lengths + 1)
    local = torch.cat([torch.arange(n + 1) for n in LENGTHS])
    temperature = torch.full((state,), 9.0)
    temperature[slots.long()] = torch.tensor(TEMPERATURES).repeat(count)[:count]
    target = (2 * torch.randn(rows, vocab, generator=generator)).to(dtype)
    draft = torch.full((state, steps, vocab), float("nan"), dtype=dtype)
    inner = local < lengths[owner]
    places = slots.long()[owner[inner]], local[inner]
    draft[places] = (target[inner].float() + torch.randn(int(inner.sum()), vocab, generator=generator)).to(dtype)
    sampled = torch.randint(vocab, (rows,), generator=generator)
    heat = temperature[places[0]][:, None].clamp(min=0.01)
    sampled[torch.nonzero(inner)[:, 0] + 1] = torch.multinomial((draft[places].float() / heat).softmax(-1), 1, generator=generator)[:, 0]
    # At temperature 0 these are accepted, whether they are the draft's largest logit or not.
    greedy = inner & (temperature[slots.long()[owner]] == 0) & (local == 0)
    sampled[torch.nonzero(greedy)[:, 0] + 1] = target[greedy].argmax(-1)
    sampled[[2, 10, 17]] = -1
    return dict(target_logits=target, draft_logits=None if certain else draft, draft_sampled=sampled,
                cu_num_logits=torch.nn.functional.pad((lengths + 1).cumsum(0), (1, 0)).int(), pos=(1 << 33) * (owner % 2) + 50 + 7 * owner + local,
                idx_mapping=slots, expanded_idx_mapping=slots[owner], expanded_local_pos=local.int(), temperature=temperature,
                seed=torch.randint(1 << 62, (state,), generator=generator), num_speculative_steps=steps)


def scaled(arguments):
    """Returns target logits as vLLM makes them: fp32, divided by the temperature unless it is 0."""
    heat = arguments["temperature"][arguments["expanded_idx_mapping"].long()][:, None]
    return {**arguments, "target_logits": arguments["target_logits"].float() / torch.where(heat == 0, 1.0, heat)}


def padded(tokens, counts):
    return torch.where(torch.arange(tokens.shape[1]) < counts[:, None], tokens, -1)


@pytest.mark.parametrize("certain", [False, True])
def test_temperature_0_emits_what_vllm_emits(theirs, certain):
    arguments = batch(certain=certain)
    expected, counts = theirs(**scaled(arguments))
    expected = padded(expected, counts)
    greedy = arguments["temperature"][arguments["idx_mapping"].long()] == 0
    for found, number in (ours.rejection_sample(**scaled(arguments)), ours.rejection_sample(**arguments, temperature_applied=False)):
        assert found.dtype == torch.int64 and number.dtype == torch.int32
        assert (found == expected)[greedy].all() and (number == counts)[greedy].all() and (padded(found, number) == found).all()
    assert (counts[greedy] > 1).any()


@pytest.mark.parametrize("certain", [False, True])
def test_temperature_in_the_kernel_and_slots_change_nothing(certain):
    """Decisions from bf16 logits with the temperature fused are those from the fp32 copy; and a request's tokens do not depend on its slot or
    place in the batch."""
    function = ours.rejection_sample
    arguments = batch(dtype=torch.bfloat16, certain=certain, seed=2)
    tokens, counts = function(**arguments, temperature_applied=False)
    # The copy rounds, but no uniform of this seed comes that near to another outcome.
    assert all((one == other).all() for one, other in zip(function(**scaled(arguments)), (tokens, counts)))
    starts = arguments["cu_num_logits"].tolist()
    for request in (0, 3, 7, 30):
        rows = slice(starts[request], starts[request + 1])
        alone = {**arguments, **{key: arguments[key][rows] for key in ("target_logits", "draft_sampled", "pos", "expanded_idx_mapping",
                                                                       "expanded_local_pos")},
                 "cu_num_logits": torch.tensor([0, rows.stop - rows.start], dtype=torch.int32),
                 "idx_mapping": arguments["idx_mapping"][request:request + 1]}
        found, number = function(**alone, temperature_applied=False)
        assert (found[0] == tokens[request]).all() and number[0] == counts[request]


def test_nothing_drafted_gives_the_target():
    """At -1 the target itself is sampled, not a residual: if rows of target and draft are equal, there is none."""
    count, vocab = 3000, 5
    row = torch.tensor([0.0, 1.0, 0.5, -0.5, 0.2])
    target, draft = row.expand(2 * count, vocab).contiguous(), row.flip(0).expand(count, 1, vocab).contiguous()
    slots = torch.arange(count, dtype=torch.int32)
    sampled = torch.full((2 * count,), -1)
    tokens, counts = ours.rejection_sample(target, draft, sampled, 2 * torch.arange(count + 1, dtype=torch.int32), torch.arange(2 * count),
                                           slots, slots.repeat_interleave(2), torch.arange(2 * count).int() % 2, torch.ones(count),
                                           7919 * torch.arange(count), 1)
    assert (counts == 1).all() and (tokens[:, 1] == -1).all()

    def p_value(p):
        seen = torch.bincount(tokens[:, 0], minlength=vocab)
        return cases.checks.chi_squared_tail(float(((seen - count * p) ** 2 / (count * p)).sum()), vocab - 1)
    residual = (row.softmax(-1) - row.flip(0).softmax(-1)).clamp(min=1e-3)
    assert p_value(row.softmax(-1)) > cases.LEVEL and p_value(residual / residual.sum()) < 1e-20
    # A draft without the last two ids.
    sampled = torch.multinomial(row[:3].softmax(0), 2 * count, replacement=True, generator=torch.Generator().manual_seed(5))
    tokens, counts = ours.rejection_sample(target, row[:3].expand(count, 1, 3).contiguous(), sampled, 2 * torch.arange(count + 1, dtype=torch.int32),
                                           torch.arange(2 * count), slots, slots.repeat_interleave(2), torch.arange(2 * count).int() % 2,
                                           torch.ones(count), 7919 * torch.arange(count), 1)
    cut = torch.cat([row[:3].softmax(0), torch.full((2,), 1e-3)])
    assert p_value(row.softmax(-1)) > cases.LEVEL and p_value(cut / cut.sum()) < 1e-20


@pytest.mark.parametrize("name,temperature", [("ours", 1.0), ("ours", 0.7), ("theirs", 1.0)])
def test_distribution(request, name, temperature):
    """Tests cases.p_value; ours apply the temperature as they read."""
    function = request.getfixturevalue("theirs") if name == "theirs" else ours.rejection_sample
    target, draft = cases.rows()
    count = ALL if name == "ours" else INTERPRETED
    generator = torch.Generator().manual_seed(5)
    drafted = cases.drafted_of(draft, count, generator)
    case = Case(target.expand(count, -1, -1) * temperature, draft.expand(count, -1, -1) * temperature, drafted, None)
    arguments = in_rivals.model_runner_arguments(case, temperature)
    more = {} if name == "theirs" else {"temperature_applied": False}
    tokens, counts = function(case.target.reshape(-1, cases.VOCAB), **arguments, **more)
    tokens = padded(tokens, counts)
    good = cases.p_value(target, draft, drafted, *cases.from_padded(tokens))
    bad = cases.p_value(target, draft, drafted, *cases.faulty(tokens, target, generator))
    print(f"{name} at {temperature}, {count} requests: p = {good:.3g}; resampling the target: p = {bad:.3g}")
    assert good > cases.LEVEL and bad < 1e-12


def test_block_verification():
    """The first token has the target's distribution (chi-squared, level 1e-9), and more tokens are accepted: in 100,000 requests the sums
    differ by more than 5 standard deviations of their difference."""
    target, draft = cases.rows()
    drafted = cases.drafted_of(draft, ALL, torch.Generator().manual_seed(6))
    case = Case(target.expand(ALL, -1, -1), draft.expand(ALL, -1, -1), drafted, None)
    arguments = in_rivals.model_runner_arguments(case, 1.0)
    rows = case.target.reshape(-1, cases.VOCAB)
    token, block = (ours.rejection_sample(rows, **arguments, use_block_verification=block) for block in (False, True))
    p = target[0].double().softmax(-1)
    seen = torch.bincount(block[0][:, 0], minlength=cases.VOCAB)
    assert cases.checks.chi_squared_tail(float(((seen - ALL * p) ** 2 / (ALL * p)).sum()), cases.VOCAB - 1) > cases.LEVEL
    more = (block[1] - token[1]).double()
    print(f"block verification: {more.mean():.4f} more tokens a request, {more.sum() / (more.std() * ALL ** 0.5):.1f} standard deviations")
    assert more.sum() > 5 * more.std() * ALL ** 0.5


def test_after_a_damaged_row_follows_id_0():
    arguments = batch(seed=4)
    arguments["target_logits"][0, 3] = float("nan")
    tokens, counts = ours.rejection_sample(**scaled(arguments))
    assert counts[0] == 1 and tokens[0].tolist() == [0, -1, -1, -1] and (counts > 0).all()


def test_unknown_formats_are_refused():
    arguments = batch()
    with pytest.raises(SpeclabError, match="target_logits is torch.float64"):
        ours.rejection_sample(**{**arguments, "target_logits": arguments["target_logits"].double()})


def test_arguments_are_vllms(theirs):
    names = [name for name, parameter in inspect.signature(ours.rejection_sample).parameters.items() if parameter.kind is not inspect.Parameter.KEYWORD_ONLY]
    assert list(inspect.signature(theirs).parameters) == names
    with pytest.raises(NotImplementedError, match="vLLM's own"):
        ours.rejection_sample(**batch(), fly_window_size=2)
