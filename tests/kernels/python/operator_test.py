"""torch.ops.speclab.verify on CPU tensors. Skipped by name where torch is not installed."""
import pytest

torch = pytest.importorskip("torch")

import cases  # noqa: E402
from speclab_kernels import SpeclabError, addresses, library, verify  # noqa: E402

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
    """And those of the kernels in the emulator, but for uniforms within their error of another outcome."""
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
    arguments = (target, draft, drafted.int(), uniforms, *8 * [None], "token", 1.0, "target_minus_draft", "")
    torch.library.opcheck(torch.ops.speclab.verify.default, arguments)

    def step(target, draft, drafted, uniforms):
        return verify(target, draft, drafted, uniforms, target_temperature=0.5).tokens + 1
    compiled = torch.compile(step, backend="aot_eager", fullgraph=True)
    assert (compiled(target, draft, drafted, uniforms) == step(target, draft, drafted, uniforms)).all()
    with torch._subclasses.FakeTensorMode():
        fake = verify(torch.empty(5, 4, 9), torch.empty(5, 3, 9), torch.zeros(5, 3, dtype=torch.int64))
        assert fake.tokens.shape == (5, 4) and fake.flags.shape == (5,) and fake.tokens.dtype == torch.int32


def test_addresses_are_of_requests_and_not_of_slots():
    target, draft, drafted, _ = batch(12)
    places = addresses(2**64 - 1, torch.arange(12), round=2**32 - 1)
    whole = verify(target, draft, drafted, addresses=places)
    turned = verify(target.flip(0), draft.flip(0), drafted.flip(0), addresses=places.flip(0))
    assert (whole.tokens == turned.tokens.flip(0)).all()
    other = verify(target, draft, drafted, addresses=addresses(2**64 - 1, torch.arange(12), round=torch.full((12,), 7)))
    assert (whole.tokens != other.tokens).any()


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
    """Null: no more than token by token. Differences of paired requests have a mean of 11 standard errors."""
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
                            ("draft is on meta", {"draft": draft.to("meta")})):
        arguments = {"target": target, "draft": draft, "drafted": drafted, "uniforms": uniforms, **change}
        with pytest.raises(SpeclabError, match=message):
            verify(**arguments)
    damaged = target.clone()
    damaged[0, :, 3] = float("nan")
    result = verify(damaged, draft, drafted, uniforms)
    assert result.next[0] == -2 and result.flags[0] & 1 and result.tokens[0, int(result.accepted[0])] == -1
    assert library().implementations()[0] == "fused"
    assert verify(target[:0], draft[:0], drafted[:0]).tokens.shape == (0, 4)
