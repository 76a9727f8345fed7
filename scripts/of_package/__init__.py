"""Modules of the package that need nothing of it but numpy, for scripts that run without it."""

import pathlib

SPECLAB = pathlib.Path(__file__).resolve().parents[2] / "python/speclab"
__path__ += [str(SPECLAB / "_gguf"), str(SPECLAB / "_recorders")]
