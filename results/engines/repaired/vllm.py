"""vLLM on a CPU with the wrapper repaired that drops its sampling parameters (../vllm.md)."""

import dataclasses
import os

from . import vllm


def repaired(output, values, ends, replace_from, replace_to, MAX_NUM_TOKENS=None):
    """The value of each request, once for each of its tokens."""
    output.copy_(values.where(values != replace_from, replace_to).repeat_interleave(ends.diff(prepend=ends.new_zeros(1))))


def load(settings):
    os.environ |= vllm.ENVIRONMENT
    from vllm.utils import cpu_triton_utils

    cpu_triton_utils._expand_kernel_impl = repaired
    return vllm.load(settings)


ENGINE = dataclasses.replace(vllm.ENGINE, title="vLLM, repaired", load=load)
