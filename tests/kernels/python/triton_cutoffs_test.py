"""Tests speclab_kernels.triton_cutoffs in Triton's interpreter: which ids stay, compared with sorting, and how often rows are read. Skipped by name
if torch or triton is not installed."""
import math
import os

os.environ.setdefault("TRITON_INTERPRET", "1")

import pytest

torch = pytest.importorskip("torch")
triton = pytest.importorskip("triton")

import cases  # noqa: E402
from speclab_kernels import verify  # noqa: E402
from speclab_kernels import fused_triton as fused  # noqa: E402
from speclab_kernels.triton_cutoffs import HUGGING_FACE, VLLM, cutoffs  # noqa: E402

torch.set_num_threads(1)
ORDERS = [HUGGING_FACE, VLLM]
# top_k, top_p, min_p: each alone, all together, and numbers that keep everything.
OPTIONS = [(7, None, None), (None, 0.6, None), (None, None, 0.2), (9, 0.7, 0.05), (200, 0.0, None), (40, 0.95, None), (0, 1.0, 0.0), (3, 0.9, 0.9)]
pytestmark = pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning", "ignore:divide by zero:RuntimeWarning",
                                        "ignore:overflow:RuntimeWarning")


def of_all(value, kind, requests):
    return None if value is None else torch.full((requests,), value, dtype=kind)


def found_cutoffs(rows, options, temperature=1.0, **more):
    """Finds cut-offs; each row is a request of its own without drafted tokens."""
    requests = len(rows)
    top_k, top_p, min_p = options
    return cutoffs(rows, torch.zeros(requests, dtype=torch.int32), 0, of_all(temperature, torch.float32, requests),
                   of_all(top_k, torch.int32, requests), of_all(top_p, torch.float32, requests), of_all(min_p, torch.float32, requests),
                   bonus_rows=True, **more)


def made_rows(dtype, vocab=60, seed=9):
    rows = 2 * torch.randn(6, vocab, generator=torch.Generator().manual_seed(seed))
    rows[1] = rows[1].round()  # ties
    rows[2] = -rows[2].abs()
    rows[3, ::3] = -math.inf
    rows[4] = rows[4] / 50  # flat, on both sides of 0
    rows[5] *= 8
    return rows.to(dtype)


def assert_kept(rows, found, options, temperature, order):
    top_k, top_p, min_p = options
    for row, cutoff in zip(rows, found):
        keep = cases.kept_ids(row.double() / temperature, top_k or 0, 1 if top_p is None else top_p, min_p or 0, order == VLLM)
        assert ((row.float() >= cutoff) == keep)[row > -math.inf].all(), (options, order)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dtype,near,temperature", [(torch.float32, 4096, 0.8), (torch.float32, 16, 1.0), (torch.bfloat16, 4096, 2.0),
                                                    (torch.bfloat16, 16, 1.0), (torch.float16, 32, 0.7)])
def test_what_sorting_keeps_is_kept(order, dtype, near, temperature):
    """There is room for all that is near the largest logit, or so little that rows are read again."""
    rows = made_rows(dtype)
    for options in OPTIONS:
        assert_kept(rows, found_cutoffs(rows, options, temperature, order=order, tile=32, near=near), options, temperature, order)


def test_the_orders_differ():
    """With weights 8, 4, 4, 4, 1, ... min-p 0.4 leaves 4 ids, of which the first two have the share 0.6; of all 20 ids top-p needs more."""
    row = torch.tensor([[8.0, 4.0, 3.9, 3.8] + [1.0] * 16]).log()
    options = (None, 0.6, 0.4)
    last_kept = {order: int((row[0] >= found_cutoffs(row, options, order=order, tile=16)[0]).sum()) for order in ORDERS}
    assert last_kept == {HUGGING_FACE: 4, VLLM: 2 if 12.0 / 19.7 >= 0.6 else 3}
    for order, other in (ORDERS, ORDERS[::-1]):
        found = found_cutoffs(row, options, order=order, tile=16)
        assert_kept(row, found, options, 1.0, order)
        with pytest.raises(AssertionError):
            assert_kept(row, found, options, 1.0, other)
    with pytest.raises(ValueError, match="order is 'min-p'"):
        found_cutoffs(row, options, order="min-p")


def test_cutoffs_have_the_same_bits_in_any_order_of_ids():
    rows = made_rows(torch.float32, 300)
    shuffled = rows[:, torch.randperm(300, generator=torch.Generator().manual_seed(2))]
    for options in [(20, 0.8, None), (None, 0.9, 0.01), (None, 0.3, None)]:
        for near in (32, 512):
            one, other = (found_cutoffs(each, options, tile=64, near=near) for each in (rows, shuffled))
            assert torch.equal(one, other), options


@pytest.fixture
def loads(monkeypatch):
    """Counts the ids that loads ask for, by the loads' number of lanes."""
    from triton.runtime.interpreter import interpreter_builder
    counted = {}
    original = type(interpreter_builder).create_masked_load

    def load(self, ptrs, mask, *others):
        counted[ptrs.data.size] = counted.get(ptrs.data.size, 0) + int(mask.data.sum())
        return original(self, ptrs, mask, *others)
    monkeypatch.setattr(type(interpreter_builder), "create_masked_load", load)
    return counted


@pytest.mark.parametrize("options,dtype,near,least,most", [
    ((50, 0.9, 0.02), torch.bfloat16, 512, 2, 2), ((50, 0.9, 0.02), torch.float32, 512, 2, 2), ((50, None, None), torch.float32, 512, 2, 2),
    ((None, 0.2, None), torch.float16, 512, 2, 2), ((None, None, 0.02), torch.bfloat16, 512, 1, 1),
    # Larger top-k, top-p of flat rows, little room.
    ((700, None, None), torch.bfloat16, 512, 3, 4), ((700, 0.9, None), torch.float32, 512, 4, 10), ((None, 0.95, None), torch.bfloat16, 512, 3, 4),
    ((50, 0.9, None), torch.float32, 32, 4, 10)])
def test_rows_are_read_twice_where_what_is_near_suffices(loads, options, dtype, near, least, most):
    rows = (2 * torch.randn(2, 1000, generator=torch.Generator().manual_seed(4))).to(dtype)
    found = found_cutoffs(rows, options, tile=64, near=near)
    # Rounds over the row load a quarter of a tile at once.
    read = (loads[64] + loads.get(16, 0)) / rows.numel()
    assert least <= read <= most, read
    assert_kept(rows, found, options, 1.0, HUGGING_FACE)


def test_invalid_rows_and_shares():
    rows = made_rows(torch.float32)
    rows[0, 7], rows[1, 3] = math.nan, math.inf
    rows[2] = -math.inf
    found = found_cutoffs(rows, (5, 0.9, 0.1), tile=16)
    assert (found[:3] == -math.inf).all() and (found[3:] > -math.inf).all()
    for share in (math.nan, -0.1, 1.5):
        for options in ((None, share, None), (None, None, share)):
            assert (found_cutoffs(rows, options, tile=16) == math.inf).all()
    # At an infinite temperature all ids are equally likely.
    flat = found_cutoffs(made_rows(torch.float32), (None, 1.0, 1.0), math.inf, tile=16)
    assert (flat <= made_rows(torch.float32).max(1).values).all()


def test_decisions_are_those_of_the_kernels():
    """Decisions are those of cutoffs.hpp and fused.hpp in the emulator, with the same order and the same numbers."""
    generator = torch.Generator().manual_seed(7)
    target = 4 * torch.randn(10, 3, 90, generator=generator)
    draft = target[:, :2] + torch.randn(10, 2, 90, generator=generator)
    drafted = torch.multinomial(draft.reshape(20, 90).softmax(-1), 1, generator=generator).reshape(10, 2).int()
    uniforms = torch.rand(10, 3, dtype=torch.float64, generator=generator)
    temperature = torch.tensor([0.7, 1.0] * 5)
    top_k, top_p, min_p = torch.tensor([12, 0, 3, 90, 30] * 2).int(), torch.tensor([0.9, 0.5, 1, 0.8, 0.7] * 2), torch.tensor([0, 0.1] * 5)
    theirs = verify(target, draft, drafted, uniforms, target_temperature=temperature, draft_temperature=temperature, top_k=top_k, top_p=top_p,
                    min_p=min_p, implementation="fused")
    tokens, counts, flags = fused.verify(target.reshape(30, 90), draft.reshape(20, 90), drafted.reshape(20),
                                         torch.arange(2, 22, 2, dtype=torch.int32), 2, uniforms[:, :2].reshape(20), uniforms[:, 2].clone(),
                                         temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p, tile=32)
    assert (tokens == theirs.tokens).all() and (counts == theirs.counts).all() and (flags == theirs.flags).all()
