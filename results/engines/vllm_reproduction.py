#!/usr/bin/env python3
"""vLLM on a CPU: two-sample chi-squared of the second token, plain against plain and against speculative decoding.

usage: vllm_reproduction.py TARGET DRAFT SEQUENCES plain|speculative|repaired     (folders of models)
"""
import collections, json, os, pathlib, sys

os.environ |= {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_ENABLE_V1_MULTIPROCESSING": "0", "HF_HUB_OFFLINE": "1"}
target, draft, sequences, way = sys.argv[1:]

def repaired(output, values, ends, replace_from, replace_to, MAX_NUM_TOKENS=None):
    """Does the same as the Triton kernel of that name: repeats the value of each request for each of its tokens."""
    output.copy_(values.where(values != replace_from, replace_to).repeat_interleave(ends.diff(prepend=ends.new_zeros(1))))

if __name__ == "__main__":
    import vllm.utils.cpu_triton_utils as kernels
    kernels._expand_kernel_impl = repaired if way == "repaired" else kernels._expand_kernel_impl
    from vllm import LLM, SamplingParams
    speculative = {"speculative_config": {"method": "draft_model", "model": draft, "num_speculative_tokens": 3}}
    model = LLM(target, enforce_eager=True, dtype="float32", max_model_len=256, seed=len(way), disable_log_stats=False,
                enable_prefix_caching=False, **({} if way == "plain" else speculative))
    answers = model.generate([{"prompt_token_ids": [1543, 345, 261, 879, 327, 105]}] * int(sequences),
                             SamplingParams(temperature=1, max_tokens=4, ignore_eos=True), use_tqdm=False)
    counts, kept = collections.Counter(a.outputs[0].token_ids[1] for a in answers), pathlib.Path("second_tokens.json")
    plain = {int(t): n for t, n in json.loads(kept.read_text()).items()} if kept.exists() else kept.write_text(json.dumps(counts)) and {}
    common = [t for t in plain if plain[t] + counts[t] >= 20]
    print(f"{way}: {sum((plain[t] - counts[t])**2 / (plain[t] + counts[t]) for t in common):.0f} on {len(common)} tokens")
