#!/usr/bin/env python3
"""transformers: options that keep a state, with and without speculation; "rebuilt": with a state that is made from the text in each call.

usage: transformers_states.py PAIR TEXTS [rebuilt]     (pip install torch==2.15.0 transformers==5.24.0; PAIR: folders by scripts/gguf_to_hf.py, as in transformers.md)
"""
import sys, torch
from transformers import AutoModelForCausalLM, SynthIDTextWatermarkingConfig
from transformers.generation import logits_process as code

torch.set_num_threads(1)
target, draft = (AutoModelForCausalLM.from_pretrained(f"{sys.argv[1]}/{side}", dtype=torch.float64).eval() for side in ("target", "draft"))
draft.generation_config.update(num_assistant_tokens=3, num_assistant_tokens_schedule="constant", assistant_confidence_threshold=0)
mark = SynthIDTextWatermarkingConfig(ngram_len=5, keys=[654, 400, 836, 123, 340, 443, 597, 160, 57, 29])
ways = {"plain": {}, "assisted": {"assistant_model": draft}, "lookup": {"prompt_lookup_num_tokens": 3, "max_matching_ngram_size": 2}}
prompts = [torch.tensor([[1543, 345, 261, 879, 327, 105, 7 * number]]) for number in range(int(sys.argv[2]))]

def rebuilt(call, start=7):
    def process(self, ids, scores):
        self.state, self.__dict__["unconditional_context"] = None, {"input_ids": None, "attention_mask": None, "use_cache": True, "cache": None, "first_pass": True}
        return [call(self, ids[:, :length], scores.clone()) for length in range(start, ids.shape[1] + 1)][-1]
    return process

if "rebuilt" in sys.argv:
    for kind in code.UnbatchedClassifierFreeGuidanceLogitsProcessor, code.SynthIDTextWatermarkLogitsProcessor:
        kind.__call__ = rebuilt(kind.__call__)
for name, way in ways.items():
    texts = [target.generate(prompt, guidance_scale=1.5, do_sample=False, max_new_tokens=24, min_new_tokens=24, pad_token_id=0, **way) for prompt in prompts]
    plain = texts if name == "plain" else plain
    marked = [target.generate(prompt, watermarking_config=mark, do_sample=True, top_k=0, max_new_tokens=40, min_new_tokens=40, pad_token_id=0, **way) for prompt in prompts]
    mean = mark.construct_processor(2048, "cpu").compute_g_values(torch.cat(marked)[:, 7:]).double().mean()
    print(f"{name}: {sum(not torch.equal(*pair) for pair in zip(texts, plain))} of {len(texts)} texts under guidance are not plain decoding's; mean g of SynthID {mean:.3f}", flush=True)
