"""Compares the pair of configs/neural in transformers' Llama classes with the forward pass in numpy, and runs record_hf.py on it.
Skipped without numpy, torch and transformers.

usage: neural_pair_transformers.py SPECLAB SOURCE
"""

import csv
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import torch
    from transformers import AutoModelForCausalLM, GPT2Tokenizer
except ImportError as error:
    print(f"needs numpy, torch and transformers: {error}")
    sys.exit(77)

speclab, source = sys.argv[1], pathlib.Path(sys.argv[2])
sys.path.insert(0, str(source / "scripts"))
import gguf_to_hf  # noqa: E402
from of_package import hf_folder, llama_numpy  # noqa: E402
from of_package.gguf_file import GgufFile  # noqa: E402
from pair import bpe, drafters  # noqa: E402

# Tolerance: both add in f32, in different orders, some hundred terms of size at most 10, in a few layers.
TOLERANCE = 2e-3
TEXTS = ["Emma Woodhouse, handsome, clever, and rich", "#include <boost/config.hpp>\n\n  // don't\n", " a  b\t\u00e9\u20ac 12345"]


def expect(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


random = np.random.default_rng(1)
with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    for model in ("target", "draft", "draft-small"):
        path = source / f"configs/neural/{model}.gguf"
        ours = llama_numpy.Llama(path)
        gguf_to_hf.write(GgufFile(path), folder / model)
        theirs = AutoModelForCausalLM.from_pretrained(folder / model).eval()
        tokens = random.integers(ours.vocab, size=(3, 80))
        with torch.no_grad():
            logits = theirs(torch.from_numpy(tokens)).logits.numpy()
        whole, _ = ours.logits(tokens, ours.start(3))
        expect(np.abs(whole - logits).max() < TOLERANCE, f"{model}: logits differ by {np.abs(whole - logits).max()}")
        # The same token by token with a cache.
        state, steps = ours.start(3), []
        for i in range(tokens.shape[1]):
            row, state = ours.logits(tokens[:, i:i + 1], state)
            steps.append(row[:, 0])
        expect(np.abs(np.stack(steps, axis=1) - whole).max() < TOLERANCE, f"{model}: the cache changes logits")
        # A planted fault is found: the other order of pairs in RoPE.
        right = hf_folder.halves
        hf_folder.halves = lambda matrix, heads: matrix
        hf_folder.write(GgufFile(path), folder / "other pairs")
        hf_folder.halves = right
        with torch.no_grad():
            wrong = AutoModelForCausalLM.from_pretrained(folder / "other pairs").eval()(torch.from_numpy(tokens)).logits.numpy()
        expect(np.abs(whole - wrong).max() > 10 * TOLERANCE, f"{model}: RoPE of other pairs is not seen")

    tokenizer = bpe.of(GgufFile(source / "configs/neural/target.gguf").values)
    other = GPT2Tokenizer.from_pretrained(folder / "target")
    for text in TEXTS:
        expect(tokenizer.encode(text) == other(text)["input_ids"], f"tokens of {text!r}")
        expect(tokenizer.decode(tokenizer.encode(text)) == text, f"{text!r} comes back")

    out = folder / "pair.csv"
    prompt = tokenizer.encode(TEXTS[0])
    subprocess.run([sys.executable, source / "scripts/record_hf.py", "--target", folder / "target", "--draft",
                    folder / "draft-small", "--out", out, "--sequences", "3", "--tokens", "40", "--prompt-ids",
                    ",".join(map(str, prompt))], check=True)
    with open(out, encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    for column, model in (("logp", "target"), ("logq", "draft-small")):
        drafter = drafters.Neural(llama_numpy.Llama(source / f"configs/neural/{model}.gguf"))
        for sequence in range(3):
            of_it = [line for line in lines if int(line["sequence"]) == sequence]
            tokens = [int(line["token"]) for line in of_it]
            logs = drafter.rows(prompt, tokens)[np.arange(len(tokens)), tokens]
            worst = np.abs(logs - [float(line[column]) for line in of_it]).max()
            expect(worst < TOLERANCE, f"{column} of sequence {sequence} differs by {worst}")
    subprocess.run([speclab, "plan", "recording", out, "--c", "0.1"], check=True, stdout=subprocess.DEVNULL)
print("ok")
