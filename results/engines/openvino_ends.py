#!/usr/bin/env python3
"""OpenVINO GenAI: texts that go on after a stop token, or end without one, with a draft model.

usage: openvino_ends.py TARGET.gguf DRAFT.gguf TEXTS TOGETHER DRAFTED     (pip install openvino-genai==2026.4.1.0 numpy)
"""
import pathlib, shutil, sys, tempfile

import numpy, openvino, openvino_genai as genai

texts, together, drafted = map(int, sys.argv[3:])
exact = {"INFERENCE_PRECISION_HINT": "f32", "KV_CACHE_PRECISION": "f32", "DYNAMIC_QUANTIZATION_GROUP_SIZE": "0"}
folder = pathlib.Path(tempfile.mkdtemp())
for name, file in zip(("target", "draft"), sys.argv[1:3]):  # reads GGUF and leaves an OpenVINO model beside the copy
    (folder / name).mkdir()
    genai.LLMPipeline(shutil.copy(file, folder / name / "m.gguf"), "CPU", enable_save_ov_model=True)
scheduler = genai.SchedulerConfig(); scheduler.cache_size = 1
draft = {"draft_model": genai.draft_model(folder / "draft", "CPU", **exact)} if drafted else {}
pipeline = genai.ContinuousBatchingPipeline(folder / "target", scheduler, "CPU", exact | draft)
stop, behind, without = {0, 45, 47, 11, 266, 298}, 0, 0  # the end of text, and ",", ".", a newline, " the", " and"
for first in range(0, texts, together):
    settings = [genai.GenerationConfig(max_new_tokens=16, stop_token_ids=stop, do_sample=True, top_k=2**31, rng_seed=first + i,
                                       num_assistant_tokens=drafted) for i in range(together)]
    prompts = [openvino.Tensor(numpy.array([[1543, 345, 261, 879, 327, 105]])) for _ in settings]
    for result in pipeline.generate(prompts, settings):
        ids = result.m_generation_ids[0]
        behind += any(token in stop for token in ids[:-1])
        without += len(ids) < 16 and ids[-1] not in stop
print(f"{texts} texts, {together} at once, {drafted} drafted: {behind} go on behind a stop token, {without} end without one")
