"""Records a llama.cpp server that drafts the likeliest tokens of the audit's tables: what it answers, its /metrics, its /slots and its log.
The log is recorded twice, at the default verbosity and at that of traces, of the same requests.

usage: record_llama_cpp.py     (pip install xllamacpp==2026.10.11549; with speclab importable)

On the tables (configs/audit_engine.json) the draft's likeliest token is a function of the last one, so that the rounds follow from
the emitted ids alone: the tests count them so.
"""

import gzip
import json
import os
import pathlib
import sys
import tempfile
import urllib.request

import xllamacpp

from speclab.engines._table_models import write_models

HERE = pathlib.Path(__file__).resolve().parent
CONFIG = json.loads((HERE.parents[3] / "configs/audit_engine.json").read_text())
DRAFTED, REQUESTS, TOKENS = 4, 5, 200
DEFAULT, TRACE = 3, 4


def fetch(address, path, body=None):
    asked = urllib.request.Request(address + path, None if body is None else json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(asked) as answer:
        return answer.read().decode()


def serve(folder, verbosity):
    parameters = xllamacpp.CommonParams()
    parameters.model.path, parameters.model_alias = str(folder / "target.gguf"), ["target"]
    parameters.hostnames, parameters.port = ["127.0.0.1"], 0
    parameters.n_ctx, parameters.n_parallel, parameters.cpuparams.n_threads = 256, 1, 1
    parameters.verbosity, parameters.endpoint_metrics, parameters.endpoint_slots = verbosity, True, True
    draft = parameters.speculative.draft
    parameters.speculative.types = [xllamacpp.common_speculative_type.COMMON_SPECULATIVE_TYPE_DRAFT_SIMPLE]
    draft.mparams.path, draft.n_max, draft.p_min = str(folder / "draft.gguf"), DRAFTED, 0.0
    server = xllamacpp.Server(parameters)
    answers = [fetch(server.listening_address, "/completion", {
        "prompt": [0], "n_predict": TOKENS, "temperature": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0, "samplers": ["temperature"],
        "seed": 7919 * number, "ignore_eos": True, "cache_prompt": False, "return_tokens": True}) for number in range(1, REQUESTS + 1)]
    if verbosity == TRACE:
        return
    (HERE / "llama_cpp_responses.jsonl").write_text("".join(json.dumps(json.loads(one)) + "\n" for one in answers))
    (HERE / "llama_cpp.prom").write_text(fetch(server.listening_address, "/metrics"))
    (HERE / "llama_cpp_slots.json").write_text(fetch(server.listening_address, "/slots") + "\n")


def said(folder, verbosity):
    """The server's standard error. The server runs in a separate process."""
    with tempfile.TemporaryFile() as log:
        if (process := os.fork()) == 0:
            os.dup2(log.fileno(), 2)
            serve(folder, verbosity)
            os._exit(0)
        if os.waitpid(process, 0)[1] != 0:
            sys.exit("the server failed")
        log.seek(0)
        return log.read()


with tempfile.TemporaryDirectory(prefix="tables-") as name:
    write_models(CONFIG, pathlib.Path(name))
    (HERE / "llama_cpp.log").write_bytes(said(pathlib.Path(name), DEFAULT))
    (HERE / "llama_cpp_trace.log.gz").write_bytes(gzip.compress(said(pathlib.Path(name), TRACE), mtime=0))
