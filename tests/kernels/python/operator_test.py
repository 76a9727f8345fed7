"""Tests torch.ops.speclab.verify on CPU tensors. Skipped by name if torch is not installed."""
import math

import pytest

torch = pytest.importorskip("torch")

import cases  # noqa: E402
from speclab_kernels import SpeclabError, addresses, library, prepare, verify  # noqa: E402
from speclab_kernels.c_library import batch_of  # noqa: E402
from speclab_kernels.flashinfer import chain_speculative_sampling  # noqa: E402
from speclab_kernels.torch_operator import run  # noqa: E402

torch.set_num_threads(1)
BAND = 1e-5  # single precision's error of the kernels


def batch(requests=40, gamma=3, vocab=50, dtype=torch.float32, seed=1):
    generator = torch.Generator().manual_seed(seed)
    target = 2 * torch.randn(requests, gamma + 1, vocab, generator=generator)
    draft = target[:, :gamma] + torch.randn(requests, gamma, vocab, generator=generator)
    drafted = torch.multinomial(draft.softmax(-1).reshape(-1, vocab), 1, generator=generator).reshape(requests, gamma)
    uniforms = torch.rand(requests, gamma + 1, dtype=torch.float64, generator=generator)
    return target.to(dtype), draft.to(dtype), drafted, uniforms


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_decisions_are_the_definitions(dtype):
    """So are those of the kernels in the emulator, except for uniforms within their error of another outcome."""
    target, draft, drafted, uniforms = batch(dtype=dtype)
    lengths = torch.full((40,), 3)
    lengths[3], drafted[4, 1], drafted[5, 0] = 1, -1, 50
    results = [verify(target, draft, drafted, uniforms, lengths=lengths, target_temperature=0.7, implementation=name)
               for name in ("", "fused")]
    p, q = ((logits.double() / t).softmax(-1) for logits, t in ((target, 0.7), (draft, 1.0)))
    near = 0
    for request in range(40):
        tokens, margin = cases.definition(p[request], q[request], drafted[request], uniforms[request], int(lengths[request]))
        near += margin < BAND
        for result, band in zip(results, (1e-12, BAND)):
            if margin > band:
                assert result.tokens[request].tolist() == tokens + [-1] * (4 - len(tokens))
                assert result.counts[request] == len(tokens) == result.accepted[request] + 1
                assert result.next[request] == tokens[-1]
    assert near <= 1
    assert (results[0].flags == results[1].flags).all() and results[0].flags[4:6].any()


def test_formats_may_differ():
    target, draft, drafted, uniforms = batch(dtype=torch.bfloat16)
    for name in ("", "fused"):
        one = verify(target, draft, drafted, uniforms, implementation=name)
        other = verify(target.float(), draft, drafted, uniforms, implementation=name)
        assert (one.tokens == other.tokens).all()


def test_distribution():
    target, draft = cases.rows()
    count = 100_000
    generator = torch.Generator().manual_seed(2)
    drafted = cases.drafted_of(draft, count, generator)
    batched = [rows.expand(count, -1, -1) .contiguous() for rows in (target, draft)]
    result = verify(*batched, drafted, torch.rand(count, 3, dtype=torch.float64, generator=generator))
    good = cases.p_value(target, draft, drafted, *cases.from_padded(result.tokens))
    bad = cases.p_value(target, draft, drafted, *cases.faulty(result.tokens, target, generator))
    print(f"{count} requests: p = {good:.3g}; resampling the target: p = {bad:.3g}")
    assert good > cases.LEVEL and bad < 1e-100


def test_operator_is_one_for_torch():
    target, draft, drafted, uniforms = batch(2)
    plain = (target, draft, drafted.int(), uniforms, *14 * [None], "token", 1.0, "target_minus_draft", "shared", False, "")
    torch.library.opcheck(torch.ops.speclab.verify.default, plain)
    words = torch.full((2, 4, 2), -1, dtype=torch.int32)
    numbers = [torch.full((1, 1), value).expand(2, 4) for value in (0.9, 0.05, 0.7)]
    places = [torch.arange(2), torch.arange(2)]
    full = (*plain[:3], None, None, *places, None, words, torch.full((2, 4), 9, dtype=torch.int32), *numbers, *5 * [None],
            *plain[18:22], True, "fused")
    torch.library.opcheck(torch.ops.speclab.verify.default, full)

    def step(target, draft, drafted, uniforms):
        result = verify(target, draft, drafted, uniforms, target_temperature=0.5, top_k=7, top_p=0.9, min_p=0.01, mask=words[:, 0],
                        logs=True)
        return result.tokens + 1, result.log_probabilities.sum(1)
    compiled = torch.compile(step, backend="aot_eager", fullgraph=True)
    for found, expected in zip(compiled(target, draft, drafted, uniforms), step(target, draft, drafted, uniforms)):
        assert (found == expected).all()
    with torch._subclasses.FakeTensorMode():
        fake = verify(torch.empty(5, 4, 9), torch.empty(5, 3, 9), torch.zeros(5, 3, dtype=torch.int64), logs=True)
        assert fake.tokens.shape == (5, 4) and fake.flags.shape == (5,) and fake.tokens.dtype == torch.int32
        assert fake.log_sum_exps.shape == fake.log_probabilities.shape == (5, 4)


def test_addresses_are_of_requests_and_not_of_slots():
    target, draft, drafted, _ = batch(12)
    places = addresses(2**64 - 1, torch.arange(12), round=2**32 - 1)
    whole = verify(target, draft, drafted, addresses=places)
    turned = verify(target.flip(0), draft.flip(0), drafted.flip(0), addresses=places.flip(0))
    assert (whole.tokens == turned.tokens.flip(0)).all()
    other = verify(target, draft, drafted, addresses=addresses(2**64 - 1, torch.arange(12), round=torch.full((12,), 7)))
    assert (whole.tokens != other.tokens).any()


def test_seeds_with_positions_are_addresses():
    """An engine's seeds may have any strides, and one seed may serve all requests."""
    target, draft, drafted, _ = batch(12)
    seed, positions = 2**64 - 5, torch.arange(12) * (1 << 32) + 77
    expected = verify(target, draft, drafted, addresses=addresses(seed, torch.full((12,), 77), round=torch.arange(12)))
    slots = torch.stack((torch.full((12,), seed - 2**64), positions), 1)
    for seeds, places in ((seed, positions), (slots[:, 0], slots[:, 1]), (torch.tensor(seed - 2**64), positions.int().long() + positions // 2**32 * 2**32)):
        found = verify(target, draft, drafted, seeds=seeds, positions=places)
        assert (found.tokens == expected.tokens).all()
    assert (verify(target, draft, drafted, seeds=3, positions=positions).tokens != expected.tokens).any()


def kept_by(logits, temperature, top_k, top_p, min_p):
    """Returns float64 probabilities by transformers' own functions."""
    warpers = pytest.importorskip("transformers").generation.logits_process
    chain = [warpers.TemperatureLogitsWarper(temperature), warpers.TopKLogitsWarper(top_k), warpers.TopPLogitsWarper(top_p),
             warpers.MinPLogitsWarper(min_p)]
    scores = logits.double().reshape(-1, logits.shape[-1])
    for warper in chain:
        scores = warper(None, scores)
    return scores.softmax(-1).reshape(logits.shape)


@pytest.mark.parametrize("options", [(1.0, 5, 1.0, 0.0), (0.7, 40, 0.6, 0.0), (1.6, 50, 0.9, 0.02), (0.9, 30, 0.95, 0.2)])
def test_top_k_top_p_and_min_p_are_transformers(options):
    """Compares decisions with those from rows that transformers' functions have cut, with the same uniforms, and the logarithms of emitted
    tokens."""
    target, draft, drafted, uniforms = batch()
    names = ("target_temperature", "top_k", "top_p", "min_p")
    p, q = kept_by(target, *options), draft.double().softmax(-1)
    by_rows = [torch.full((40, 4) if name != "top_k" else (40,), value) for name, value in zip(names, options)]
    for implementation, values in (("", options), ("fused", options), ("", by_rows)):
        result = verify(target, draft, drafted, uniforms, **dict(zip(names, values)), logs=True, implementation=implementation)
        near = 0
        for request in range(40):
            tokens, margin = cases.definition(p[request], q[request], drafted[request], uniforms[request])
            near += margin < BAND
            if margin < BAND:
                continue
            assert result.tokens[request].tolist() == tokens + [-1] * (4 - len(tokens))
            count = len(tokens)
            expected = torch.stack([p[request, i, token] for i, token in enumerate(tokens)]).log()
            assert torch.allclose(result.log_probabilities[request, :count].double(), expected, atol=1e-5)
            assert (result.log_probabilities[request, count:] == 0).all() and (result.log_sum_exps[request, count:] == 0).all()
            cut = (target[request].double() / options[0]).masked_fill(p[request] == 0, -math.inf)
            assert torch.allclose(result.log_sum_exps[request, :count].double(), cut.logsumexp(1)[:count], atol=1e-5)
        assert near <= 2


def test_masks_are_rows_with_minus_infinity():
    """There is one mask for each request, as grammars have them, or one for each row."""
    target, draft, drafted, uniforms = batch(vocab=70)
    generator = torch.Generator().manual_seed(4)
    allowed = torch.rand(40, 4, 96, generator=generator) < 0.5
    allowed[:, :, 3] = True
    words = (allowed.reshape(40, 4, 3, 32).long() << torch.arange(32)).sum(-1)
    words = torch.where(words >= 2**31, words - 2**32, words).int()
    for mask, rows in ((words, allowed), (words[:, 0], allowed[:, :1].expand(40, 4, 96)), (words[:, 1:2], allowed[:, 1:2].expand(40, 4, 96))):
        for name in ("", "fused"):
            found = verify(target, draft, drafted, uniforms, mask=mask, logs=True, implementation=name)
            expected = verify(target.masked_fill(~rows[..., :70], -math.inf), draft, drafted, uniforms, logs=True, implementation=name)
            for one, other in zip(found, expected):
                assert torch.equal(one, other)
    assert (verify(target, draft, drafted, uniforms, mask=words).tokens != verify(target, draft, drafted, uniforms).tokens).any()


def test_ties_go_to_the_lowest_id_where_asked():
    target, draft, drafted, uniforms = batch(vocab=9)
    target = target.round()
    result = verify(target, draft, drafted, uniforms, target_temperature=0, ties="lowest")
    rows = target.gather(1, result.accepted.long()[:, None, None].expand(-1, -1, 9))[:, 0]
    assert (result.next == (rows == rows.max(1, keepdim=True).values).int().argmax(1)).all()
    assert (verify(target, draft, drafted, uniforms, target_temperature=0).next != result.next).any()


def test_numbers_of_tensors_that_are_out_of_range_damage_their_rows():
    target, draft, drafted, uniforms = batch(6, vocab=30)
    for name, bad in (("top_k", -1), ("top_p", 0.0), ("top_p", 1.5), ("top_p", math.nan), ("min_p", -0.1), ("min_p", 2.0)):
        values = torch.full((6,), 1.0 if name == "top_p" else 0.0)
        values[2] = bad
        values = values.int() if name == "top_k" else values
        for implementation in ("", "fused"):
            result = verify(target, draft, drafted, uniforms, **{name: values}, implementation=implementation)
            assert (result.next == -2).tolist() == [False, False, True, False, False, False]
            assert result.flags[2] & 1


def test_rows_that_cannot_be_judged_are_damaged():
    """At temperature 0 the sum says nothing, a cut-off of NaN keeps nothing, and probabilities that sum to 0 have no token."""
    target, draft, drafted, uniforms = batch(6, vocab=30)
    cold = torch.tensor([1.0, 0, 1, 1, 1, 1])
    nan = torch.tensor([0, math.nan, 0, 0, 0, 0]) - 100
    for options in ({"target_temperature": cold, "target_log_sum_exp": target.logsumexp(-1)}, {"target_cutoff": nan}):
        for implementation in ("", "fused"):
            result = verify(target, draft, drafted, uniforms, **options, implementation=implementation)
            assert (result.next == -2).tolist() == [False, True, False, False, False, False] and result.flags[1] & 1
            assert result.accepted[1] == 0
    for lengths in (torch.zeros(6, dtype=torch.int32), None):  # the row of the bonus token, too
        options = {"target_temperature": torch.stack([torch.ones(6)] * 3 + [cold], 1) if lengths is None else cold, "lengths": lengths}
        draft = target[:, :3].contiguous()
        plain = verify(target, draft, drafted, uniforms, **options)
        for implementation in ("", "fused"):
            result = verify(target, draft, drafted, uniforms, **options, target_log_sum_exp=target.logsumexp(-1), implementation=implementation)
            assert plain.next[1] >= 0 and (result.next == -2).tolist() == [False, True, False, False, False, False]
    rows, ids = torch.zeros(1, 2, 4), torch.ones(1, 1, dtype=torch.int32)
    rows[0, 0] = torch.tensor([0.1, 0.4, 0.3, 0.2])
    for emulate in (False, True):
        accepted, following = torch.zeros(1, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
        flags, coins = torch.zeros(1, dtype=torch.int32), torch.full((1, 2), 0.5, dtype=torch.float64)
        run(batch_of(rows, rows[:, :1], ids, accepted, following, flags=flags, uniforms=coins, target_kind=1, draft_kind=1), rows.device, emulate)
        assert (accepted[0], following[0], flags[0]) == (1, -2, 1)


def test_integers_that_int32_cannot_hold():
    """They are out of every range, as they stand."""
    target, draft, drafted, uniforms = batch(2)
    assert (verify(target, draft, drafted + 2**32, uniforms).flags & 4).all()
    assert (verify(target, draft, drafted, uniforms, lengths=torch.tensor([2**32 + 1, -2**32])).flags == 8).all()
    assert torch.equal(verify(target, draft, drafted, uniforms, top_k=torch.tensor([2**32 + 1, 2**31])).tokens, verify(target, draft, drafted, uniforms).tokens)


def test_certain_drafts_other_rules_and_temperature_zero():
    target, draft, drafted, uniforms = batch()
    certain = verify(target, None, drafted, uniforms)
    p = target.double().softmax(-1)
    for request in range(40):
        tokens, margin = cases.definition(p[request], None, drafted[request], uniforms[request])
        assert margin < 1e-12 or certain.tokens[request].tolist() == tokens + [-1] * (4 - len(tokens))
    lenient = verify(target, draft, drafted, uniforms, method="lenient", lenience=0.3)
    token = verify(target, draft, drafted, uniforms)
    assert (lenient.accepted >= token.accepted).all() and (lenient.accepted > token.accepted).any()
    cold = verify(target, draft, drafted, uniforms, target_temperature=torch.zeros(40))
    assert (cold.next == target.argmax(-1).gather(1, cold.accepted.long()[:, None])[:, 0]).all()


def test_block_verification_accepts_more():
    """Null: block verification accepts no more than token by token. Differences of paired requests have a mean of 11 standard errors."""
    target, draft, drafted, uniforms = batch(20_000, vocab=17)
    more = (verify(target, draft, drafted, uniforms, method="block").accepted - verify(target, draft, drafted, uniforms).accepted).double()
    assert more.mean() > 7 * more.std() / 20_000**0.5


def test_mistakes_are_told():
    target, draft, drafted, uniforms = batch(2)
    for message, change in (("target is .* are needed", {"drafted": drafted[:, :2]}),
                            ("method is 'best': one of token", {"method": "best"}),
                            ("implementation is 'new': one of fused", {"implementation": "new"}),
                            ("uniforms is .* torch.float32", {"uniforms": uniforms.float()}),
                            ("target is torch.float64", {"target": target.double()}),
                            ("rule.lenience is 2", {"method": "lenient", "lenience": 2}),
                            ("draft is on meta", {"draft": draft.to("meta")}),
                            ("top_k is -1: a whole number, 0 or more,", {"top_k": -1}),
                            ("top_k is 2.5: a whole", {"top_k": 2.5}),
                            ("top_k is torch.float32: integers", {"top_k": torch.ones(2)}),
                            ("top_p is 0: a number above 0 and at most 1", {"top_p": 0}),
                            ("top_p is nan", {"top_p": math.nan}),
                            (r"top_p is \[3\]: a number, \[2\] or \[2, 4\] is needed", {"top_p": torch.ones(3)}),
                            ("top_p is 1e-50: a number above 0", {"top_p": 1e-50}),
                            ("target_temperature is '1': a number", {"target_temperature": "1"}),
                            (r"min_p is \['x'\]: a number, or numbers in a tensor", {"min_p": ["x"]}),
                            ("lenience is 'x': a number", {"lenience": "x"}),
                            ("min_p is 1.01: a number from 0 to 1", {"min_p": 1.01}),
                            ("target_temperature is -1", {"target_temperature": -1}),
                            (r"draft_cutoff is \[2, 4\]: a number, \[2\] or \[2, 3\]", {"draft_cutoff": torch.ones(2, 4)}),
                            ("target_options.log_sum_exp and top_k", {"target_log_sum_exp": 1.0, "top_k": 1}),
                            ("cluster: takes cut-off logits", {"top_k": 1, "implementation": "cluster"}),
                            (r"mask is \[2, 3\] torch.int32: \[2, 2\] or \[2, 4, 2\] torch.int32", {"mask": torch.zeros(2, 3, dtype=torch.int32)}),
                            ("mask is .* torch.bool", {"mask": torch.zeros(2, 2, dtype=torch.bool)}),
                            ("the last stride of mask is 2", {"mask": torch.zeros(2, 2, 2, dtype=torch.int32).transpose(1, 2)[:, 0]}),
                            ("drafted is torch.float32: integers", {"drafted": drafted.float()}),
                            ("lengths is torch.float32: integers", {"lengths": torch.ones(2)}),
                            ("lengths is a list: a tensor", {"lengths": [1, 2]}),
                            ("target is a ndarray: a tensor", {"target": target.numpy()}),
                            ("drafted is torch.complex64: integers", {"drafted": drafted.to(torch.complex64)}),
                            ("lengths is torch.uint64: integers .* torch.int64", {"lengths": torch.ones(2).to(torch.uint64)}),
                            ("top_k is torch.uint64: integers", {"top_k": torch.ones(2).to(torch.uint64)}),
                            ("top_p is torch.complex64: numbers", {"top_p": torch.ones(2, dtype=torch.complex64)}),
                            ("implementation is '0': one of fused", {"implementation": 0}),
                            ("target_temperature is inf: a finite number", {"target_temperature": math.inf}),
                            ("draft_temperature is -1: a finite number", {"draft_temperature": -1}),
                            ("top_k is inf: a whole number", {"top_k": math.inf}),
                            ("target_temperature is 1e", {"target_temperature": 1e50}),
                            ("target_cutoff is nan: a number", {"target_cutoff": math.nan}),
                            ("seeds is 1.5: an integer", {"uniforms": None, "seeds": 1.5, "positions": 1}),
                            ("positions is -1: an integer", {"uniforms": None, "seeds": 1, "positions": -1}),
                            ("ties is 'first': one of shared, lowest", {"ties": "first"}),
                            ("seeds are given besides", {"seeds": 1, "positions": torch.arange(2)}),
                            ("positions is null: both are needed", {"uniforms": None, "seeds": 1}),
                            (r"positions is \[3\]: a number, \[2\] is needed", {"uniforms": None, "seeds": 1, "positions": torch.arange(3)})):
        arguments = {"target": target, "draft": draft, "drafted": drafted, "uniforms": uniforms, **change}
        with pytest.raises(SpeclabError, match=message):
            verify(**arguments)
    for seed, trials, step in ((5, [1j], 0), (5, [2**32], 0), (5, [-1], 0), (5, [0.5], 0), (5, [0, 1], 2**32), (2**64, [0], 0), (1.9, [0], 0), (1, [0], 1.7)):
        with pytest.raises(SpeclabError, match="integers"):
            addresses(seed, trials, step)
    damaged = target.clone()
    damaged[0, :, 3] = float("nan")
    result = verify(damaged, draft, drafted, uniforms)
    assert result.next[0] == -2 and result.flags[0] & 1 and result.tokens[0, int(result.accepted[0])] == -1
    assert library().implementations()[0] == "fused"
    assert verify(target[:0], draft[:0], drafted[:0]).tokens.shape == (0, 4)


@pytest.mark.parametrize("name", ["", "fused"])
def test_a_prepared_call_reads_and_writes_in_place(name):
    target, draft, drafted, uniforms = batch(requests=5)
    drafted = drafted.int()
    top_k, temperature = torch.full((5,), 7, dtype=torch.int32), torch.full((5,), 0.7)
    options = dict(top_k=top_k, target_temperature=temperature, draft_temperature=0.9, logs=True, implementation=name)
    prepared = prepare(target, draft, drafted, uniforms, **options)
    places = [tensor.data_ptr() for tensor in prepared.results]
    for step in range(3):
        others = batch(requests=5, seed=10 + step)
        for tensor, other in zip((target, draft, drafted, uniforms), others):
            tensor.copy_(other)
        temperature.fill_(0.5 + 0.1 * step)
        top_k.fill_(3 + step)
        results = prepared()
        wanted = verify(target, draft, drafted, uniforms, **options)
        assert all((one == other).all() for one, other in zip(results, wanted))
        assert [tensor.data_ptr() for tensor in results] == places


def test_what_a_prepared_call_cannot_read_in_place_is_refused():
    target, draft, drafted, uniforms = batch(requests=5)
    with pytest.raises(SpeclabError, match="drafted is torch.int64.*torch.int32 is needed"):
        prepare(target, draft, drafted, uniforms)
    drafted = drafted.int()
    with pytest.raises(SpeclabError, match="lengths is torch.int64"):
        prepare(target, draft, drafted, uniforms, lengths=torch.full((5,), 3))
    with pytest.raises(SpeclabError, match="top_p is torch.float64"):
        prepare(target, draft, drafted, uniforms, top_p=torch.full((5,), 0.9, dtype=torch.float64))
    with pytest.raises(SpeclabError, match="top_p is a list: a tensor is needed"):
        prepare(target, draft, drafted, uniforms, top_p=[0.9] * 5)
    with pytest.raises(SpeclabError, match="every call would draw the same numbers"):
        prepare(target, draft, drafted, seeds=1, positions=2)
    for options in ({"temperature": 0.0}, {"topk": 1}, {"tie": "lowest"}):
        for call in (prepare, verify):
            with pytest.raises(TypeError, match=f"unexpected keyword argument '{[*options][0]}'"):
                call(target, draft, drafted, uniforms, **options)


def test_the_negative_bit_is_not_ignored():
    """The bit says that the numbers in memory have the wrong sign. torch resolves it for its operator."""
    target, draft, drafted, uniforms = batch(requests=5)
    drafted, bit = drafted.int(), torch._neg_view(-target)
    assert torch.equal(verify(bit, draft, drafted, uniforms).tokens, verify(target, draft, drafted, uniforms).tokens)
    for arguments in ((bit, draft, drafted, uniforms), (target, draft, drafted, torch._neg_view(-uniforms))):
        with pytest.raises(SpeclabError, match="negative bit.*resolve_neg"):
            prepare(*arguments)
    with pytest.raises(SpeclabError, match="negative bit"):
        prepare(target, draft, drafted, uniforms, target_temperature=torch._neg_view(-torch.ones(5)))
    with pytest.raises(SpeclabError, match="negative bit"):
        chain_speculative_sampling(torch._neg_view(-draft.softmax(-1)), drafted, target.softmax(-1), uniforms=uniforms)


def test_no_drafted_tokens_from_numpy():
    """NumPy's empty arrays have strides of 0 in torch."""
    target, _, drafted, uniforms = batch(gamma=0)
    empty = torch.from_numpy(target.numpy()[:, :0].copy())
    assert empty.stride(2) == 0
    assert torch.equal(verify(target, empty, drafted, uniforms).tokens, verify(target, None, drafted, uniforms).tokens)
