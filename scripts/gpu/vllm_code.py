#!/usr/bin/env python3
"""Compiles the kernels of vLLM's second model runner for sm_90, as they are launched for one request, and prints how much code they have.

    pip install triton==3.6.0; scripts/gpu/vllm_code.py RIVALS      RIVALS: what scripts/gpu/rivals.py unpacked

It needs neither torch nor a GPU, but cuobjdump and nvdisasm, as scripts/kernel_code.py does. Arguments are those of a batch of four drafted
tokens, 128,256 ids and bf16 rows, without options; all pointers are multiples of 16. "16-byte loads" are those in the text of the code.
Exit codes: 0; 2 Triton, vLLM's files or one of their arguments are missing; 77 a tool is missing.
"""
import argparse
import sys
import tempfile
import types
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import kernel_code  # noqa: E402
from verify_methods import vllm_files  # noqa: E402

GAMMA, VOCAB, TILE, BLOCK = 4, 128256, 8192, 1024
TILES, BLOCKS = -(-VOCAB // TILE), -(-VOCAB // BLOCK)
POINTERS = {"bf16": "target_logits draft_logits", "i64": "target_local_argmax sampled seed pos resampled_local_argmax",
            "i32": "expanded_idx_mapping expanded_local_pos draft_sampled cu_num_logits idx_mapping rejected_steps rejected_step num_sampled",
            "fp32": "target_local_max target_local_sumexp draft_local_max draft_local_sumexp temp target_rejected_logsumexp "
                    "draft_rejected_logsumexp resampled_local_max"}
TYPES = {f"{name}_ptr": f"*{kind}" for kind, names in POINTERS.items() for name in names.split()}
ROWS = ("target_local_argmax", "target_local_max", "target_local_sumexp", "draft_local_max", "draft_local_sumexp")
NUMBERS = {"target_logits_stride": VOCAB, "draft_logits_stride_0": GAMMA * VOCAB, "draft_logits_stride_1": VOCAB, "vocab_size": VOCAB,
           "num_logits": GAMMA + 1, "sampled_stride": GAMMA + 1, "vocab_num_blocks": TILES, "resample_num_blocks": BLOCKS, "contexts_stride": 0,
           "resampled_local_argmax_stride": BLOCKS, "resampled_local_max_stride": BLOCKS, "local_residual_mass_stride": 0,
           "watermark_key_0": 0, "watermark_key_1": 0, "fly_entropy_threshold": 0.3, **{f"{row}_stride": TILES for row in ROWS}}
CONSTANTS = {"BLOCK_SIZE": TILE, "HAS_DRAFT_LOGITS": True, "PADDED_VOCAB_NUM_BLOCKS": TILES, "PADDED_RESAMPLE_NUM_BLOCKS": 128,
             "SYNTHETIC_MODE": False, "USE_BLOCK_VERIFICATION": False, "FLY_WINDOW_SIZE": 0, "USE_FP64": False, "CONTEXT_WIDTH": 1,
             "WATERMARK": False, "DEDUPLICATE_CONTEXTS": False}
# Pointers of options that are not used.
ABSENT = {"synthetic_conditional_rates_ptr", "cumulative_log_p_ptr", "local_residual_mass_ptr", "fly_entropy_ptr", "contexts_ptr",
          "watermarking_ptr", "watermarking_skip_mask_ptr"}
# In the order of their launches: warps of a block, blocks for one request, and constants of its own.
LAUNCHES = {"_compute_local_logits_stats_kernel": (4, (GAMMA + 1) * TILES, {}), "_rejection_kernel": (1, 1, {}),
            "_resample_kernel": (4, BLOCKS, {"BLOCK_SIZE": BLOCK}), "_insert_resampled_kernel": (4, 1, {})}


def compiled(kernel, warps, own):
    """The cubin, specialised as Triton specialises a launch: for multiples of 16, and for 1 as a constant."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    signature, constants, multiples = {}, {}, {}
    for place, name in enumerate(kernel.arg_names):
        values = {**CONSTANTS, **own, **NUMBERS, **dict.fromkeys(ABSENT)}
        if name in TYPES or name in NUMBERS:
            value = values.get(name)
            signature[name] = TYPES.get(name) or ("fp32" if isinstance(value, float) else "i32")
            if name in TYPES or value % 16 == 0:
                multiples[(place,)] = [["tt.divisibility", 16]]
        elif name in values:
            signature[name], constants[(place,)] = "constexpr", values[name]
        else:
            raise ValueError(f"{kernel.__name__} has an argument {name}, which this script does not know: it was made for vLLM 0.33.0")
    source = ASTSource(kernel, signature, constants, multiples)
    return triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": warps}).asm["cubin"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rivals", type=Path)
    options = parser.parse_args()
    try:
        import triton
        # vLLM's files import torch for what is not compiled here.
        sys.modules.setdefault("torch", vllm_files.StandIn("torch")).compile = lambda function, **_: function
        module, = vllm_files.load(options.rivals, vllm_files.MODEL_RUNNER)
        rows = [("kernel", "warps", "blocks", "registers", "instructions", "KB", "16-byte loads", "barriers")]
        for name, (warps, blocks, own) in LAUNCHES.items():
            with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
                file.write(compiled(getattr(module, name), warps, own))
                file.flush()
                registers = kernel_code.cuobjdump(file.name, "-res-usage").split("REG:")[1].split()[0]
                lines = kernel_code.lines_of(kernel_code.cuobjdump(file.name, "-sass"))
            rows.append((name, warps, blocks, registers, len(lines), f"{len(lines) * 16 / 1024:.1f}", sum(map(kernel_code.is_vector_load, lines)),
                         sum(line.opcode.startswith("BAR") for line in lines)))
    except ImportError as error:
        parser.error(f"{error}: pip install triton==3.6.0")
    except (OSError, AttributeError, ValueError) as error:
        parser.error(str(error))
    print(f"Triton {triton.__version__}")
    kernel_code.print_table(rows)


if __name__ == "__main__":
    sys.exit(main())
