"""Records a pair of Hugging Face models, and tests assisted generation. The functions need torch."""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Callable, Sequence
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import context_ids, integer, number
from ._checks import CheckResult, check_samples
from ._progress import Progress, reporter
from ._recorders.hugging_face import ends_of, generated, log_rows, vocabulary
from ._recorders.recording_csv import RecordingCsv
from ._recorders.whole_file import whole_file
from ._recording import MOST_RECORDED, Recording, read_recording
from ._simulate import MOST_SEED

__all__ = ["check_generate", "record"]

#: Largest number of sequences whose distribution is enumerated.
MOST_SEQUENCES = 4096
#: Contexts in one forward pass.
BATCH = 256


def record(
    model: Any,
    assistant: Any,
    prompts: Any,
    path: Union[str, os.PathLike[str], None] = None,
    *,
    sequences: int | None = None,
    tokens: int = 256,
    temperature: float = 1.0,
    seed: int = 1,
    progress: Progress = True,
) -> Recording:
    """Records a pair: the model generates by sampling at a temperature, without top-k and top-p, and each token is recorded
    with its log-probabilities under both models, as by `speclab.record` and scripts/record_hf.py (docs/recordings.md).

    Args:
        model, assistant: causal language models with one vocabulary, on any device.
        prompts: ids: a tensor or list per prompt, or [n, length].
        path: CSV file to write; None: no file. If the recording ends early, `path` stays as it was, and the sequences so far are
            in the file PATH.part.
        sequences: number of sequences; prompts are used in turn. Default: one per prompt.
        tokens: largest length of a sequence; it also ends with the model's end of text.
        temperature: temperature of both models, above 0.
        seed: seed of the sampling.
        progress: as in `speclab.run`; a step is a sequence.

    Raises:
        ValueError: models of different vocabularies, or an argument out of range.

    `speclab.plan(recording=path, c=...)` computes alpha and the expected speedup for every gamma from the recording.
    """
    given = _prompts(prompts, vocabulary(model, assistant))
    count = len(given) if sequences is None else integer(sequences, "sequences", 1, MOST_RECORDED)
    tokens = integer(tokens, "tokens", 1, MOST_RECORDED)
    temperature = number(temperature, "temperature", 0, 1e6, open_ends=True)
    seed = integer(seed, "seed", 0, MOST_SEED)
    made = generated(model, assistant, given, sequences=count, tokens=tokens, temperature=temperature, seed=seed)
    with tempfile.TemporaryDirectory() as folder, reporter(progress, "record") as report:
        file = os.path.join(folder, "recording.csv") if path is None else os.fspath(path)
        with whole_file(file, keep=True) as out:
            recording = RecordingCsv(out, entropy=True)
            for sequence in made:
                recording.add(*sequence)
                if report is not None:
                    report(recording.sequences, count)
        return read_recording(file)


def check_generate(
    model: Any,
    assistant: Any,
    prompt: Sequence[int] = (),
    *,
    tokens: int = 3,
    temperature: float = 1.0,
    power: float = 0.99,
    total_variation: float = 0.1,
    level: float = 1e-6,
    samples: int | None = None,
    seed: int = 1,
    progress: Progress = True,
    **options: Any,
) -> CheckResult:
    """Tests whether `model.generate` with an assistant has the model's distribution.

    It calls `generate` with `do_sample=True`, without top-k and top-p, once per sample: by default thousands of times, which
    takes minutes (a larger `total_variation` needs fewer samples). Null hypothesis: the new tokens have the joint distribution
    that the model's own forward passes give at the temperature. If more than 4096 sequences of that length are possible, tokens
    are replaced by classes whose joint distribution is uniform under the null hypothesis: at each position tokens are ordered by
    the ratio of the assistant's probability to the model's and divided into classes of equal probability under the model; a
    token on a border is assigned at random. Drafted tokens that are emitted too often are then in the last classes.

    Args:
        model, assistant: causal language models with one vocabulary; assistant None: sampling without an assistant.
        prompt: ids; default: the model's beginning of text.
        tokens: new tokens per sample, 1 to 16.
        temperature: above 0.
        power, total_variation, level, samples: as in `check_sampler`.
        seed: seed of torch, whose state is restored afterwards.
        progress: as in `speclab.run`; a step is a sample.
        options: options of `generate`, such as num_assistant_tokens=5 or custom_generate=...; the test finds options that
            change the distribution.

    Raises:
        ValueError: a bad argument, which is named.
    """
    import torch

    vocab = vocabulary(model, model if assistant is None else assistant)
    given = _prompts([context_ids(prompt, "prompt", vocab) or _beginning(model)], vocab)[0]
    tokens = integer(tokens, "tokens", 1, 16)
    temperature = number(temperature, "temperature", 0, 1e6, open_ends=True)
    level = number(level, "level", 0, 1, open_ends=True)
    power = number(power, "power", level, 1, open_ends=True)
    distance = number(total_variation, "total_variation", 0, 1, open_ends=True)
    seed = integer(seed, "seed", 0, MOST_SEED)
    generator = np.random.default_rng(seed)
    by_sequence = vocab**tokens <= MOST_SEQUENCES
    classes = max(2, int(MOST_SEQUENCES ** (1 / tokens) / 2))
    law = _law(model, given, vocab, tokens, temperature) if by_sequence else None
    cells = len(law) if law is not None else classes**tokens
    if samples is None:
        samples = int(_core.samples_for(cells, tokens, distance, level, power))
    samples = integer(samples, "samples", 1, 10**7)
    ends = ends_of(model)
    sampling = {"do_sample": True, "temperature": temperature, "top_k": 0, "top_p": 1.0, "max_new_tokens": tokens, **options}
    if assistant is not None:
        sampling["assistant_model"] = assistant
    ids = torch.tensor([given], device=model.device)
    drawn = np.empty((samples, tokens), np.int32)
    steps = samples if law is not None else 2 * samples  # each sequence is drawn, then classified
    with torch.random.fork_rng(), torch.no_grad(), reporter(progress, "check_generate") as report:
        torch.manual_seed(seed)
        for i in range(samples):
            made = model.generate(ids, attention_mask=torch.ones_like(ids), **sampling)[0, len(given) :].tolist()
            if not 1 <= len(made) <= tokens or (len(made) < tokens and made[-1] not in ends):
                raise ValueError(f"options: generate returned {len(made)} new tokens; expected {tokens}, or fewer up to an end of text")
            drawn[i] = made + made[-1:] * (tokens - len(made))
            if report is not None:
                report(i + 1, steps)
        if law is None:
            pair = model, model if assistant is None else assistant
            drawn = _classes(pair, given, drawn, classes, temperature, ends, generator, report)
    of = getattr(assistant, "name_or_path", "") or type(assistant).__name__
    about = f"generate of {type(model).__name__} with assistant {of}, {tokens} new tokens"
    if law is None:
        law = {tuple(cell): classes**-tokens for cell in itertools.product(range(classes), repeat=tokens)}
        about += f" in {classes} classes"
    return check_samples(drawn, law, level, power, about)


def _prompts(prompts: Any, vocab: int) -> list[list[int]]:
    """The prompts as lists of token ids; at least one."""
    given = [context_ids(prompt, "prompts", vocab) for prompt in prompts]
    if not given or not all(given):
        raise ValueError("prompts: expected one or more, each with one or more tokens")
    return given


def _beginning(model: Any) -> list[int]:
    token = model.config.get_text_config().bos_token_id
    if token is None:
        raise ValueError("prompt: missing, and the model has no beginning of text")
    return [int(token)]


def _law(model: Any, prompt: list[int], vocab: int, tokens: int, temperature: float) -> dict[tuple[int, ...], float]:
    """Probability of each sequence of new tokens; an end of text is repeated up to the full length."""
    import torch

    ends = ends_of(model)
    law: dict[tuple[int, ...], float] = {(): 1.0}
    with torch.no_grad():
        for _ in range(tokens):
            longer = {prefix + prefix[-1:]: p for prefix, p in law.items() if prefix and prefix[-1] in ends}
            open_ends = [prefix for prefix in law if not prefix or prefix[-1] not in ends]
            for first in range(0, len(open_ends), BATCH):
                batch = open_ends[first : first + BATCH]
                rows, _ = log_rows(model, [[*prompt, *prefix] for prefix in batch], temperature)
                for prefix, row in zip(batch, rows[:, -1].double().exp().cpu().numpy()):
                    for token, p in enumerate(row / row.sum()):
                        if p > 0:
                            longer[(*prefix, token)] = law[prefix] * float(p)
            law = longer
    return law


def _classes(
    pair: tuple[Any, Any], prompt: list[int], drawn: npt.NDArray[np.int32], classes: int, temperature: float, ends: list[int],
    generator: np.random.Generator, report: Callable[[int, int], Any] | None
) -> npt.NDArray[np.int32]:
    """Each token's class; classes are uniform and independent if tokens are drawn from the model (Rosenblatt 1952)."""
    import torch

    out = generator.integers(0, classes, drawn.shape).astype(np.int32)
    samples, tokens = drawn.shape
    open_until = np.array([next((i + 1 for i, token in enumerate(row) if token in ends), tokens) for row in drawn.tolist()])
    for first in range(0, samples, BATCH):
        ids = [prompt + row for row in drawn[first : first + BATCH, :-1].tolist()]
        with torch.no_grad():
            target, draft = (log_rows(model, ids, temperature)[0][:, len(prompt) - 1 :].double().cpu() for model in pair)
        order = torch.argsort(draft - target, dim=-1, stable=True)
        probabilities = target.exp() / target.exp().sum(-1, keepdim=True)
        below = torch.zeros_like(probabilities).scatter(-1, order, torch.cumsum(probabilities.gather(-1, order), -1)) - probabilities
        at = torch.tensor(drawn[first : first + BATCH], dtype=torch.int64)[..., None]
        low, mass = below.gather(-1, at)[..., 0].numpy(), probabilities.gather(-1, at)[..., 0].numpy()
        uniform = low + generator.random(low.shape) * mass
        found = np.clip((uniform * classes).astype(np.int32), 0, classes - 1)
        still = np.arange(tokens)[None, :] < open_until[first : first + BATCH, None]
        out[first : first + BATCH][still] = found[still]
        if report is not None:
            report(samples + min(samples, first + BATCH), 2 * samples)
    return out
