#!/usr/bin/env python3
"""Writes a GGUF file of configs/neural as a folder that transformers loads: a Llama model in f32 and its tokenizer.

usage: gguf_to_hf.py FILE.gguf FOLDER

Needs numpy. With the folder, scripts/record_hf.py and any other program based on transformers can run the pair.
"""

import json
import pathlib
import sys

from of_package import hf_folder, llama_numpy
from of_package.whole_file import one_line
from pair import bpe


def write(file, folder):
    tokens, merges = file.values["tokenizer.ggml.tokens"], file.values["tokenizer.ggml.merges"]
    hf_folder.write(file, folder)
    (folder / "vocab.json").write_text(json.dumps({token: i for i, token in enumerate(tokens)}), encoding="utf-8")
    (folder / "merges.txt").write_text("#version: 0.2\n" + "\n".join(merges) + "\n", encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps(
        {"tokenizer_class": "GPT2Tokenizer", "bos_token": bpe.END, "eos_token": bpe.END, "unk_token": bpe.END}))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with one_line():
        write(llama_numpy.Llama(sys.argv[1]).file, pathlib.Path(sys.argv[2]))
