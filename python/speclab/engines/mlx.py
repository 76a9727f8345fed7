"""Adapter of Apple's MLX on a CPU, by mlx-lm, with a draft model."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator
from typing import Any

from ._engine import Decoded, Engine, Settings, Way


def version() -> str:
    import mlx.core  # noqa: F401  # needs its library

    return f"mlx {importlib.metadata.version('mlx')}, mlx-lm {importlib.metadata.version('mlx-lm')}"


def load(settings: Settings) -> Any:
    from mlx_lm.sample_utils import make_logits_processors, make_sampler
    from mlx_lm.utils import load_model

    sampler = make_sampler(temp=settings.temperature, top_k=settings.top_k, top_p=0.0 if settings.top_p == 1 else settings.top_p, min_p=settings.min_p)
    options = {**settings.request, "logit_bias": {int(token): bias for token, bias in settings.request.get("logit_bias", {}).items()}}
    return *(load_model(settings.folder / side)[0] for side in ("target", "draft")), {"sampler": sampler, "logits_processors": make_logits_processors(**options)}


def decode(loaded: Any, settings: Settings, numbers: range, tokens: int) -> Iterator[Decoded]:
    import mlx.core
    from mlx_lm.generate import generate_step, speculative_generate_step

    target, draft, options = loaded
    for sequence in numbers:
        prompt = mlx.core.array(settings.prompt_of(sequence))
        mlx.core.random.seed(settings.seed_of(sequence))
        if settings.gamma == 0:
            plain = list(generate_step(prompt, target, max_tokens=tokens, **options))
            yield Decoded([[int(token) for token, _ in plain]], steps=tokens - 1, logp=logp_of(plain, settings))
            continue
        emitted = list(speculative_generate_step(prompt, target, draft, num_draft_tokens=settings.gamma, max_tokens=tokens, **options))
        accepted = sum(bool(from_draft) for _, _, from_draft in emitted)
        # Its first round verifies drafted tokens, too. A last round that is cut short has no token from the target.
        yield Decoded([[int(token) for token, _, _ in emitted]], accepted=accepted, steps=tokens - accepted + bool(emitted[-1][2]),
                      logp=logp_of(emitted, settings))


def logp_of(emitted: list[Any], settings: Settings) -> list[list[float | None]] | None:
    return [[float(row[int(token)]) for token, row, *_ in emitted]] if settings.logp else None


ENGINE = Engine(
    title="MLX",
    ways=(Way("draft", "a token drawn from the draft model"),),
    version=version, load=load, decode=decode,
    installs=(("mlx[cpu]==0.32.4", "mlx-lm==0.32.2"),), size="360 MB", time="a minute", sequences=500, long=10,
    options=("temperature", "top_k", "top_p", "min_p"),
    requests=("repetition_penalty", "presence_penalty", "frequency_penalty", "logit_bias"),
    # mlx_lm/sample_utils.py:50-66, 104-121: the sampler applies the temperature last, and penalties count the last 20 tokens.
    request_law={"order": ["logit_bias", "repetition_penalty", "presence_penalty", "frequency_penalty", "top_p", "min_p", "top_k", "temperature"],
                 "penalty_window": 20, "penalty_prompt": "all"},
    folders=True, first_by_prompt=False)
