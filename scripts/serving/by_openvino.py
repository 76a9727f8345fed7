#!/usr/bin/env python3
"""Measures OpenVINO GenAI's ContinuousBatchingPipeline with one thread under load, and compares it with the simulator; load.py describes
how.

usage: build/engines/openvino/bin/python scripts/serving/by_openvino.py pair|smollm2 --speclab build/release/bin/speclab

Needs openvino-genai (scripts/engines.sh openvino) and an idle machine of two cores: four minutes with our own pair, six with SmolLM2.
"""
import importlib.metadata
import pathlib
import shutil
import tempfile

import engine_apart
import load
import openvino_genai

SERVER = f"OpenVINO GenAI {importlib.metadata.version('openvino-genai')}"
UNBOUNDED = {"slots": 16, "clients": (1, 2, 3, 4, 6, 8, 12, 16)}  # max_num_seqs does not bound the number of running sequences
ONE_THREAD = {"INFERENCE_NUM_THREADS": 1}


def converted(file, folder):
    folder.mkdir()
    copy = shutil.copy(load.SOURCE / file, folder / "model.gguf")
    openvino_genai.LLMPipeline(copy, "CPU", enable_save_ov_model=True)  # leaves an OpenVINO model beside the copy
    return folder


class Engine(engine_apart.Stepped):
    def __init__(self, setting, gamma):
        self.gamma = gamma
        scheduler = openvino_genai.SchedulerConfig()
        scheduler.cache_size, scheduler.enable_prefix_caching = 2, False
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            draft = {"draft_model": openvino_genai.draft_model(converted(setting.draft, folder / "draft"), "CPU", **ONE_THREAD)} if gamma else {}
            self.pipeline = openvino_genai.ContinuousBatchingPipeline(converted(setting.target, folder / "target"), scheduler, "CPU", ONE_THREAD | draft)
        self.handles = {}

    def encoded(self, text):
        return self.pipeline.get_tokenizer().encode(text).input_ids

    def length(self, prompt):
        return prompt.shape[1]

    def add(self, number, prompt, seed, output):
        config = openvino_genai.GenerationConfig()
        config.max_new_tokens, config.ignore_eos, config.rng_seed = output, True, seed
        config.do_sample, config.temperature, config.top_k, config.top_p = True, 1.0, 2**31, 1.0
        if self.gamma:
            config.num_assistant_tokens = self.gamma
        self.handles[number] = self.pipeline.add_request(number, prompt, config)

    def step(self):
        self.pipeline.step()
        emitted = [(number, sum(len(output.generated_ids) for output in handle.read().values()))
                   for number, handle in self.handles.items() if handle.can_read()]
        for number, _ in emitted:
            if self.handles[number].get_status() == openvino_genai.GenerationStatus.FINISHED:
                del self.handles[number]
        return emitted


if __name__ == "__main__":
    load.main(Engine.apart, load.pair("openvino", SERVER, gamma=3, **UNBOUNDED), load.smollm2("openvino", SERVER, **UNBOUNDED))
