"""Verifies drafted tokens exactly, for programs that have logits in torch tensors.

    from speclab_kernels import verify
    result = verify(target, draft, drafted, uniforms)      # on the tensors' device: a GPU, or the CPU
    result.tokens                                          # [B, gamma + 1] int32: accepted tokens, the next one, then -1

For many steps in the same tensors use speclab_kernels.prepare, for draft trees speclab_kernels.verify_tree.
Drop-in functions: speclab_kernels.hugging_face.speculative_sampling, speclab_kernels.vllm.rejection_sample,
speclab_kernels.vllm_model_runner.rejection_sample, speclab_kernels.flashinfer.chain_speculative_sampling.
"""
from .c_library import Library, SpeclabError, library

__all__ = ["Library", "Prepared", "SpeclabError", "Verified", "VerifiedTree", "addresses", "library", "prepare", "verify", "verify_tree"]


def __getattr__(name):
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # torch is imported with the first name that needs it, because c_library works without it.
    try:
        from . import torch_operator, tree_operator
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"speclab_kernels.{name} needs torch 2.4 or later ({error}): pip install torch") from None
    return getattr(torch_operator, name, None) or getattr(tree_operator, name)
