"""llama.cpp's server in this process, by xllamacpp; it opens no port."""
import concurrent.futures
import importlib.metadata

import adapter
import xllamacpp


def server(settings):
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(settings.folder / "target.gguf")
    parameters.n_ctx = settings.slots * (settings.tokens + settings.gamma + 32)
    parameters.n_parallel = settings.slots
    parameters.cpuparams.n_threads = 1
    parameters.verbosity = 0
    parameters.cache_prompt = False
    if settings.gamma > 0:
        parameters.speculative.types = [xllamacpp.common_speculative_type.COMMON_SPECULATIVE_TYPE_DRAFT_SIMPLE]
        draft = parameters.speculative.draft
        draft.mparams.path = str(settings.folder / "draft.gguf")
        draft.n_max, draft.p_min = settings.gamma, 0.0
        draft.probabilistic = settings.way == "probabilistic"
    return xllamacpp.Server(parameters)


def decode(settings):
    engine = server(settings)

    def one(sequence):
        answer = engine.handle_completions({
            "prompt": settings.prompt, "n_predict": settings.tokens, "temperature": settings.temperature, "top_k": settings.top_k,
            "top_p": settings.top_p, "min_p": 0.0, "samplers": ["top_k", "top_p", "temperature"],
            "seed": settings.seed_of(sequence), "ignore_eos": True, "cache_prompt": False})
        counts = answer["timings"]
        ids = [ord(letter) - ord("a") + 1 for letter in answer["choices"][0]["text"]]  # the end of text has none
        return ids, counts.get("draft_n", 0), counts.get("draft_n_accepted", 0)

    with concurrent.futures.ThreadPoolExecutor(settings.slots) as threads:
        yield from threads.map(one, range(settings.sequences))


adapter.run("llama.cpp", f"xllamacpp {importlib.metadata.version('xllamacpp')}", ["compared", "probabilistic"], decode)
