"""Models in GGUF files, read and run with numpy alone: rows that owe nothing to an engine. scripts/pair uses it, too."""
