#!/usr/bin/env python3
"""OpenVINO GenAI's ContinuousBatchingPipeline in this process, with one thread, under load beside the simulator; load.py says what is done.

usage: build/engines/openvino/bin/python scripts/serving/by_openvino.py --speclab build/release/bin/speclab

Needs openvino-genai (scripts/engines.sh openvino) and an idle machine: about six minutes.
"""
import importlib.metadata
import pathlib
import queue
import shutil
import tempfile
import threading
import time

import load
import openvino_genai

SETTING = load.Setting(
    name="openvino", gamma=3, slots=64, clients=(1, 2, 4, 8, 16, 32),
    server=f"OpenVINO GenAI {importlib.metadata.version('openvino-genai')}, one thread, with configs/neural/target.gguf and draft.gguf at temperature 1")
ONE_THREAD = {"INFERENCE_NUM_THREADS": 1}


def converted(folder, side):
    (folder / side).mkdir()
    copy = shutil.copy(load.SOURCE / f"configs/neural/{side}.gguf", folder / side / "model.gguf")
    openvino_genai.LLMPipeline(copy, "CPU", enable_save_ov_model=True)  # leaves an OpenVINO model beside the copy
    return folder / side


class Asked:
    def __init__(self, prompt, config):
        self.prompt, self.config = prompt, config
        self.times, self.rounds, self.whole = [], -1, threading.Event()


class Engine:
    def __init__(self, gamma):
        self.gamma = gamma
        scheduler = openvino_genai.SchedulerConfig()
        scheduler.cache_size, scheduler.max_num_seqs = 2, SETTING.slots
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            draft = {"draft_model": openvino_genai.draft_model(converted(folder, "draft"), "CPU", **ONE_THREAD)} if gamma else {}
            self.pipeline = openvino_genai.ContinuousBatchingPipeline(converted(folder, "target"), scheduler, "CPU", ONE_THREAD | draft)
        self.asked = queue.Queue()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        running, number = [], 0
        while True:
            while not running or not self.asked.empty():
                asked = self.asked.get()
                number += 1
                running.append((self.pipeline.add_request(number, asked.prompt, asked.config), asked))
            self.pipeline.step()
            now = time.perf_counter()
            for handle, asked in running:
                if handle.can_read():
                    asked.rounds += 1  # the first is of the prompt
                    asked.times += [now for output in handle.read().values() for _ in output.generated_ids]
                    if len(asked.times) == asked.config.max_new_tokens:
                        asked.whole.set()
            running = [(handle, asked) for handle, asked in running if not asked.whole.is_set()]

    def encoded(self, text):
        return self.pipeline.get_tokenizer().encode(text).input_ids

    def prompt_tokens(self, text):
        return self.encoded(text).shape[1]

    def answer(self, text, seed, output):
        config = openvino_genai.GenerationConfig()
        config.max_new_tokens, config.ignore_eos, config.rng_seed = output, True, seed
        config.do_sample, config.temperature, config.top_k, config.top_p = True, 1.0, 2**31, 1.0
        if self.gamma:
            config.num_assistant_tokens = self.gamma
        asked = Asked(self.encoded(text), config)
        self.asked.put(asked)
        asked.whole.wait()
        return load.Answer(asked.times, asked.rounds)


load.main(SETTING, Engine)
