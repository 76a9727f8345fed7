"""Tests scripts/train_pair.py --target: the given target computes what its file describes, and its draft has its tokenizer. Two steps
of training, on texts made here. Skipped without jax, numpy and gguf.

usage: train_pair.py SPECLAB SOURCE
"""

import csv
import pathlib
import subprocess
import sys
import tempfile

try:
    import jax
    import numpy as np
    import gguf  # noqa: F401
except ImportError as error:
    print(f"needs jax, numpy and gguf: {error}")
    sys.exit(77)

source = pathlib.Path(sys.argv[2])
sys.path.insert(0, str(source / "scripts"))
from of_package import llama_numpy  # noqa: E402
from pair import gguf_import, llama_jax  # noqa: E402

SCRIPT, TARGET = source / "scripts/train_pair.py", source / "configs/neural/target.gguf"
# Tolerance: factors of products are rounded to bf16 (8 bits), in rows of some 4 nats.
MEAN_TOLERANCE, ROUNDING = 0.05, 1e-4


def expect(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def run(*words):
    return subprocess.run([sys.executable, SCRIPT, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)


random = np.random.default_rng(1)
ours, theirs = gguf_import.GivenTarget(TARGET), llama_numpy.Llama(TARGET)
tokens = random.integers(theirs.vocab, size=(3, 40))
wanted = llama_numpy.log_softmax(theirs.logits(tokens, theirs.start(3))[0])
rows = np.asarray(jax.nn.log_softmax(llama_jax.logits(ours.parameters, tokens, ours.shape)))
expect(np.abs(rows - wanted).mean() < MEAN_TOLERANCE, f"rows differ by {np.abs(rows - wanted).mean()}")

# Heads that share keys and values compute the same as heads with a copy each.
shared = llama_jax.Shape(64, width=32, inner=64, layers=2, heads=4, key_heads=2, rope_base=1000.0)
each = llama_jax.Shape(64, width=32, inner=64, layers=2, heads=4, rope_base=1000.0)
few = llama_jax.initial(each, 1)
for name in ("0.k", "0.v", "1.k", "1.v"):
    few[name] = few[name][:16]
many = {name: np.repeat(np.asarray(value).reshape(2, 8, 32), 2, axis=0).reshape(32, 32) if name[-1] in "kv" else value
        for name, value in few.items()}
tokens = random.integers(64, size=(2, 12))
pair = [np.asarray(llama_jax.logits(p, tokens, shape)) for p, shape in ((few, shared), (many, each))]
expect(np.abs(pair[0] - pair[1]).max() < ROUNDING, "shared keys")
key = jax.random.key(1)
pair = [np.asarray(llama_jax.sample(p, jax.numpy.asarray(tokens), key, shape, 20)) for p, shape in ((few, shared), (many, each))]
expect((pair[0] == pair[1]).all() and (pair[0][:, :12] == tokens).all(), "texts of shared keys")

with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    words = "the of and to a in it was not with her".split()
    for file, ending in (("austen.txt", "CHAPTER I\n"), ("help_docs.txt", "\f\n"), ("headers.txt", "\f\n// LICENSE_1_0\n")):
        pages = [" ".join(random.choice(words, size=1500)) for _ in range(24)]
        (folder / file).write_text(ending.join(pages), encoding="utf-8")
    given = ["--target", TARGET, "--data", folder, "--out", folder / "out", "--work", folder / "work", "--window", "32",
             "--batches", "1", "--held-texts", "3", "--draft-steps", "2"]
    done = run(*given)
    expect(done.returncode == 0, done.stderr)
    draft = llama_numpy.Llama(folder / "out/draft.gguf")
    for field in ("tokens", "merges", "token_type", "model", "pre", "bos_token_id", "eos_token_id", "add_bos_token"):
        key = f"tokenizer.ggml.{field}"
        expect(draft.values.get(key) == theirs.values.get(key), f"{key} is not the target's")
    expect(draft.logits(tokens, draft.start(2))[0].shape == (2, 12, theirs.vocab), "the draft's rows")
    with open(folder / "out/generated.csv", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    expect(len(lines) == 96 * (32 + 1 - 16), f"{len(lines)} generated tokens")
    before = (folder / "out/draft.gguf").read_bytes()
    expect(run(*given).returncode == 0 and (folder / "out/draft.gguf").read_bytes() == before, "a finished run changes nothing")

    for wrong, said in ((["--target", folder / "none.gguf"], "setup.sh neural"), (["--target", folder / "austen.txt"], "no GGUF file"),
                        (["--window", "64"], "another --window, 32"), (["--window", "5"], "expected 32 or more"),
                        (["--work", source / "build/pair"], "--target needs --work")):
        done = run(*given, *wrong)
        expect(done.returncode in (1, 2) and said in done.stderr, f"{wrong}: {done.stderr}")
print("train_pair: passed")
