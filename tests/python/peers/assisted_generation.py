"""Runs assisted generation of Hugging Face transformers with a rule of speclab instead of its own:

    ids = model.generate(ids, do_sample=True, top_k=0, custom_generate=assisted(assistant, gamma=4, rule="block"))

The rule is a name, parameters or your own function (docs/python.md). Rows are those of both models at the temperature; logits
processors, such as top-k, are not applied. Decodes one sequence at a time, without caches, so that every step can be read here.
"""

import torch

import speclab


def assisted(assistant, *, gamma=4, rule="token", temperature=1.0):
    """Returns a decoding method for `custom_generate`. Torch's seed determines its random numbers."""

    def rows(model, ids, count):
        """Probabilities after the last `count` positions, [count, V]."""
        return torch.softmax(model(ids).logits[0, -count:].double() / temperature, dim=-1)

    @torch.no_grad()
    def decode(model, input_ids, generation_config=None, stopping_criteria=None, **_):
        ids, number = input_ids, 0
        seed = int(torch.randint(2**62, (1,)))
        ends = torch.tensor([] if generation_config.eos_token_id is None else generation_config.eos_token_id).reshape(-1)
        while True:
            start, draft = ids.shape[1], []
            for _ in range(min(gamma, generation_config.max_length - start - 1)):
                draft.append(rows(assistant, ids, 1))
                ids = torch.cat([ids, torch.multinomial(draft[-1], 1)], dim=1)
            drafted = ids[:, start:]
            target = rows(model, ids, len(draft) + 1)
            draft = torch.cat(draft) if draft else target[:0]
            made = speclab.verify(target.cpu()[None], draft.cpu()[None], drafted.cpu(), seed=seed, round=number, rule=rule)
            for token in made.tokens[0, : made.accepted[0] + 1].tolist():
                ids = torch.cat([ids[:, :start], ids.new_tensor([[token]])], dim=1)
                start += 1
                if token in ends or start >= generation_config.max_length or stopping_criteria(ids, None).all():
                    return ids
            number += 1

    return decode
