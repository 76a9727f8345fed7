"""A pair of Hugging Face models: the target generates by sampling, and each token is scored by both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

#: Ids; for each the natural log-probability under target and draft; and the entropy of the target's row.
Generated = tuple[list[int], list[float], list[float], list[float]]


def vocabulary(target: Any, draft: Any) -> int:
    """Size of the models' vocabulary; ValueError if they differ."""
    sizes = [model.config.get_text_config().vocab_size for model in (target, draft)]
    if sizes[0] != sizes[1]:
        raise ValueError(f"the target has {sizes[0]} tokens, the draft {sizes[1]}; two columns need one vocabulary")
    return int(sizes[0])


def ends_of(model: Any) -> list[int]:
    """Ids that end a text of the model."""
    found = model.generation_config.eos_token_id if getattr(model, "generation_config", None) else model.config.eos_token_id
    return [] if found is None else [found] if isinstance(found, int) else list(found)


def log_rows(model: Any, ids: Sequence[Sequence[int]], temperature: float, past: Any = None) -> tuple[Any, Any]:
    """Log-probabilities after each id of each sequence, [B, n, V] in float; and the cache."""
    import torch

    done = model(torch.tensor(ids, device=model.device), past_key_values=past, use_cache=True)
    return torch.log_softmax(done.logits.float() / temperature, dim=-1), done.past_key_values


def generated(
    target: Any, draft: Any, prompts: Sequence[Sequence[int]], *, sequences: int, tokens: int, temperature: float, seed: int
) -> Iterator[Generated]:
    """Sequences of at most `tokens` tokens. Prompts are used in turn, and a sequence stops after the target's end of text."""
    import torch

    vocabulary(target, draft)
    if temperature <= 0:
        raise ValueError("temperature: must be above 0; at 0 the target has only one text")
    ends = ends_of(target)
    generator = torch.Generator(target.device).manual_seed(seed)
    for sequence in range(sequences):
        prompt = list(prompts[sequence % len(prompts)])
        ids: list[int] = []
        logp, entropies = [], []
        with torch.no_grad():
            rows, past = log_rows(target, [prompt], temperature)
            while True:
                # The row that is sampled from is also the row that is written.
                row = rows[0, -1]
                probabilities = row.exp()
                token = int(torch.multinomial(probabilities, 1, generator=generator))
                ids.append(token)
                logp.append(float(row[token]))
                entropies.append(float(-(probabilities * row.nan_to_num(neginf=0.0)).sum()))
                if token in ends or len(ids) == tokens:
                    break
                rows, past = log_rows(target, [[token]], temperature, past)
            scored, _ = log_rows(draft, [prompt + ids], temperature)
        yield ids, logp, [float(scored[0, len(prompt) - 1 + i, token]) for i, token in enumerate(ids)], entropies
