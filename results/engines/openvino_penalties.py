#!/usr/bin/env python3
"""OpenVINO GenAI: does a presence penalty make a repeated token rarer? The model's logits are all negative, as logarithms of probabilities are.

usage: openvino_penalties.py TARGET.gguf TEXTS     (pip install openvino-genai==2026.4.1.0 numpy; python -m speclab.audit --models FOLDER)
"""
import pathlib, shutil, sys, tempfile

import numpy
import openvino
import openvino_genai as genai

folder = pathlib.Path(tempfile.mkdtemp())
genai.LLMPipeline(shutil.copy(sys.argv[1], folder / "m.gguf"), "CPU", enable_save_ov_model=True)
scheduler = genai.SchedulerConfig(); scheduler.cache_size = 1
pipeline = genai.ContinuousBatchingPipeline(folder, scheduler, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
for penalty in 0.0, 1.0:
    settings = [genai.GenerationConfig(max_new_tokens=2, ignore_eos=True, do_sample=True, top_k=2**31, rng_seed=seed, presence_penalty=penalty)
                for seed in range(int(sys.argv[2]))]
    texts = pipeline.generate([openvino.Tensor(numpy.array([[0]], dtype=numpy.int64))] * len(settings), settings)
    repeated = sum(len(set(text.m_generation_ids[0])) == 1 for text in texts)
    print(f"presence penalty {penalty:g}: {repeated / len(texts):.3f} of the texts repeat their first token")
