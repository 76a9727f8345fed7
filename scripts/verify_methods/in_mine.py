"""Somebody's own function (mine.py) on the tensors of a case. Times include the softmax of the probabilities that it asks for."""
import itertools

import torch

from .case import Method, accepted_and_following

SEEDS = itertools.count(1)


def prepare_with(function):
    def prepare(case):
        requests, gamma = case.drafted.shape
        held = {"drafted": case.drafted, "uniforms": case.uniforms, "lengths": torch.full((requests,), gamma, device=case.drafted.device)}
        held = {name: held[kind].to(getattr(torch, function.type_of(name))) for name, kind in function.parameters.items() if kind in held}
        rows = {name: (getattr(case, kind.split("_")[0]), kind.endswith("_probs")) for name, kind in function.parameters.items() if "_" in kind}
        seeds = [name for name, kind in function.parameters.items() if kind == "seed"]

        def run():
            given = {name: logits.softmax(-1, dtype=torch.float32) if asked else logits for name, (logits, asked) in rows.items()}
            result = function.call(**held, **given, **{name: next(SEEDS) for name in seeds})
            return result if isinstance(result, (tuple, list)) else accepted_and_following(result)
        return run
    return prepare


def method(function, waits):
    return Method("mine", function.signature, prepare_with(function), injected=function.injected, waits=waits)
