"""Adapter of llama.cpp: its server in this process, by xllamacpp."""

from __future__ import annotations

import concurrent.futures
import importlib.metadata
from collections.abc import Iterator
from typing import Any

from ._engine import NO_ID, Decoded, Engine, Settings, Way

#: Length of an n-gram that drafts, in ids; the defaults (12 and more) suit code.
NGRAM = 2


def version() -> str:
    return f"xllamacpp {importlib.metadata.version('xllamacpp')}"


def load(settings: Settings) -> Any:
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(settings.folder / "target.gguf")
    parameters.n_ctx = settings.slots * (settings.context + 32)
    parameters.n_parallel = settings.slots
    parameters.cpuparams.n_threads = 1
    parameters.verbosity = 0
    parameters.cache_prompt = False
    if settings.gamma > 0:
        speculate(parameters.speculative, settings, xllamacpp.common_speculative_type)
    return xllamacpp.Server(parameters)


def speculate(speculative: Any, settings: Settings, kinds: Any) -> None:
    draft = speculative.draft
    draft.n_max, draft.p_min = settings.gamma, 0.0
    if settings.way in ("compared", "probabilistic"):
        speculative.types = [kinds.COMMON_SPECULATIVE_TYPE_DRAFT_SIMPLE]
        draft.mparams.path = str(settings.folder / "draft.gguf")
        draft.probabilistic = settings.way == "probabilistic"
        return
    speculative.types = [getattr(kinds, f"COMMON_SPECULATIVE_TYPE_{settings.way.upper()}")]
    if settings.way == "ngram_mod":
        speculative.ngram_mod.n_match, speculative.ngram_mod.n_max, speculative.ngram_mod.n_min = NGRAM, settings.gamma, 1
    elif settings.way != "ngram_cache":  # the cache has its own sizes
        ngram = getattr(speculative, settings.way)
        ngram.size_n, ngram.size_m, ngram.min_hits = NGRAM, settings.gamma, 1


def of_request(request: dict[str, Any]) -> dict[str, Any]:
    """The server's fields for a request's options. A bias of false bans an id."""
    fields = {name.replace("repetition", "repeat"): value for name, value in request.items() if name.endswith("_penalty")}
    biases = [[int(token), bias] for token, bias in request.get("logit_bias", {}).items()] + [[token, False] for token in request.get("banned", [])]
    return {**fields, "logit_bias": biases} if biases else fields


def decode(server: Any, settings: Settings, numbers: range, tokens: int) -> Iterator[Decoded]:
    def one(sequence: int) -> Decoded:
        answer = server.handle_completions({
            "prompt": settings.prompt_of(sequence), "n_predict": tokens, "temperature": settings.temperature, "top_k": settings.top_k,
            "top_p": settings.top_p, "min_p": settings.min_p, "samplers": ["penalties", "top_k", "top_p", "min_p", "temperature"],
            **of_request(settings.request), "seed": settings.seed_of(sequence), "ignore_eos": not settings.ends, "cache_prompt": False,
            **({"logprobs": 1} if settings.logp or settings.ends else {})})
        counts = answer["timings"]
        logp = None
        if settings.logp or settings.ends:
            said = answer["choices"][0]["logprobs"]["content"]
            ids = [one["id"] for one in said]
            # For verified tokens the server returns 0 and no likely tokens. The others were decoded alone, so they do not show
            # speculation.
            logp = [[None if settings.gamma else one["logprob"] for one in said]]
        # For tables ids are letters, and the end of text has no letter; for other models the server returns no ids.
        elif settings.ids:
            ids = [ord(letter) - ord("a") + 1 for letter in answer["choices"][0]["text"]]
        else:
            ids = [NO_ID] * answer["usage"]["completion_tokens"]
        drafted, accepted = counts.get("draft_n", 0), counts.get("draft_n_accepted", 0)
        # It never drafts beyond the last token, so each token that was not drafted is a run of the target. It does draft beyond an end
        # of text.
        return Decoded([ids], drafted, accepted, None if settings.ends else tokens - 1 - accepted, logp)

    with concurrent.futures.ThreadPoolExecutor(settings.slots) as threads:
        yield from threads.map(one, numbers)


ENGINE = Engine(
    title="llama.cpp",
    ways=(Way("compared", "the draft's likeliest token; the default", draft_options=("temperature",)),
          Way("probabilistic", "a token drawn from the draft's ten likeliest; draft.probabilistic", draft_options=("temperature",), draft_top_k=10),
          Way("ngram_simple", "what followed the last two ids before", lookup=True),
          Way("ngram_map_k", "the same, from a map of n-grams", lookup=True),
          Way("ngram_map_k4v", "the same, of up to four continuations", lookup=True),
          Way("ngram_mod", "the same, from a hash of all sequences of the server", lookup=True),
          Way("ngram_cache", "n-gram statistics of the text", lookup=True)),
    version=version, load=load, decode=decode,
    installs=(("xllamacpp==2026.10.11549",),), size="130 MB", time="5 seconds",
    sequences=10_000, slots=4, options=("temperature", "top_k", "top_p", "min_p"), ends=True,
    requests=("repetition_penalty", "frequency_penalty", "presence_penalty", "logit_bias", "banned"), request_law={"order": "llama.cpp"})
