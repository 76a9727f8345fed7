"""Tests speclab.hf and assisted_generation.py on small Llama models with random weights, made here. Skipped by name
if torch or transformers is not installed."""

import csv
import math
import os
import pathlib
import warnings

import numpy as np
import pytest

import speclab

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
torch.set_num_threads(1)  # small models

from assisted_generation import assisted  # noqa: E402  # needs torch

SOURCE = pathlib.Path(os.environ.get("SPECLAB_SOURCE", pathlib.Path(__file__).parents[3]))
ENDS = 2


def llama(seed, vocab=4, hidden=16, ends=None):
    torch.manual_seed(seed)
    config = transformers.LlamaConfig(
        vocab_size=vocab, hidden_size=hidden, intermediate_size=2 * hidden, num_hidden_layers=1, num_attention_heads=2,
        max_position_embeddings=128, bos_token_id=1, eos_token_id=ends, pad_token_id=0, initializer_range=0.5)
    return transformers.LlamaForCausalLM(config).eval()


@pytest.fixture(scope="module")
def pair():
    """A target that ends texts, and a very different draft: the total variation of their first rows is about .3."""
    return llama(1, ends=ENDS), llama(2, ends=ENDS)


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        transformers.logging.set_verbosity_error()
        yield


def test_recording(pair, tmp_path):
    """Log-probabilities equal those of forward passes over the whole text; the text fits its columns; alpha equals that of rows."""
    before = torch.random.get_rng_state()
    made = speclab.hf.record(*pair, [[1, 3], [1]], tmp_path / "pair.csv", sequences=40, tokens=50, temperature=0.8, seed=3)
    assert (torch.random.get_rng_state() == before).all()
    again = speclab.hf.record(*pair, torch.tensor([[1, 3]]), sequences=1, tokens=50, temperature=0.8, seed=3)
    with open(tmp_path / "pair.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(made) == sum(sequence.count for sequence in made.sequences) and len(made.sequences) == 40
    for sequence, prompt in ((0, [1, 3]), (1, [1])):
        ids = [int(row["token"]) for row in rows if int(row["sequence"]) == sequence]
        assert len(ids) == 50 or ids[-1] == ENDS and ENDS not in ids[:-1]
        first = made.sequences[sequence].first
        for model, found in zip(pair, (made.target, made.draft[0])):
            with torch.no_grad():
                scores = torch.log_softmax(model(torch.tensor([prompt + ids])).logits[0].double() / 0.8, -1)
            wanted = [float(scores[len(prompt) - 1 + i, token]) for i, token in enumerate(ids)]
            assert found[first : first + len(ids)] == pytest.approx(wanted, abs=1e-4)
    assert again.target == pytest.approx(made.target[: len(again)])
    plan = speclab.plan(recording=tmp_path / "pair.csv", c=0.1)
    assert not plan.warnings and plan.text_fit["entropy"] == "fits" and 0 < plan.alpha < 1


def test_one_logic(pair, tmp_path):
    """scripts/record_hf.py writes the same file."""
    import subprocess
    import sys

    for name, model in zip("ab", pair):
        model.save_pretrained(tmp_path / name)
    words = ["--target", tmp_path / "a", "--draft", tmp_path / "b", "--out", tmp_path / "script.csv", "--prompt-ids", "1,3",
             "--sequences", 5, "--tokens", 20, "--seed", 3]
    subprocess.run([sys.executable, SOURCE / "scripts/record_hf.py", *map(str, words)], check=True, capture_output=True)
    speclab.hf.record(*pair, [[1, 3]], tmp_path / "mine.csv", sequences=5, tokens=20, seed=3)
    mine, script = (list(csv.DictReader((tmp_path / name).open(encoding="utf-8"))) for name in ("mine.csv", "script.csv"))
    whole = ["sequence", "position", "token"]
    assert [[row[key] for key in whole] for row in mine] == [[row[key] for key in whole] for row in script]
    # Another process may sum in another order, because its thread count and alignment of memory differ.
    for key in mine[0].keys() - whole:
        assert [float(row[key]) for row in mine] == pytest.approx([float(row[key]) for row in script], abs=1e-5)


def test_a_recording_that_ends_early(tmp_path):
    """The older file stays, and the sequences so far are beside it."""
    pair = llama(4, vocab=30), llama(5, vocab=30)
    path, seen = tmp_path / "pair.csv", []
    path.write_text("older")

    def stop(done, total):
        seen.append(done)
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        speclab.hf.record(*pair, [[1, 3]], path, sequences=9, tokens=5, progress=stop)
    assert path.read_text() == "older" and seen[-1] == 3
    lines = (tmp_path / "pair.csv.part").read_text().splitlines()
    assert {line.split(",")[0] for line in lines[1:]} == {"0", "1", "2"}


@pytest.mark.skipif(not (SOURCE / "configs/neural/target.gguf").exists(), reason="configs/neural is not here")
def test_our_own_pair(tmp_path):
    """The shipped neural pair as Hugging Face models: what it generates fits its columns (each check passes a fitting text with
    probability .9999), its alpha is about that of configs/recorded, and assisted generation keeps its distribution, in classes
    of its 2,048 tokens (false-alarm rate 1e-6; the assistant alone is found)."""
    import subprocess
    import sys

    models = []
    for name in ("target", "draft"):
        made = subprocess.run([sys.executable, SOURCE / "scripts/gguf_to_hf.py", SOURCE / f"configs/neural/{name}.gguf", tmp_path / name], capture_output=True, text=True)
        assert made.returncode == 0, made.stderr
        models.append(transformers.AutoModelForCausalLM.from_pretrained(tmp_path / name).eval())
    recording = speclab.hf.record(*models, [[0]], tmp_path / "pair.csv", sequences=12, tokens=60)
    plan = speclab.plan(recording=tmp_path / "pair.csv", c=0.1)
    assert not plan.warnings and plan.text_fit["entropy"] == "fits" and 0.6 < recording.kept.mean() < 0.9
    assert not speclab.hf.check_generate(*models, [0], tokens=2, samples=200, num_assistant_tokens=2).different

    def of_assistant(target, input_ids, generation_config=None, assistant_model=None, **_):
        return models[1].generate(input_ids, do_sample=True, top_k=0, max_length=generation_config.max_length)

    assert speclab.hf.check_generate(*models, [0], tokens=2, samples=400, custom_generate=of_assistant).different


def test_records_are_refused(pair, tmp_path):
    for arguments, options, words in (
        ((pair[0], llama(3, vocab=5), [[1]]), {}, "one vocabulary"),
        ((*pair, []), {}, "prompts"),
        ((*pair, [[]]), {}, "prompts"),
        ((*pair, [[4]]), {}, "prompts: 4"),
        ((*pair, [[1]]), {"temperature": 0}, "temperature"),
        ((*pair, [[1]]), {"tokens": 0}, "tokens"),
    ):
        with pytest.raises(ValueError, match=words):
            speclab.hf.record(*arguments, tmp_path / "x.csv", **options)


def test_generate_with_an_assistant(pair):
    """Null: transformers' assisted generation has the model's law of 3 tokens, ends of text among them. False-alarm rate 1e-6;
    a total variation of .2 is found with probability .99."""
    result = speclab.hf.check_generate(*pair, tokens=3, total_variation=0.2, num_assistant_tokens=3)
    print(f"transformers {transformers.__version__}: {result}")
    assert not result.different and result.power == 0.99


def test_generate_that_samples_otherwise_is_found(pair):
    """Sampling with top-k, and at another temperature, is found; false-alarm rate 1e-6 of each."""
    for options in ({"top_k": 2}, {"custom_generate": assisted(pair[1], gamma=2, temperature=4.0)}):
        assert speclab.hf.check_generate(pair[0], None, tokens=2, samples=300, **options).different


def forgets(draw, target, draft, drafted):
    """A rule that forgets the residual."""
    for i, x in enumerate(drafted):
        if not draw.bernoulli(min(1, target[i][x] / draft[i][x])):
            return i, draw.categorical(target[i])
    return len(drafted), draw.categorical(target[-1])


@pytest.mark.parametrize(("rule", "different"), [("token", False), ("block", False), (forgets, True)])
def test_assisted_generation_with_our_rules(pair, rule, different):
    """False-alarm rate 1e-6 of each; a total variation of .2 is found with probability .99."""
    decode = assisted(pair[1], gamma=2, rule=rule)
    result = speclab.hf.check_generate(pair[0], None, tokens=3, total_variation=0.2, custom_generate=decode)
    assert result.different == different


def test_classes_of_a_large_vocabulary():
    """A vocabulary of 300 tokens is not enumerated. Null: plain sampling and our rule; the assistant's own tokens are found. False-alarm rate
    1e-6 of each."""
    model, assistant = llama(4, vocab=300, ends=7), llama(5, vocab=300, ends=7)

    def of_assistant(target, input_ids, generation_config=None, **_):
        return assistant.generate(input_ids, do_sample=True, top_k=0, max_length=generation_config.max_length)

    for options, different in (({}, False), ({"custom_generate": assisted(assistant, gamma=2)}, False), ({"custom_generate": of_assistant}, True)):
        # With an assistant, tokens are ordered by how much too often it drafts them.
        if options:
            options["custom_generate"] = ignoring_assistant(options["custom_generate"])
            result = speclab.hf.check_generate(model, assistant, tokens=3, samples=300, **options)
        else:
            result = speclab.hf.check_generate(model, None, tokens=3, samples=300)
        assert result.different == different and "classes" in str(result)


def ignoring_assistant(decode):
    def method(model, input_ids, generation_config=None, stopping_criteria=None, assistant_model=None, **_):
        return decode(model, input_ids, generation_config=generation_config, stopping_criteria=stopping_criteria)

    return method


def test_law_of_a_table():
    """The distribution under the null equals products of rows."""
    model = llama(6, ends=ENDS)
    law = speclab.hf._law(model, [1], 4, 2, 0.7)
    with torch.no_grad():
        first = torch.softmax(model(torch.tensor([[1]])).logits[0, -1].double() / 0.7, -1).numpy()
        then = torch.softmax(model(torch.tensor([[1, 3]])).logits[0, -1].double() / 0.7, -1).numpy()
    assert math.isclose(sum(law.values()), 1, abs_tol=1e-9) and len(law) == 13
    assert law[3, 0] == pytest.approx(first[3] * then[0], abs=1e-6) and law[ENDS, ENDS] == pytest.approx(first[ENDS], abs=1e-6)
    assert np.isclose(law.get((ENDS, 0), 0), 0)
