"""vLLM on a CPU with a draft model, eager, float32."""
import importlib.metadata
import os

os.environ |= {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_ENABLE_V1_MULTIPROCESSING": "0", "HF_HUB_OFFLINE": "1",
               "VLLM_NO_USAGE_STATS": "1", "VLLM_LOGGING_LEVEL": "ERROR"}

import adapter  # noqa: E402


def decode(settings):
    import vllm

    speculative = {}
    if settings.gamma:
        speculative = {"speculative_config": {"method": "draft_model", "model": str(settings.folder / "draft"),
                                              "num_speculative_tokens": settings.gamma,
                                              "draft_sample_method": settings.way}}
    engine = vllm.LLM(str(settings.folder / "target"), skip_tokenizer_init=True, enforce_eager=True, dtype="float32",
                      max_model_len=256, max_num_seqs=settings.slots, enable_prefix_caching=False, disable_log_stats=False,
                      seed=settings.seed, **speculative)
    parameters = vllm.SamplingParams(temperature=settings.temperature, top_k=settings.top_k, top_p=settings.top_p,
                                     max_tokens=settings.tokens, ignore_eos=True, detokenize=False)
    answers = engine.generate([{"prompt_token_ids": settings.prompt}] * settings.sequences, parameters, use_tqdm=False)
    counts = {metric.name: metric.value for metric in engine.get_metrics() if metric.name.startswith("vllm:spec_decode_num")
              and hasattr(metric, "value")}
    for sequence, answer in enumerate(answers):  # the engine counts all together
        of_all = sequence == 0
        yield (answer.outputs[0].token_ids, counts.get("vllm:spec_decode_num_draft_tokens") if of_all else 0,
               counts.get("vllm:spec_decode_num_accepted_tokens") if of_all else 0)


if __name__ == "__main__":
    adapter.run("vLLM", f"vllm-cpu {importlib.metadata.version('vllm-cpu')}", ["greedy", "probabilistic"], decode)
