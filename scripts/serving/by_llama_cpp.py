#!/usr/bin/env python3
"""Measures llama.cpp's server in this process, with one thread per model, under load, and compares it with the simulator; load.py
describes how.

usage: build/engines/llama_cpp/bin/python scripts/serving/by_llama_cpp.py pair|smollm2 --speclab build/release/bin/speclab

Needs xllamacpp (scripts/engines.sh llama_cpp) and an idle machine of two cores: about six minutes with our own pair, thirteen with SmolLM2.
"""
import importlib.metadata
import time

import engine_apart
import load
import xllamacpp

SERVER = f"llama.cpp's server (xllamacpp {importlib.metadata.version('xllamacpp')})"


class Engine:
    def __init__(self, setting, gamma):
        parameters = xllamacpp.CommonParams()
        parameters.model.path = str(load.SOURCE / setting.target)
        parameters.n_ctx = setting.slots * 512
        parameters.n_parallel = setting.slots
        parameters.cpuparams.n_threads = 1
        parameters.verbosity = 0
        # Requests share no prefix, so caches of earlier prompts would only take time.
        parameters.cache_prompt, parameters.cache_idle_slots, parameters.cache_ram_mib = False, False, 0
        if gamma > 0:
            parameters.speculative.types = [xllamacpp.common_speculative_type.COMMON_SPECULATIVE_TYPE_DRAFT_SIMPLE]
            draft = parameters.speculative.draft
            draft.mparams.path = str(load.SOURCE / setting.draft)
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
        return engine_apart.Answer(times, output - 1 - counts.get("draft_n_accepted", 0))


load.main(Engine, load.pair("llama_cpp", SERVER, gamma=3), load.smollm2("llama_cpp", SERVER))
