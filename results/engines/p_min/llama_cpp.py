"""llama.cpp with p_min = 0.55: a draft stops before a token that it gives a smaller probability."""

import dataclasses

from . import llama_cpp

speculate = llama_cpp.speculate


def stopping(speculative, settings, kinds):
    speculate(speculative, settings, kinds)
    speculative.draft.p_min = 0.55


llama_cpp.speculate = stopping
ENGINE = dataclasses.replace(llama_cpp.ENGINE, title="llama.cpp, p_min 0.55", ways=llama_cpp.ENGINE.ways[:2])
