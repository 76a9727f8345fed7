"""Tests scripts/record_hf.py on two small Llama models with random weights, made here. Skipped without torch and transformers.

usage: record_hf.py SPECLAB SOURCE
"""

import csv
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM
except ImportError as error:
    print(f"needs torch and transformers: {error}")
    sys.exit(77)

speclab, source = sys.argv[1], pathlib.Path(sys.argv[2])
VOCAB = 64


def expect(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def made(folder, seed, hidden, vocab=VOCAB):
    torch.manual_seed(seed)
    model = LlamaForCausalLM(LlamaConfig(
        vocab_size=vocab, hidden_size=hidden, intermediate_size=2 * hidden, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=256, bos_token_id=1, eos_token_id=2, initializer_range=0.4))
    model.eval().save_pretrained(folder)
    return model


def record(*arguments):
    return subprocess.run([sys.executable, source / "scripts/record_hf.py", *map(str, arguments)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    target, draft = made(folder / "target", 1, 32), made(folder / "draft", 2, 16)
    done = record("--target", folder / "target", "--draft", folder / "draft", "--out", folder / "pair.csv",
                  "--sequences", 24, "--tokens", 60, "--temperature", 0.8, "--prompt-ids", "1,5,9")
    expect(done.returncode == 0, done.stderr)
    with open(folder / "pair.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    expect(len({row["sequence"] for row in rows}) == 24, "24 sequences")
    # The first sequence again, by forward passes over all of it, without a cache.
    first = [row for row in rows if row["sequence"] == "0"]
    ids = [1, 5, 9] + [int(row["token"]) for row in first]
    for model, column in ((target, "logp"), (draft, "logq")):
        with torch.no_grad():
            scores = torch.log_softmax(model(torch.tensor([ids])).logits[0].double() / 0.8, dim=-1)
        for i, row in enumerate(first):
            expect(abs(float(scores[2 + i, ids[3 + i]]) - float(row[column])) < 1e-4, f"{column} of token {i}")
    plan = subprocess.run([speclab, "plan", "recording", folder / "pair.csv", "--c", "0.1", "--json"],
                          stdout=subprocess.PIPE, check=True)
    found = json.loads(plan.stdout)
    expect(not found["warnings"] and found["text_fit"]["entropy"] == "fits", f"the text fits: {found['warnings']}")
    expect(0 < found["alpha"] < 1 and found["tokens"] == len(rows), "alpha")

    # The columns of temperature 1 do not fit the same text.
    wrong = folder / "wrong.csv"
    with open(wrong, "w", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(["sequence", "position", "token", "logp", "logq", "entropy"])
        for sequence in range(24):
            of_it = [row for row in rows if int(row["sequence"]) == sequence]
            ids = [1, 5, 9] + [int(row["token"]) for row in of_it]
            with torch.no_grad():
                p, q = (torch.log_softmax(model(torch.tensor([ids])).logits[0].double(), -1) for model in (target, draft))
            for i, row in enumerate(of_it):
                entropy = float(-(p[2 + i].exp() * p[2 + i]).sum())
                writer.writerow([sequence, i, ids[3 + i], float(p[2 + i, ids[3 + i]]), float(q[2 + i, ids[3 + i]]), entropy])
    plan = subprocess.run([speclab, "plan", "recording", wrong, "--c", "0.1", "--json"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=True)
    expect(json.loads(plan.stdout)["text_fit"]["entropy"] == "does not fit", "another temperature is found")

    made(folder / "other", 3, 16, 65)
    done = record("--target", folder / "target", "--draft", folder / "other", "--out", folder / "x.csv",
                  "--prompt-ids", "1")
    expect(done.returncode != 0 and "one vocabulary" in done.stderr, "vocabularies of different size")
    done = record("--target", folder / "target", "--draft", folder / "draft", "--out", folder / "x.csv",
                  "--temperature", 0)
    expect(done.returncode != 0 and "above 0" in done.stderr, "temperature 0")
    # Bad input leaves an older recording as it was.
    older = (folder / "pair.csv").read_bytes()
    for words in (("--prompt-ids", f"1,{VOCAB}"), ("--prompt-ids", "1,,2"), ("--prompt-ids", ""), ("--prompts", folder / "none.txt"), ("--tokens", 0), ("--sequences", 0)):
        done = record("--target", folder / "target", "--draft", folder / "draft", "--out", folder / "pair.csv", *words)
        expect(done.returncode == 2 and "Traceback" not in done.stderr and (folder / "pair.csv").read_bytes() == older, f"{words}: {done.stderr}")
print("ok")
