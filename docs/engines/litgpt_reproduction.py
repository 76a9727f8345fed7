#!/usr/bin/env python3
"""LitGPT: speculative decoding beside plain decoding, of two tables that say the next token by the last one.

usage: litgpt_reproduction.py TEXTS     (pip install torch==2.15.0 litgpt==0.5.13)
"""
import collections, sys, torch
from litgpt.generate import base, speculative_decoding as speculative

class Table(torch.nn.Module):
    max_seq_length = 64
    def __init__(self, rows):
        super().__init__()
        self.logits = torch.tensor(rows).log()
    def forward(self, idx, input_pos=None, input_pos_maxp1=None):
        return self.logits[idx]

target = Table([[.5, .3, .2], [.1, .4, .5], [.2, .45, .35]])
draft = Table([[.6, .3, .1], [.1, .7, .2], [.1, .1, .8]])
prompt, texts = torch.tensor([0]), int(sys.argv[1])
for options in {"temperature": 1.0}, {"temperature": 0.0}, {"top_p": .9}, {"stop": True}:
    stop = options.pop("stop", False)
    plain, drafted = collections.Counter(), collections.Counter()
    for seed in range(texts):
        torch.manual_seed(seed)
        plain[tuple(int(t) for t in base.generate_fn(target, prompt, 4, include_prompt=False, include_eos=False, stop_tokens=([2],) if stop else (), **options))] += 1
        try:
            drafted[tuple(speculative.generate(draft, target, prompt, 4, include_prompt=False, speculative_k=2, stop_tokens=(2,) if stop else (), **options)[0].tolist())] += 1
        except RuntimeError as problem:
            drafted[str(problem)[:40]] += 1
    print(options, "stop at 2" if stop else "", *(f"\n  {name}: {counts.most_common(4)}" for name, counts in (("plain", plain), ("speculative", drafted))))
