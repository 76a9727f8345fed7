#!/usr/bin/env python3
"""LitGPT: the first two tokens of speculative decoding beside plain decoding's, of tables that give the next token by the last one.

usage: litgpt_reproduction.py TEXTS     (pip install torch==2.15.0 litgpt==0.5.13)
"""
import collections, sys, torch
from litgpt.generate import base, speculative_decoding as code

class Table(torch.nn.Module):
    max_seq_length = 64
    def __init__(self, *rows):
        super().__init__(); self.rows = torch.tensor(rows)
    def forward(self, idx, *position, **end):
        return self.rows.log()[idx]

target, draft, prompt = Table([.5, .3, .2], [.1, .4, .5], [.2, .45, .35]), Table([.6, .3, .1], [.1, .7, .2], [.1, .1, .8]), torch.tensor([0])
ways = {"plain": lambda stop, **asked: base.generate_fn(target, prompt, 5, stop_tokens=[[one] for one in stop], include_eos=False, **asked),
        "speculative": lambda stop, **asked: code.generate(draft, target, prompt, 5, speculative_k=2, stop_tokens=stop, **asked)[0]}
for asked in {"stop": []}, {"stop": [], "temperature": 0.0}, {"stop": [], "top_p": 0.6}, {"stop": [2]}:
    for name, way in ways.items():
        counts = collections.Counter()
        for seed in range(int(sys.argv[1])):
            torch.manual_seed(seed)
            try:
                counts[str([int(token) for token in way(include_prompt=False, **asked)][:2])] += 1
            except RuntimeError as problem:
                counts[str(problem)[:44]] += 1
        print(asked, f"{name}:", *(f"{text} {n}," for text, n in counts.most_common(4)))
