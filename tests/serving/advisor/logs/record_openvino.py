"""Records what OpenVINO GenAI says of its runs (`extended_perf_metrics`) at temperature 0, where it accepts by the rule: one line a request.

usage: record_openvino.py     (pip install openvino-genai==2026.4.1.0 numpy)

`emitted_by_run` is what it calls m_batch_sizes: tokens that each run of the target gave, the prompt's the first. Its accepted and drafted
tokens leave out the last run; `rounds` is ours: the runs without the prompt's and the last.
"""

import json
import pathlib
import shutil
import tempfile

import numpy
import openvino
import openvino_genai as genai

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[3]
EXACT = {"INFERENCE_PRECISION_HINT": "f32", "KV_CACHE_PRECISION": "f32", "DYNAMIC_QUANTIZATION_GROUP_SIZE": "0"}
DRAFTED, REQUESTS, TOKENS = 4, 12, 96

with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    for side in ("target", "draft"):
        (folder / side).mkdir()
        genai.LLMPipeline(shutil.copy(ROOT / f"configs/neural/{side}.gguf", folder / side / "m.gguf"), "CPU", enable_save_ov_model=True)
    scheduler = genai.SchedulerConfig()
    scheduler.cache_size = 1
    pipeline = genai.ContinuousBatchingPipeline(folder / "target", scheduler, "CPU", {"draft_model": genai.draft_model(folder / "draft", "CPU", **EXACT), **EXACT})
    prompt = json.loads((ROOT / "configs/audit_pair.json").read_text())["simulation"]["prompt"]
    lines = []
    for request in range(REQUESTS):
        settings = genai.GenerationConfig(max_new_tokens=TOKENS, ignore_eos=True, do_sample=False, num_assistant_tokens=DRAFTED)
        (result,) = pipeline.generate([openvino.Tensor(numpy.array([prompt[: len(prompt) - request]]))], [settings])
        said = result.extended_perf_metrics
        by_run = list(said.main_model_metrics.raw_metrics.m_batch_sizes)
        lines.append({"num_accepted_tokens": said.get_num_accepted_tokens(), "num_draft_tokens": said.get_num_draft_tokens(),
                      "num_rejected_tokens": said.get_num_rejected_tokens(), "num_generated_tokens": said.get_num_generated_tokens(),
                      "emitted_by_run": by_run, "rounds": len(by_run) - 2, "ids": list(result.m_generation_ids[0])})
(HERE / "openvino_metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
