"""Adapter of Hugging Face transformers: assisted generation and prompt lookup, in 64 bits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ._engine import Decoded, Engine, Settings, Way


def version() -> str:
    import torch
    import transformers

    return f"transformers {transformers.__version__}, torch {torch.__version__}"


class Counted:
    """A model that counts its runs."""

    def __init__(self, model: Any) -> None:
        self.model, self.runs, self.forward = model, 0, model.forward
        model.forward = self.run

    def run(self, *words: Any, **named: Any) -> Any:
        self.runs += 1
        return self.forward(*words, **named)


def load(settings: Settings) -> Any:
    import torch
    from transformers import AutoModelForCausalLM

    torch.set_num_threads(1)
    target, draft = (AutoModelForCausalLM.from_pretrained(settings.folder / side, dtype=torch.float64).eval() for side in ("target", "draft"))
    options: dict[str, Any] = {"do_sample": settings.temperature > 0, "pad_token_id": 0}
    if settings.temperature > 0:
        options |= {"temperature": settings.temperature, "top_k": settings.top_k, "top_p": settings.top_p}
        if settings.min_p:
            options["min_p"] = settings.min_p
    request = settings.request
    if "repetition_penalty" in request:
        options["repetition_penalty"] = request["repetition_penalty"]
    if "logit_bias" in request:
        options["sequence_bias"] = [[[int(token)], bias] for token, bias in request["logit_bias"].items()]
    if "banned" in request:
        options["bad_words_ids"] = [[token] for token in request["banned"]]
    if "min_tokens" in request:
        options["min_new_tokens"] = request["min_tokens"]
    if settings.gamma and settings.way == "lookup":
        options |= {"prompt_lookup_num_tokens": settings.gamma, "max_matching_ngram_size": 2}
    elif settings.gamma:
        draft.generation_config.num_assistant_tokens = settings.gamma
        draft.generation_config.num_assistant_tokens_schedule = "constant"
        draft.generation_config.assistant_confidence_threshold = 0
        options["assistant_model"] = draft
    return Counted(target), options


def decode(loaded: Any, settings: Settings, numbers: range, tokens: int) -> Iterator[Decoded]:
    import torch

    target, options = loaded
    said = {"output_logits": True, "return_dict_in_generate": True} if settings.logp else {}
    for sequence in numbers:
        prompt = torch.tensor([settings.prompt_of(sequence)])
        torch.manual_seed(settings.seed_of(sequence))
        target.runs = 0
        with torch.inference_mode():
            text = target.model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=tokens,
                                         **({} if settings.ends else {"min_new_tokens": tokens}), **options,
                                         **said)
        text, logits = (text.sequences, text.logits) if settings.logp else (text, None)
        ids = text[0, prompt.shape[1]:].tolist()
        logp = None if logits is None else [[float(row[0].log_softmax(-1)[token]) for row, token in zip(logits, ids)]]
        # The first run reads the prompt together with drafted tokens, so it verifies, too.
        yield Decoded([ids], steps=target.runs, logp=logp)


ENGINE = Engine(
    title="transformers",
    ways=(Way("assisted", "a token drawn from the draft model"), Way("lookup", "what followed the last ids before", lookup=True)),
    version=version, load=load, decode=decode,
    installs=(("torch==2.15.0", "transformers==5.24.0"),), size="6 GB", time="2 minutes", sequences=2_000, long=20,
    options=("temperature", "top_k", "top_p", "min_p"), ends=True,
    requests=("repetition_penalty", "logit_bias", "banned", "min_tokens"), request_law={"order": "transformers"}, folders=True, first_by_prompt=False)
