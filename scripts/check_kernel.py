#!/usr/bin/env python3
"""Tests your own function that verifies drafted tokens, whether it launches a kernel or not.

    scripts/check_kernel.py FILE.py:FUNCTION

The names of its parameters say what it is given, for B requests; drafted_int32, uniforms_float32 and lengths_int32 ask for that type:
    target_logits or target_probs    [B, gamma + 1, V]
    draft_logits or draft_probs      [B, gamma, V]
    drafted                          [B, gamma] int64
    uniforms                         [B, gamma + 1] float64 in [0, 1): one for each position, then one for the next token; or
    seed                             a number, another one in each call; without either the function has its own randomness
    lengths                          [B] int64: drafted tokens of each request; without it all have gamma
It returns accepted and next, [B] integers each, or tokens [B, gamma + 1]: the accepted ones, the next one, and -1 after them. It may not change the
contents of its arguments. A file that imports
torch is given its tensors, any other NumPy's arrays; logits have each of --dtypes, probabilities are float32.

Decisions on edges and on shapes and strides of serving engines must be the definition's. A function with uniforms must make them for every
uniform that is further than --band from another outcome; without uniforms only decisions count that no uniform changes. The tokens of many requests
must have the exact law of Algorithm 1 of Leviathan et al. 2023 (Pearson's chi-squared). All tests of laws together reject a right function with a
probability of 1e-6; each prints the total variation that it finds with a probability of 0.99.

Exit codes: 0; 1 a difference was found; 2 wrong options, or no such function.
"""
import argparse
import os
import sys
from pathlib import Path

# The scripts are either packed for a GPU machine or in the repository.
SOURCE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(SOURCE / "kernels/python"))
from speclab_kernels import c_library  # noqa: E402
from verify_methods import mine  # noqa: E402


def library_of(option):
    """Returns the file of the library whose definition decides: the given one, that of the variable, or that of a build."""
    built = ("kernels/libspeclab_kernels.so", "build/release/kernels/libspeclab_kernels.so", "build/cuda/kernels/libspeclab_kernels.so")
    return option or os.environ.get("SPECLAB_KERNELS_LIBRARY") or next((str(SOURCE / name) for name in built if (SOURCE / name).is_file()), None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("function", metavar="FILE.py:FUNCTION")
    parser.add_argument("--library", help="libspeclab_kernels.so, whose definition decides (default: SPECLAB_KERNELS_LIBRARY, or the build's)")
    parser.add_argument("--dtypes", type=lambda text: text.split(","), metavar="TYPE,...", help="formats of logits (default: all that there are)")
    parser.add_argument("--device", help="of torch's tensors (default: cuda if there is one, else cpu)")
    parser.add_argument("--dense", action="store_true", help="leave out rows with gaps, for a function that must have dense tensors")
    parser.add_argument("--requests", type=int, default=100_000, help="in each test of a law; a twentieth with 8,209 ids (default %(default)s)")
    parser.add_argument("--band", type=float, default=2e-5, help="error of probabilities that may change a decision (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.requests < 20_000 or not 0 <= options.band < 1:
        parser.error("--requests is 20000 or more, and --band from 0 to below 1")
    library = library_of(options.library)
    if library is None:
        parser.error("--library: libspeclab_kernels.so is needed, and there is no build: cmake --build --preset release --target speclab_kernels_c")
    os.environ["SPECLAB_KERNELS_LIBRARY"] = library
    try:
        c_library.library()
        function = mine.Function(options.function)
        arrays = mine.Torch(options.seed, options.device) if "torch" in sys.modules else mine.NumPy(options.seed)
    except (c_library.SpeclabError, ImportError, OSError) as error:
        parser.error(str(error))
    dtypes = options.dtypes or (arrays.dtypes if len(function.probabilities) < 2 else ("float32",))
    if not all(dtype in arrays.dtypes for dtype in dtypes):
        parser.error(f"--dtypes {','.join(dtypes)}: {', '.join(arrays.dtypes)} are known to {arrays.name}")
    print(f"{function.signature}, {arrays.name}; {'its uniforms are given' if function.injected else 'it has its own randomness'}")
    failures = mine.check(function, arrays, dtypes, options.requests, options.band, options.seed,
                          (False,) if options.dense else (False, True))
    print(f"tests that failed: {failures}" if failures else "no difference was found")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
