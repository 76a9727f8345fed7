"""Adapter of OpenVINO GenAI: its ContinuousBatchingPipeline, in 32 bits, so that rounding does not affect emitted tokens."""

from __future__ import annotations

import pathlib
import shutil
import tempfile
from collections.abc import Iterator
from typing import Any

from ._engine import Decoded, Engine, Settings, Way

EXACT = {"INFERENCE_PRECISION_HINT": "f32", "KV_CACHE_PRECISION": "f32", "DYNAMIC_QUANTIZATION_GROUP_SIZE": "0"}


def version() -> str:
    import openvino_genai

    return f"openvino_genai {openvino_genai.__version__}"


def saved(folder: pathlib.Path, side: str) -> pathlib.Path:
    """A GGUF file as an OpenVINO model, which GenAI saves beside the file that it reads. It is made once for each file, because that
    takes seconds."""
    import openvino_genai

    file = folder / f"{side}.gguf"
    made = folder / "openvino" / f"{side}-{file.stat().st_size}-{file.stat().st_mtime_ns}"
    if not made.is_dir():
        made.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=made.parent) as name:
            part = pathlib.Path(name, side)
            part.mkdir()
            openvino_genai.LLMPipeline(shutil.copy(file, part / "model.gguf"), "CPU", enable_save_ov_model=True)
            part.rename(made)
    return made


def load(settings: Settings) -> Any:
    import openvino_genai

    scheduler = openvino_genai.SchedulerConfig()
    scheduler.cache_size = 1
    properties: dict[str, Any] = dict(EXACT)
    if settings.gamma and settings.way == "lookup":
        properties["prompt_lookup"] = True
    elif settings.gamma:
        properties["draft_model"] = openvino_genai.draft_model(saved(settings.folder, "draft"), "CPU", **EXACT)
    return openvino_genai.ContinuousBatchingPipeline(saved(settings.folder, "target"), scheduler, "CPU", properties)


def configured(settings: Settings, sequence: int, tokens: int) -> Any:
    import openvino_genai

    config = openvino_genai.GenerationConfig()
    config.max_new_tokens = tokens
    config.ignore_eos = not settings.ends
    if settings.ends:
        config.eos_token_id, config.stop_token_ids = 0, {0}
    config.rng_seed = settings.seed_of(sequence)
    config.logprobs = int(settings.logp)
    config.do_sample = settings.temperature > 0
    if config.do_sample:
        config.temperature = settings.temperature
        config.top_k = settings.top_k or 2**31
        config.top_p = settings.top_p
        if settings.min_p:
            config.min_p = settings.min_p
    for name in settings.request.keys() - {"min_tokens"}:
        setattr(config, name, settings.request[name])
    config.min_new_tokens = settings.request.get("min_tokens", 0)
    if settings.gamma:
        config.num_assistant_tokens = settings.gamma
        if settings.way == "lookup":
            config.max_ngram_size = 2
    return config


def decode(pipeline: Any, settings: Settings, numbers: range, tokens: int) -> Iterator[Decoded]:
    import numpy
    import openvino

    for first in range(numbers.start, numbers.stop, settings.slots):
        batch = range(first, min(first + settings.slots, numbers.stop))
        prompts = [openvino.Tensor(numpy.array([settings.prompt_of(sequence)], dtype=numpy.int64)) for sequence in batch]
        handles = [pipeline.add_request(sequence, prompt, configured(settings, sequence, tokens)) for sequence, prompt in zip(batch, prompts)]
        texts: list[list[int]] = [[] for _ in batch]
        logp: list[list[float | None]] = [[] for _ in batch]
        steps = [-1] * len(batch)  # excludes the prompt's step
        while pipeline.has_non_finished_requests():
            pipeline.step()
            for at, handle in enumerate(handles):
                emitted = False
                while handle.can_read():
                    for output in handle.read().values():
                        texts[at] += output.generated_ids
                        logp[at] += map(float, output.generated_log_probs)
                        emitted = True
                steps[at] += emitted
        for text, runs, said in zip(texts, steps, logp):
            yield Decoded([text], steps=runs, logp=[said] if settings.logp else None)


ENGINE = Engine(
    title="OpenVINO GenAI",
    ways=(Way("draft", "a token drawn from the draft model"), Way("lookup", "what followed the last ids before", lookup=True)),
    version=version, load=load, decode=decode,
    installs=(("openvino-genai==2026.4.1.0", "numpy"),), size="300 MB", time="10 seconds", sequences=100_000, slots=128,
    options=("temperature", "top_k", "top_p", "min_p"), ends=True,
    requests=("repetition_penalty", "frequency_penalty", "presence_penalty", "min_tokens"),
    # src/cpp/src/sampling/logit_processor.hpp:44-101: only the repetition penalty counts the prompt, and min_p does not normalise for top_p.
    request_law={"order": ["min_tokens", "repetition_penalty", "presence_penalty", "frequency_penalty", "top_k", "temperature", "min_p & top_p"],
                 "penalty_prompt": "repetition"})
