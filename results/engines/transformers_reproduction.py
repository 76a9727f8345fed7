#!/usr/bin/env python3
"""transformers: tokens per run of the target in assisted generation, as it is and with the request's warpers applied to the draft once.

usage: transformers_reproduction.py MODELS TEXTS     (pip install torch==2.15.0 transformers==5.24.0; MODELS: `python -m speclab.audit --models MODELS`)
"""
import sys, torch
from transformers import AutoModelForCausalLM
from transformers.generation import candidate_generator as code
from transformers.generation.logits_process import TemperatureLogitsWarper, TopPLogitsWarper

torch.set_num_threads(1)
target, draft = (AutoModelForCausalLM.from_pretrained(f"{sys.argv[1]}/{side}", dtype=torch.float64).eval() for side in ("target", "draft"))
draft.generation_config.update(num_assistant_tokens=3, num_assistant_tokens_schedule="constant", assistant_confidence_threshold=0)
run, runs, prepared = target.forward, [], code.AssistedCandidateGenerator._prepare_generation_args
target.forward = lambda *words, **named: runs.append(1) or run(*words, **named)

def repaired(self, *words):
    asked = prepared(self, *words)
    once = [one for one in asked["logits_processor"] if not isinstance(one, (TemperatureLogitsWarper, TopPLogitsWarper))]
    return {**asked, "logits_processor": code.LogitsProcessorList(once)}

for options in {"temperature": 0.7}, {"top_p": 0.55}:
    for name, prepare in ("as it is", prepared), ("repaired", repaired):
        code.AssistedCandidateGenerator._prepare_generation_args, emitted = prepare, 0
        runs.clear(); torch.manual_seed(1)
        for _ in range(int(sys.argv[2])):
            text = target.generate(torch.tensor([[0]]), do_sample=True, min_new_tokens=192, max_new_tokens=192, pad_token_id=0, assistant_model=draft, top_k=0, **options)
            emitted += text.shape[1] - 1
        print(f"{options}, {name}: {emitted / len(runs):.3f} tokens per run")
