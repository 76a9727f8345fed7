"""The neural pair of configs/neural: what trains, reads and writes it. Modules that need numpy alone are the package's own."""

import pathlib

__path__.append(str(pathlib.Path(__file__).resolve().parents[2] / "python/speclab/_gguf"))
