"""Puts the package's sources on the path, over a built library: the one that SPECLAB_KERNELS_LIBRARY names, or the build tree's."""
import os
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(SOURCE / "kernels/python"), str(SOURCE / "scripts"), str(Path(__file__).parent)]
os.environ.setdefault("SPECLAB_KERNELS_LIBRARY", str(SOURCE / "build/release/kernels/libspeclab_kernels.so"))
