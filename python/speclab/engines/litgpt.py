"""Adapter of LitGPT: its speculative decoding with a draft model, in 64 bits."""

from __future__ import annotations

import importlib.metadata
import json
import pathlib
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

from ._engine import Decoded, Engine, Settings, Way


def version() -> str:
    import litgpt  # noqa: F401  # needs its libraries

    return f"litgpt {importlib.metadata.version('litgpt')}, torch {importlib.metadata.version('torch')}"


def model_of(folder: pathlib.Path) -> Any:
    """A model, by LitGPT's own conversion of the weights."""
    import torch
    from litgpt.config import Config
    from litgpt.model import GPT
    from litgpt.scripts.convert_hf_checkpoint import copy_weights_hf_llama
    from safetensors.torch import load_file

    said = json.loads((folder / "config.json").read_text())
    config = Config(name="table", block_size=said["max_position_embeddings"], n_layer=said["num_hidden_layers"], n_embd=said["hidden_size"],
                    vocab_size=said["vocab_size"], padded_vocab_size=said["vocab_size"], n_head=said["num_attention_heads"],
                    n_query_groups=said["num_key_value_heads"], head_size=said["head_dim"], rotary_percentage=1.0, rope_base=said["rope_theta"],
                    parallel_residual=False, bias=False, norm_class_name="RMSNorm", norm_eps=said["rms_norm_eps"], mlp_class_name="LLaMAMLP",
                    intermediate_size=said["intermediate_size"])
    weights: dict[str, Any] = {}
    copy_weights_hf_llama(config, {}, weights, load_file(folder / "model.safetensors"))
    model = GPT(config)
    model.load_state_dict(weights)
    model = model.to(torch.float64).eval()
    model.set_kv_cache(batch_size=1, dtype=torch.float64)
    return model


class Rounds:
    """Replaces `speculative_decoding`, and records the arguments and result of each call."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.calls: list[tuple[int, int, list[int]]] = []  #: for each call: the token before, the number drafted, the emitted ids

    def __call__(self, **named: Any) -> Any:
        emitted = self.function(**named)
        self.calls.append((int(named["token"]), named["speculative_k"], emitted.tolist()))
        return emitted


def load(settings: Settings) -> Any:
    import torch
    from litgpt.generate import speculative_decoding as speculative

    torch.set_num_threads(1)
    rounds = speculative.speculative_decoding = Rounds(speculative.speculative_decoding)
    return *(model_of(settings.folder / side) for side in ("target", "draft")), rounds


def decode(loaded: Any, settings: Settings, numbers: range, tokens: int) -> Iterator[Decoded]:
    import torch
    from litgpt.generate import base, speculative_decoding

    target, draft, rounds = loaded
    options = {"temperature": settings.temperature, "top_k": settings.top_k or None, "top_p": settings.top_p, "include_prompt": False}
    for sequence in numbers:
        prompt = torch.tensor(settings.prompt_of(sequence))
        torch.manual_seed(settings.seed_of(sequence))
        if settings.gamma == 0:
            ids = base.generate_fn(target, prompt, len(prompt) + tokens, stop_tokens=([0],) if settings.ends else (), include_eos=True, **options)
            yield Decoded([[int(one) for one in ids]], steps=tokens - 1)
            continue
        # For n new ids it returns n or n - 1.
        rounds.calls.clear()
        text, _ = speculative_decoding.generate(draft, target, prompt, len(prompt) + tokens + 1, stop_tokens=(0,) if settings.ends else (),
                                                speculative_k=settings.gamma, **options)
        ids = text.tolist()
        if settings.ends and len(ids) < tokens:
            ids.append(0)  # LitGPT does not return the end of text
        if settings.way == "first token kept":
            ids.insert(0, rounds.calls[0][0])
        # Counts the rounds that the text needs if the prompt's run emits its first token, whether or not LitGPT returns that token.
        done = list(accumulate(len(emitted) for *_, emitted in rounds.calls))
        calls = rounds.calls[: 1 + sum(count < tokens - 1 for count in done)]
        yield Decoded([ids[:tokens]], drafted=sum(drafted for _, drafted, _ in calls), accepted=sum(len(emitted) - 1 for *_, emitted in calls),
                      steps=len(calls))


ENGINE = Engine(
    title="LitGPT",
    ways=(Way("draft", "a token drawn from the draft model; verified by rejection sampling"),
          Way("first token kept", "the same; the adapter adds the first token, which LitGPT does not return")),
    version=version, load=load, decode=decode,
    installs=(("torch==2.15.0", "litgpt==0.5.13"),), size="6 GB", time="2 minutes", sequences=2_000, long=20,
    options=("temperature", "top_k", "top_p"), ends=True, folders=True)
