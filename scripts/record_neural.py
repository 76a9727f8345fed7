#!/usr/bin/env python3
"""Records the pair of configs/neural: text that its target generates, with log-probabilities under the target and under six
drafters, at temperature 1 and 0, after prompts of three texts. speclab plan recording FILE --column DRAFTER reads them.

usage: record_neural.py [--out FOLDER] [--models FOLDER] [--data FOLDER] [--seed N] [...]
       record_neural.py --check      compares the neural columns of the files with the models, from the recorded tokens

Needs numpy, and the texts for prompts: scripts/setup.sh tasks. Models are computed in f32 from their GGUF files.
"""

import argparse
import csv
import hashlib
import pathlib
import sys

SCRIPTS = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(SCRIPTS))
try:
    import numpy as np
    from pair import bpe, drafters, readme, texts
    from pair.llama_numpy import Llama, log_softmax
except ImportError as missing:
    sys.exit(f"{missing}; pip install numpy")

PROMPT = 32  # tokens at a random place of held-out documents
STRETCH = 600  # characters that contain a prompt
NEURAL = ("draft", "draft-small")
TOLERANCE = 2e-3  # tolerance of a log-probability in a check: f32 sums in another order, and four written digits


def parse():
    root = SCRIPTS.parent
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=pathlib.Path, default=root / "configs/recorded", help="folder of the recordings")
    parser.add_argument("--models", type=pathlib.Path, default=root / "configs/neural", help="folder of the GGUF files")
    parser.add_argument("--data", type=pathlib.Path, default=root / "data", help="folder of the texts")
    parser.add_argument("--work", type=pathlib.Path, default=root / "build/pair", help="folder of what was generated before")
    parser.add_argument("--sequences", type=int, default=48, help="of a recording")
    parser.add_argument("--tokens", type=int, default=96, help="of a sequence")
    parser.add_argument("--ngram-sequences", type=int, default=128, help="of 256 tokens, that n-grams are trained on")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--check", action="store_true")
    return parser.parse_args()


def generated(target, prompts, tokens, random):
    """Texts of the target [B, tokens] after prompts [B, P]: sampled, or without `random` the likeliest tokens."""
    logits, state = target.logits(prompts, target.start(len(prompts)))
    out = np.empty((len(prompts), tokens), np.int64)
    for i in range(tokens):
        row = log_softmax(logits[:, -1])
        if random is None:
            out[:, i] = row.argmax(-1)
        else:
            sums = np.exp(row).cumsum(-1)
            at = random.random(len(row))[:, None] * sums[:, -1:]
            out[:, i] = (sums <= at).sum(-1)
        if i + 1 < tokens:
            logits, state = target.logits(out[:, i:i + 1], state)
    return out


def places(documents, tokenizer, count, random):
    """Prompts [count, PROMPT]: tokens from the start of a word at random places of documents; all places are equally likely."""
    text, out = "\n".join(documents), []
    while len(out) < count:
        begin = text.find(" ", random.integers(len(text)))
        ids = tokenizer.encode(text[begin:begin + STRETCH])
        if len(ids) > PROMPT:  # the last token may be cut
            out.append(ids[:PROMPT])
    return np.array(out)


def prompts_of(options, source, tokenizer, part):
    """The prompts for one seed. Part 0 is for the training of n-grams, from training documents; part 1 for recordings, from
    held-out ones."""
    number = [s.name for s in texts.SOURCES].index(source)
    documents = texts.documents(options.data)[source][part]
    random = np.random.default_rng([options.seed, number, part])
    return places(documents, tokenizer, (options.ngram_sequences, options.sequences)[part], random), random


def written(value):
    """A log-probability with four digits."""
    return "0" if value > -5e-5 else "-inf" if value == -np.inf else f"{value:.4f}"


def ngram_text(options, source, target):
    """The texts on which n-grams are trained [sequences, 256]. They are kept in the work folder, because they take most of
    the time."""
    known = hashlib.sha256((options.models / "target.gguf").read_bytes()).hexdigest()[:8]
    file = options.work / f"text-{known}-{source}-{options.ngram_sequences}-{options.seed}.npy"
    if not file.exists():
        prompts, random = prompts_of(options, source, bpe.of(target.values), 0)
        text = np.concatenate([generated(target, part, 256, random) for part in np.array_split(prompts, -(-len(prompts) // 64))])
        options.work.mkdir(parents=True, exist_ok=True)
        np.save(file, text)
        print(f"{file}: {text.size} tokens", flush=True)
    return np.load(file)


def record(options, source, target, neural):
    tokenizer = bpe.of(target.values)
    training = ngram_text(options, source, target)
    all_drafters = {name: drafters.Neural(model) for name, model in neural.items()}
    for order, name in enumerate(("unigram", "bigram", "trigram"), 1):
        all_drafters[name] = drafters.Ngram(order, target.vocab, list(training))
    all_drafters["lookup"] = drafters.Lookup(target.vocab)
    prompts, random = prompts_of(options, source, tokenizer, 1)
    for greedy in (False, True):
        text = generated(target, prompts, options.tokens, None if greedy else random)
        file = options.out / f"{source}{'_greedy' if greedy else ''}.csv"
        with open(file, "w", encoding="utf-8") as out:
            out.write("sequence,position,token,logp," + ("" if greedy else "entropy,") +
                      ",".join(f"logq.{name}" for name in all_drafters) + "\n")
            for sequence, (prompt, tokens) in enumerate(zip(prompts, text)):
                rows = [drafters.Neural(target).rows(prompt, tokens)]
                rows += [drafter.rows(prompt, tokens) for drafter in all_drafters.values()]
                entropy = -(np.exp(rows[0]) * rows[0]).sum(-1)
                if greedy:
                    # The text must come from generation: rows of a pass over the whole text break ties of rounding
                    # differently.
                    rows = [np.zeros_like(rows[0])] + [drafters.greedy(row) for row in rows[1:]]
                for i, token in enumerate(tokens):
                    logs = [written(row[i, token]) for row in rows]
                    if not greedy:
                        logs.insert(1, f"{entropy[i]:.4f}")
                    out.write(f"{sequence},{i},{token},{','.join(logs)}\n")
        print(f"{file}: {text.size} tokens, {len(text)} sequences", flush=True)


def check(options, source, target, neural):
    """The largest difference between neural columns of the file at temperature 1 and the models."""
    prompts, _ = prompts_of(options, source, bpe.of(target.values), 1)
    with open(options.out / f"{source}.csv", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    worst = 0.0
    for sequence, prompt in enumerate(prompts):
        of_it = [line for line in lines if int(line["sequence"]) == sequence]
        tokens = [int(line["token"]) for line in of_it]
        for column, model in [("logp", target), *((f"logq.{name}", model) for name, model in neural.items())]:
            rows = drafters.Neural(model).rows(prompt, tokens)
            recorded = np.array([float(line[column]) for line in of_it])
            worst = max(worst, np.abs(rows[np.arange(len(tokens)), tokens] - recorded).max())
    print(f"{source}.csv: columns and models differ by at most {worst:.1e}")
    return worst


def main():
    options = parse()
    options.out.mkdir(parents=True, exist_ok=True)
    target = Llama(options.models / "target.gguf")
    neural = {name: Llama(options.models / f"{name}.gguf") for name in NEURAL}
    try:
        if not options.check:
            for source in texts.SOURCES:
                record(options, source.name, target, neural)
            readme.refresh(options.out / "README.md", sorted(options.out.glob("*.csv")))
        elif max(check(options, source.name, target, neural) for source in texts.SOURCES) > TOLERANCE:
            sys.exit(f"columns and models differ by more than {TOLERANCE}")
    except FileNotFoundError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
