"""The neural pair of configs/neural: modules that train, read and write it. The modules that need only numpy are the
package's own."""

import pathlib

__path__.append(str(pathlib.Path(__file__).resolve().parents[2] / "python/speclab/_gguf"))
