#!/usr/bin/env python3
"""llama.cpp's server in this process, with one thread for a model, under load beside the simulator; load.py says what is done.

usage: build/engines/llama_cpp/bin/python scripts/serving/by_llama_cpp.py [smollm2] --speclab build/release/bin/speclab

Needs xllamacpp (scripts/engines.sh llama_cpp) and an idle machine: about six minutes with our own pair. With smollm2 about fifteen: SmolLM2-135M
drafted by itself without three of its blocks (scripts/setup.sh neural; scripts/cut_layers.py, docs/neural.md).
"""
import importlib.metadata
import sys
import time

import load
import xllamacpp

SMOLLM2 = len(sys.argv) > 1 and sys.argv[1] == "smollm2"
if SMOLLM2:
    del sys.argv[1]
TARGET, DRAFT = ("data/smollm2-135m.gguf", "data/smollm2-without-13-15.gguf") if SMOLLM2 else ("configs/neural/target.gguf", "configs/neural/draft.gguf")
SERVER = f"llama.cpp's server (xllamacpp {importlib.metadata.version('xllamacpp')}), one thread, with {TARGET} and {DRAFT} at temperature 1"
SETTING = (load.Setting(name="llama_cpp_smollm2", server=SERVER, gamma=2, slots=4, clients=(1, 2, 4), output=16, requests=40, idle_gap=1, calls=6,
                        passes=3, all_rates=False) if SMOLLM2
           else load.Setting(name="llama_cpp", server=SERVER, gamma=3))


class Engine:
    def __init__(self, gamma):
        parameters = xllamacpp.CommonParams()
        parameters.model.path = str(load.SOURCE / TARGET)
        parameters.n_ctx = SETTING.slots * 512
        parameters.n_parallel = SETTING.slots
        parameters.cpuparams.n_threads = 1
        parameters.verbosity = 0
        # Requests have nothing in common: caches of former prompts would only take time.
        parameters.cache_prompt, parameters.cache_idle_slots, parameters.cache_ram_mib = False, False, 0
        if gamma > 0:
            parameters.speculative.types = [xllamacpp.common_speculative_type.COMMON_SPECULATIVE_TYPE_DRAFT_SIMPLE]
            draft = parameters.speculative.draft
            draft.mparams.path = str(load.SOURCE / DRAFT)
            draft.cpuparams.n_threads = 1
            draft.n_max, draft.p_min, draft.probabilistic = gamma, 0.0, True
        self.server = xllamacpp.Server(parameters)

    def prompt_tokens(self, text):
        return self.complete(text, 1, 1)[1]["prompt_n"]

    def complete(self, text, seed, output):
        times, counts = [], {}

        def take(chunk):
            counts.update(chunk.get("timings", {}))
            if chunk["choices"][0].get("finish_reason") is None:
                times.append(time.perf_counter())

        self.server.handle_completions(
            {"prompt": text, "n_predict": output, "temperature": 1.0, "samplers": ["temperature"], "seed": seed, "ignore_eos": True,
             "cache_prompt": False, "stream": True}, take)
        return times, counts

    def answer(self, text, seed, output):
        times, counts = self.complete(text, seed, output)
        # Every round emits one token that was not drafted; the first token comes from the prompt.
        return load.Answer(times, output - 1 - counts.get("draft_n_accepted", 0))


load.main(SETTING, Engine)
