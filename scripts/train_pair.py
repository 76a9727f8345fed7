#!/usr/bin/env python3
"""Trains a neural target and two drafts from texts of data/ and writes them as GGUF files, with the log of the training.

It makes a byte-level BPE tokenizer, a target of the Llama architecture trained on the texts, text that the target generates, and two
drafts distilled from the target on that text and on the texts. It is seeded: the same machine gives the same files again. An
interrupted run continues from its last checkpoint. With --target the target is a GGUF file of the Llama architecture, and there is
one draft, with its tokenizer.

usage: train_pair.py [--target FILE.gguf] [--out FOLDER] [--work FOLDER] [--data FOLDER] [--seed N] [...]

Needs jax, numpy and gguf from PyPI: pip install jax==0.10.2 gguf==0.19.0; and the texts: scripts/setup.sh tasks.
"""

import argparse
import csv
import functools
import json
import os
import pathlib
import sys
import time

SCRIPTS = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(SCRIPTS))


def parse():
    root = SCRIPTS.parent
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=pathlib.Path, default=root / "configs/neural", help="folder of the GGUF files")
    parser.add_argument("--work", type=pathlib.Path, default=root / "build/pair", help="folder of checkpoints")
    parser.add_argument("--data", type=pathlib.Path, default=root / "data", help="folder of the texts")
    parser.add_argument("--target", type=pathlib.Path, metavar="FILE.gguf",
                        help="distil a draft of this model, instead of training one; with --out and --work of its own")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--window", type=int, default=256, help="tokens of a text; a step has eight of them")
    parser.add_argument("--target-steps", type=int, default=400)
    parser.add_argument("--batches", type=int, default=6, help="number of batches of 96 texts that the target generates")
    parser.add_argument("--held-texts", type=int, default=96, help="number of texts of the target on which drafts are evaluated")
    parser.add_argument("--draft-steps", type=int, default=300)
    parser.add_argument("--tv-share", type=float, default=0.4,
                        help="the last share of a draft's steps minimises TV, the others the forward KL divergence")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    for name in ("out", "work"):
        if options.target and getattr(options, name) == parser.get_default(name):
            parser.error(f"--target needs --{name}: {parser.get_default(name)} is that of the pair trained from nothing")
    for name, least in (("window", 2 * PROMPT), ("batches", 1), ("held_texts", 3), ("draft_steps", 1), ("target_steps", 1)):
        if getattr(options, name) < least:
            parser.error(f"--{name.replace('_', '-')} {getattr(options, name)}: expected {least} or more")
    return options


PROMPT = 16  # tokens at the beginning of a generated text, which are a document's first
OPTIONS = parse()
if OPTIONS.threads == 1:  # read by jax when it is imported
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

try:
    import jax
    import jax.numpy as jnp
    import numpy as np
    from of_package.whole_file import one_line, whole_file
    from pair import bpe, gguf_export, gguf_import, llama_jax, readme, texts
except ImportError as missing:
    sys.exit(f"{missing}; pip install jax==0.10.2 gguf==0.19.0")

VOCABULARY = 2048
SHAPES = {
    "target": llama_jax.Shape(VOCABULARY, width=256, inner=704, layers=4, heads=8),
    "draft": llama_jax.Shape(VOCABULARY, width=96, inner=256, layers=2, heads=3),
    "draft-small": llama_jax.Shape(VOCABULARY, width=32, inner=96, layers=3, heads=1),
}
OF_GIVEN = {"width": 128, "inner": 352, "layers": 2, "heads": 4}  # the draft of a given target
WINDOW, ROWS = OPTIONS.window, 8  # tokens of a text; texts in a step
LONG_SHARE = 0.15  # last share of the target's steps, with windows twice as long, so that it learns these positions
EVERY = 50  # steps between lines of the log, and between checkpoints


def saved(path, arrays):
    with whole_file(path, "wb") as file:
        np.savez(file, **arrays)


class Log:
    """The lines of log.csv; those after a checkpoint are dropped when it is loaded."""

    FIELDS = ["model", "step", "tokens", "minimised", "loss", *(f"nats_{s.name}" for s in texts.SOURCES),
              *(f"alpha_{s.name}" for s in texts.SOURCES), "processor_s"]

    def __init__(self, path):
        self.path = path
        self.lines = list(csv.DictReader(open(path, encoding="utf-8"))) if path.exists() else []

    def back_to(self, model, step):
        self.lines = [line for line in self.lines if line["model"] != model or int(line["step"]) <= step]

    def add(self, **line):
        print("  ".join(f"{k} {v}" for k, v in line.items() if v != ""), flush=True)
        self.lines.append(line)
        with open(self.path, "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, self.FIELDS, restval="", lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.lines)


def tokenized_as(tokenizer, options):
    """Does the same as `tokenized` with a given target's tokenizer. Holds out the same documents as configs/compare_smollm2.json."""
    file, arrays = options.work / "tokens.npz", {}
    if file.exists():
        return dict(np.load(file))
    for source in texts.SOURCES:
        for part, documents in zip(("train", "held"), texts.tenths(options.data, source, tokenizer.encode)):
            documents = [document for document in documents if len(document) >= PROMPT]
            lengths = [len(document) for document in documents]
            arrays[f"{source.name}.{part}"] = np.concatenate(documents).astype(np.int32)
            arrays[f"{source.name}.{part}.starts"] = np.cumsum([0, *lengths[:-1]])
            print(f"{source.name}, {part}: {len(documents)} documents, {sum(lengths)} tokens", flush=True)
    saved(file, arrays)
    return arrays


def tokenized(options):
    """The tokenizer, and {source: {"train" or "held": token ids, "train_starts" or "held_starts": where documents begin}}."""
    file, merges_file = options.work / "tokens.npz", options.work / "merges.json"
    if file.exists():
        arrays = np.load(file)
        tokenizer = bpe.Tokenizer(json.loads(merges_file.read_text()))
    else:
        found = texts.documents(options.data)
        # Each source has the same weight in the vocabulary: as many characters as the shortest source.
        least = min(sum(map(len, train)) for train, _ in found.values())
        merges = bpe.train("\n".join("\n".join(train)[:least] for train, _ in found.values()), VOCABULARY)
        tokenizer = bpe.Tokenizer(merges)
        merges_file.write_text(json.dumps(merges))
        arrays = {}
        for name, parts in found.items():
            for part, documents in zip(("train", "held"), parts):
                ids, starts = [], []
                for document in documents:
                    starts.append(len(ids))
                    ids += [0] + tokenizer.encode(document)
                arrays[f"{name}.{part}"] = np.array(ids + [0], np.int32)
                arrays[f"{name}.{part}.starts"] = np.array(starts, np.int64)
                print(f"{name}, {part}: {len(documents)} documents, {sum(map(len, documents))} characters, {len(ids)} tokens")
        saved(file, arrays)
    return tokenizer, dict(arrays)


def windows(arrays, random, rows, length, step):
    """Windows [rows, length] of the texts. Sources alternate from row to row and from step to step."""
    out = np.empty((rows, length), np.int32)
    for row in range(rows):
        ids = arrays[f"{texts.SOURCES[(row + step) % len(texts.SOURCES)].name}.train"]
        begin = random.integers(len(ids) - length)
        out[row] = ids[begin:begin + length]
    return out


def beginnings(arrays, random, rows, part):
    """The first PROMPT tokens of documents [rows, PROMPT]. Sources alternate."""
    out = np.empty((rows, PROMPT), np.int32)
    for row in range(rows):
        name = texts.SOURCES[row % len(texts.SOURCES)].name
        begin = random.choice(arrays[f"{name}.{part}.starts"])
        out[row] = arrays[f"{name}.{part}"][begin:begin + PROMPT]
    return out


def rate(step, steps):
    """The learning rate: rises over 12 steps, and falls linearly to 0 over the last 60%."""
    return min(1, (step + 1) / 12, (steps - step) / (0.6 * steps))


class Training:
    """Parameters and optimizer of one model, with a checkpoint."""

    def __init__(self, options, name, shape, embedding=None):
        self.name, self.shape, self.file = name, shape, options.work / f"{name}.npz"
        self.parameters = llama_jax.initial(self.shape, options.seed)
        if embedding is not None:
            self.parameters["embed"] = embedding
        self.state = llama_jax.optimizer_state(self.parameters)
        self.step, self.seconds = 0, 0.0
        if self.file.exists():
            arrays = np.load(self.file)
            self.step, self.seconds = int(arrays["step"]), float(arrays["seconds"])
            self.parameters = {n: jnp.asarray(arrays["p/" + n]) for n in self.parameters}
            self.state = {part: {n: jnp.asarray(arrays[f"{part}/{n}"]) for n in values} for part, values in self.state.items()}
        self.began = time.process_time() - self.seconds

    def spent(self):
        return time.process_time() - self.began

    def save(self):
        arrays = {"step": self.step, "seconds": self.spent()}
        arrays |= {"p/" + n: np.asarray(v) for n, v in self.parameters.items()}
        for part, values in self.state.items():
            arrays |= {f"{part}/{n}": np.asarray(v) for n, v in values.items()}
        saved(self.file, arrays)

    def take(self, advance, batch, steps):
        self.parameters, self.state, loss = advance(self.parameters, self.state, batch, self.step + 1.0,
                                                    rate(self.step, steps))
        self.step += 1
        return float(loss)


@functools.partial(jax.jit, static_argnames="shape")
def nats(p, tokens, shape):
    return llama_jax.cross_entropy(llama_jax.logits(p, tokens[:, :-1], shape), tokens[:, 1:])


def mean_over(of, texts_):
    """The mean of `of` over texts [N, T], computed on a few at a time to save memory."""
    parts = [texts_[i:i + ROWS] for i in range(0, len(texts_), ROWS)]
    return round(float(np.average([float(of(part)) for part in parts], weights=[len(part) for part in parts])), 4)


def held_out_nats(training, arrays):
    """Nats per token of held-out documents, by source: the first 48 windows of each."""
    values = {}
    for source in texts.SOURCES:
        ids = arrays[f"{source.name}.held"]
        rows = np.stack([ids[i * WINDOW:i * WINDOW + WINDOW + 1] for i in range(48)])
        values[f"nats_{source.name}"] = mean_over(lambda part: nats(training.parameters, part, training.shape), rows)
    return values


def train_target(options, arrays, log):
    training = Training(options, "target", SHAPES["target"])
    steps, shape = options.target_steps, training.shape
    log.back_to("target", training.step)

    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def advance(p, state, tokens, step, share):
        loss, gradient = jax.value_and_grad(lambda p: nats(p, tokens, shape))(p)
        return *llama_jax.updated(p, gradient, state, step, share), loss

    losses = []
    while training.step < steps:
        random = np.random.default_rng([options.seed, 1, training.step])
        longer = 2 if training.step >= (1 - LONG_SHARE) * steps else 1
        batch = windows(arrays, random, ROWS // longer, WINDOW * longer + 1, training.step)
        losses.append(training.take(advance, batch, steps))
        if training.step % EVERY == 0 or training.step == steps:
            training.save()
            log.add(model="target", step=training.step, tokens=training.step * ROWS * WINDOW, minimised="nats",
                    loss=round(float(np.mean(losses)), 4), **held_out_nats(training, arrays),
                    processor_s=round(training.spent()))
            losses = []
    return training


def generate(options, arrays, target):
    """Texts of the target at temperature 1 [N, WINDOW + 1], which begin as documents do; and some for evaluation."""
    parts = []
    draw = jax.jit(functools.partial(llama_jax.sample, shape=target.shape, length=WINDOW + 1))
    for batch in range(options.batches + 1):
        file = options.work / f"generated{batch}.npz"
        if not file.exists():
            part = "train" if batch else "held"  # batch 0 evaluates: it begins as documents do that nobody trained on
            prompts = beginnings(arrays, np.random.default_rng([options.seed, 2, batch]), 96 if batch else options.held_texts, part)
            saved(file, {"tokens": np.asarray(draw(target.parameters, prompts, jax.random.key(options.seed * 1000 + batch)))})
            print(f"generated batch {batch} of {options.batches}", flush=True)
        parts.append(np.load(file)["tokens"])
    return np.concatenate(parts[1:]), parts[0]


def write_generated(file, tokens):
    """Writes the texts on which drafts were distilled, without prompts, for n-grams of the same texts (tokenization "ids")."""
    with open(file, "w", encoding="utf-8") as out:
        out.write("sequence,position,token\n")
        out.writelines(f"{i},{j},{token}\n" for i, text in enumerate(tokens) for j, token in enumerate(text[PROMPT:]))


def log_rows(p, tokens, shape):
    return jax.nn.log_softmax(llama_jax.logits(p, tokens, shape))


def kl(teacher, rows):
    return (jnp.exp(teacher) * (teacher - rows)).sum(-1).mean()


def tv(teacher, rows):
    """1 - α of these contexts: the expectation of Σ min(p, q) is the acceptance rate (Leviathan et al. 2023, Cor. 3.6)."""
    return 1 - jnp.minimum(jnp.exp(teacher), jnp.exp(rows)).sum(-1).mean()


def drafts_of(options, target):
    """The drafts. A given target's embedding initialises that of its draft, because in a short training most tokens are rare."""
    if not options.target:
        return [Training(options, name, shape) for name, shape in SHAPES.items() if name != "target"]
    embedding = gguf_import.projected(target.parameters["embed"], target.parameters["norm"], OF_GIVEN["width"])
    return [Training(options, "draft", llama_jax.Shape(target.shape.vocab, **OF_GIVEN), embedding)]


def distil(options, arrays, target, generated, held, log):
    """Distils drafts on half generated and half given text, from the target's complete rows. The last loss is TV, since α is 1 - TV."""
    steps = options.draft_steps
    first_tv = round(steps * (1 - options.tv_share))
    teach = jax.jit(functools.partial(log_rows, shape=target.shape))
    trainings, advances = drafts_of(options, target), {}
    for training in trainings:
        log.back_to(training.name, training.step)
        for minimised, loss_of in (("kl", kl), ("tv", tv)):

            def advance(p, state, batch, step, share, shape=training.shape, loss_of=loss_of):
                tokens, teacher = batch
                loss, gradient = jax.value_and_grad(lambda p: loss_of(teacher, log_rows(p, tokens, shape)))(p)
                return *llama_jax.updated(p, gradient, state, step, share), loss

            advances[training.name, minimised] = jax.jit(advance, donate_argnums=(0, 1))

    def alphas(training):
        """α on texts of the target, after their prompts, by source."""

        def alpha(tokens):
            rows = jax.jit(log_rows, static_argnums=2)(training.parameters, tokens, training.shape)
            return 1 - tv(teach(target.parameters, tokens)[:, PROMPT - 1:], rows[:, PROMPT - 1:])

        return {f"alpha_{source.name}": mean_over(alpha, held[i::len(texts.SOURCES), :-1]) for i, source in enumerate(texts.SOURCES)}

    losses = {training.name: [] for training in trainings}
    while (step := min(training.step for training in trainings)) < steps:
        random = np.random.default_rng([options.seed, 3, step])
        chosen = generated[random.integers(len(generated), size=ROWS // 2), :-1]
        tokens = np.concatenate([chosen, windows(arrays, random, ROWS // 2, WINDOW, step)])
        teacher = teach(target.parameters, tokens)
        minimised = "kl" if step < first_tv else "tv"
        for training in trainings:
            if training.step > step:
                continue
            losses[training.name].append(training.take(advances[training.name, minimised], (tokens, teacher), steps))
            if training.step % EVERY == 0 or training.step in (first_tv, steps):
                training.save()
                log.add(model=training.name, step=training.step, tokens=training.step * ROWS * WINDOW, minimised=minimised,
                        loss=round(float(np.mean(losses[training.name])), 4), **held_out_nats(training, arrays),
                        **alphas(training), processor_s=round(training.spent()))
                losses[training.name] = []
    return trainings


def begin(options):
    """Makes the folders. Refuses checkpoints of a run with other options, which would mix both runs."""
    options.work.mkdir(parents=True, exist_ok=True)
    file = options.work / "options.json"
    mine = {name: str(value) for name, value in vars(options).items() if name not in ("out", "work", "threads")}
    before = json.loads(file.read_text()) if file.exists() else mine
    changed = [name for name, value in mine.items() if before.get(name) != value]
    if changed:
        raise ValueError(f"{options.work} was begun with another --{changed[0].replace('_', '-')}, {before.get(changed[0])}; "
                         "give another --work, or remove that folder")
    file.write_text(json.dumps(mine))
    options.out.mkdir(parents=True, exist_ok=True)


@one_line()
def main():
    options = OPTIONS
    given = gguf_import.GivenTarget(options.target) if options.target else None
    begin(options)
    if given:
        tokenizer, arrays = given.fields, tokenized_as(given.tokenizer, options)
    else:
        tokenizer, arrays = tokenized(options)
    log = Log(options.out / "log.csv")
    target = given or train_target(options, arrays, log)
    generated, held = generate(options, arrays, target)
    trained = distil(options, arrays, target, generated, held, log)
    if given:
        write_generated(options.out / "generated.csv", generated)
    else:
        trained = [target, *trained]
    for training in trained:
        gguf_export.write(options.out / f"{training.name}.gguf", training.name, training.parameters, training.shape,
                          tokenizer, context=2 * WINDOW)
    readme.refresh(options.out / "README.md", [*(options.out / f"{training.name}.gguf" for training in trained), log.path])


if __name__ == "__main__":
    main()
