"""OpenVINO GenAI's ContinuousBatchingPipeline with a draft model, in 32 bits, so that rounding has no part in what it emits."""
import pathlib
import shutil
import tempfile

import numpy
import openvino
import openvino_genai

import adapter

EXACT = {"INFERENCE_PRECISION_HINT": "f32", "KV_CACHE_PRECISION": "f32", "DYNAMIC_QUANTIZATION_GROUP_SIZE": "0"}


def pipeline(settings, folder):
    for side in ("target", "draft"):  # reads GGUF, and leaves an OpenVINO model beside the copy
        (folder / side).mkdir()
        copy = shutil.copy(settings.folder / f"{side}.gguf", folder / side / "model.gguf")
        openvino_genai.LLMPipeline(copy, "CPU", enable_save_ov_model=True)
    draft = {"draft_model": openvino_genai.draft_model(folder / "draft", "CPU", **EXACT)} if settings.gamma else {}
    scheduler = openvino_genai.SchedulerConfig()
    scheduler.cache_size = 1
    return openvino_genai.ContinuousBatchingPipeline(folder / "target", scheduler, "CPU", EXACT | draft)


def configured(settings, sequence):
    config = openvino_genai.GenerationConfig()
    config.max_new_tokens = settings.tokens
    config.ignore_eos = True
    config.rng_seed = settings.seed_of(sequence)
    config.do_sample = settings.temperature > 0
    if config.do_sample:
        config.temperature = settings.temperature
        config.top_k = settings.top_k or 2**31
        config.top_p = settings.top_p
    if settings.gamma:
        config.num_assistant_tokens = settings.gamma
    return config


def decode(settings):
    with tempfile.TemporaryDirectory() as folder:
        engine = pipeline(settings, pathlib.Path(folder))
        prompt = openvino.Tensor(numpy.array([settings.prompt], dtype=numpy.int64))
        for first in range(0, settings.sequences, settings.slots):
            configs = [configured(settings, sequence)
                       for sequence in range(first, min(first + settings.slots, settings.sequences))]
            for result in engine.generate([prompt] * len(configs), configs):
                yield result.m_generation_ids[0], None, None


adapter.run("OpenVINO GenAI", openvino_genai.__version__, ["draft"], decode)
