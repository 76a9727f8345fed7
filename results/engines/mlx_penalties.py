#!/usr/bin/env python3
"""MLX: which ids do penalties count, and how often is the first token the one that the prompt repeats?

usage: mlx_penalties.py MODELS TEXTS     (pip install "mlx[cpu]==0.32.4" mlx-lm==0.32.2; MODELS: `python -m speclab.audit --models MODELS`)
"""
import pathlib, sys

import mlx.core
from mlx_lm.generate import generate_step, speculative_generate_step
from mlx_lm.sample_utils import make_logits_processors, make_sampler
from mlx_lm.utils import load_model

target, draft = (load_model(pathlib.Path(sys.argv[1], side))[0] for side in ("target", "draft"))
prompt, seen = mlx.core.array([0, 2, 2, 2, 1]), []

def looks(ids, logits):
    seen.append(ids.tolist())
    return logits

options = {"max_tokens": 1, "sampler": make_sampler(temp=1.0), "logits_processors": [*make_logits_processors(frequency_penalty=1.0), looks]}
for name, decode in ("plain", lambda: generate_step(prompt, target, **options)), ("draft model", lambda: speculative_generate_step(prompt, target, draft, **options)):
    mlx.core.random.seed(1)
    seen.clear()
    texts = [int(list(decode())[0][0]) for _ in range(int(sys.argv[2]))]
    print(f"{name}: penalties count {seen[0]} at the first token, which is 2 in {texts.count(2) / len(texts):.3f} of the texts")
