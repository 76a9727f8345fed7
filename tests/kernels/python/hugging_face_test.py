"""Compares speclab_kernels.hugging_face with transformers' own function. Skipped by name if torch or transformers is not installed."""
import pytest

torch = pytest.importorskip("torch")
utils = pytest.importorskip("transformers.generation.utils")

import cases  # noqa: E402
from speclab_kernels.hugging_face import speculative_sampling  # noqa: E402

torch.set_num_threads(1)
theirs = utils._speculative_sampling
COUNT = 20_000  # requests of transformers' function, which takes one at a time


def random_case(generator, gamma=4, vocab=40):
    target = 2 * torch.randn(1, gamma + 1, vocab, generator=generator)
    draft = target[:, :gamma] + torch.randn(1, gamma, vocab, generator=generator)
    drafted = torch.multinomial(draft[0].softmax(-1), 1, generator=generator)[:, 0]
    ids = torch.cat((torch.tensor([7, 8]), drafted))[None]
    return ids, draft, gamma, target


def injected(monkeypatch, uniforms):
    """Replaces transformers' random numbers by ours: the uniforms of acceptance draws, then the token by the inverse CDF."""
    monkeypatch.setattr(torch, "rand_like", lambda like: uniforms[0, :-1].to(like.dtype))

    def multinomial(weights, num_samples):
        sums = weights.double().cumsum(-1)
        return (sums <= uniforms[0, -1] * sums[:, -1:]).sum(-1, keepdim=True)
    monkeypatch.setattr(torch, "multinomial", multinomial)


@pytest.mark.parametrize("weight", [None, 0.4])
def test_same_decisions_from_the_same_uniforms(monkeypatch, weight):
    generator = torch.Generator().manual_seed(3)
    made = [(random_case(generator), torch.rand(1, 5, dtype=torch.float64, generator=generator)) for _ in range(300)]
    kept = []
    for case, uniforms in made:
        with monkeypatch.context() as patch:
            injected(patch, uniforms)
            tokens, matches = theirs(*case, assistant_ensemble_weight=weight)
        ours, count = speculative_sampling(*case, assistant_ensemble_weight=weight, uniforms=uniforms)
        # No uniform of these 300 requests comes within 1e-6 of another outcome.
        assert ours.tolist() == tokens.tolist() and int(count) == int(matches) and ours.dtype == tokens.dtype
        kept.append(int(count))
    assert set(kept) == set(range(5))


@pytest.mark.parametrize("which", ["ours", "theirs"])
def test_distribution(which):
    """Tests cases.p_value; ours with 100,000 requests."""
    target, draft = cases.rows()
    count = 100_000 if which == "ours" else COUNT
    torch.manual_seed(5)
    drafted = cases.drafted_of(draft, count, None)
    function = speculative_sampling if which == "ours" else theirs
    tokens = torch.full((count, cases.GAMMA + 1), -1)
    for request in range(count):
        found, _ = function(drafted[request:request + 1], draft[None], cases.GAMMA, target[None])
        tokens[request, :found.shape[1]] = found[0]
    good = cases.p_value(target, draft, drafted, *cases.from_padded(tokens))
    bad = cases.p_value(target, draft, drafted, *cases.faulty(tokens, target, None))
    print(f"{which}, {count} requests: p = {good:.3g}; resampling the target: p = {bad:.3g}")
    assert good > cases.LEVEL and bad < 1e-100


def test_in_generate():
    """Runs assisted generation with our function: at a low temperature it gives the target's greedy choice, whatever the draft is."""
    transformers = pytest.importorskip("transformers")

    def llama(seed):
        torch.manual_seed(seed)
        config = transformers.LlamaConfig(vocab_size=20, hidden_size=16, intermediate_size=32, num_hidden_layers=1,
                                          num_attention_heads=2, bos_token_id=1, eos_token_id=None, pad_token_id=0, initializer_range=0.5)
        return transformers.LlamaForCausalLM(config).eval()
    target, draft = llama(1), llama(2)
    ids = torch.tensor([[1, 3, 5]])
    calls = []

    def counted(*arguments, **options):
        calls.append(1)
        return speculative_sampling(*arguments, **options)
    options = {"max_new_tokens": 20, "do_sample": True, "temperature": 1e-3, "top_k": 0}
    plain = target.generate(ids, **options)
    try:
        utils._speculative_sampling = counted
        assisted = target.generate(ids, assistant_model=draft, **options)
    finally:
        utils._speculative_sampling = theirs
    assert calls and assisted.tolist() == plain.tolist()


def test_odd_arguments():
    generator = torch.Generator().manual_seed(4)
    ids, draft, gamma, target = random_case(generator)
    accepting = torch.tensor([[0.0] * 4 + [0.5]], dtype=torch.float64)
    tokens, count = speculative_sampling(ids, draft, gamma, target, uniforms=accepting)
    assert int(count) == 4 and tokens.shape == (1, 5) and tokens[0, :4].tolist() == ids[0, 2:].tolist()
    # Transformers before 5 passes a bool: the last accepted token ended the text.
    tokens, count = speculative_sampling(ids, draft, gamma, target, True, uniforms=accepting)
    assert int(count) == 3 and tokens.tolist() == ids[:, 2:].tolist()
    tokens, count = speculative_sampling(ids, draft[:, :0], 0, target[:, :1])
    assert int(count) == 0 and tokens.shape == (1, 1)
    assert speculative_sampling(ids, draft.bfloat16(), gamma, target)[0].dtype == torch.int64
    with pytest.raises(ValueError, match="2 requests"):
        speculative_sampling(ids.expand(2, -1), draft.expand(2, -1, -1), gamma, target.expand(2, -1, -1))
    with pytest.raises(ValueError, match="NaN"):
        speculative_sampling(ids, draft, gamma, torch.full_like(target, float("nan")))
