#!/usr/bin/env python3
"""OpenVINO GenAI: two-sample chi-squared of the second token, plain against plain and against speculative decoding.

usage: openvino_reproduction.py TARGET.gguf DRAFT.gguf SEQUENCES     (pip install openvino-genai==2026.4.1.0 numpy)
"""
import collections, pathlib, shutil, sys, tempfile

import openvino_genai as genai

exact = {"INFERENCE_PRECISION_HINT": "f32", "KV_CACHE_PRECISION": "f32", "DYNAMIC_QUANTIZATION_GROUP_SIZE": "0"}
folder = pathlib.Path(tempfile.mkdtemp())
for name, file in zip(("target", "draft"), sys.argv[1:3]):  # reads GGUF and leaves an OpenVINO model beside the copy
    (folder / name).mkdir()
    genai.LLMPipeline(shutil.copy(file, folder / name / "m.gguf"), "CPU", enable_save_ov_model=True)

def second_tokens(first_seed, drafted):
    draft = {"draft_model": genai.draft_model(folder / "draft", "CPU", **exact)} if drafted else {}
    scheduler = genai.SchedulerConfig(); scheduler.cache_size = 1
    pipeline = genai.ContinuousBatchingPipeline(folder / "target", scheduler, "CPU", exact | draft)
    settings = [genai.GenerationConfig(max_new_tokens=4, ignore_eos=True, do_sample=True, rng_seed=first_seed + i,
                                       num_assistant_tokens=drafted) for i in range(int(sys.argv[3]))]
    return collections.Counter(r.m_generation_ids[0][1] for a in range(0, len(settings), 128)
                               for r in pipeline.generate(["It is a truth"] * len(settings[a:a + 128]), settings[a:a + 128]))

plain = second_tokens(0, 0)
for name, other in ("plain", second_tokens(10**6, 0)), ("speculative, 3 drafted", second_tokens(2 * 10**6, 3)):
    common = [t for t in plain | other if plain[t] + other[t] >= 20]
    print(f"{name}: {sum((plain[t] - other[t])**2 / (plain[t] + other[t]) for t in common):.0f} on {len(common)} degrees")
