"""Reads models from GGUF files and runs them in numpy, so that their rows do not depend on an engine. Scripts use it, too."""
