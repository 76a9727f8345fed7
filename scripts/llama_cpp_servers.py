"""Starts two servers of llama.cpp on the loopback address, which serve a model with speculation and without, and prints their addresses.

usage: llama_cpp_servers.py TARGET.gguf DRAFT.gguf PORT PLAIN_PORT     They run until they are interrupted; port 0 is any.

It needs xllamacpp: scripts/engines.sh llama_cpp makes build/engines/llama_cpp/bin/python.
"""

import signal
import sys

import xllamacpp


def server(target, port, draft=None):
    parameters = xllamacpp.CommonParams()
    parameters.model.path, parameters.port, parameters.endpoint_metrics, parameters.verbosity = target, port, True, 0
    parameters.n_parallel, parameters.n_ctx, parameters.cpuparams.n_threads = 4, 4 * 256, 1
    if draft is not None:
        parameters.speculative.types = [xllamacpp.common_speculative_type.COMMON_SPECULATIVE_TYPE_DRAFT_SIMPLE]
        speculative = parameters.speculative.draft
        speculative.mparams.path, speculative.n_max, speculative.p_min, speculative.probabilistic = draft, 3, 0.0, True
    return xllamacpp.Server(parameters)


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__.strip())
    target, draft, port, plain_port = sys.argv[1:]
    servers = server(target, int(port), draft), server(target, int(plain_port))
    print(*(one.listening_address for one in servers), flush=True)
    signal.pause()


if __name__ == "__main__":
    main()
