#!/usr/bin/env python3
"""Writes a GGUF file of configs/neural as a folder that transformers loads: a Llama model in f32 and its tokenizer.

usage: gguf_to_hf.py FILE.gguf FOLDER

Needs numpy, torch and transformers. With it scripts/record_hf.py, and anything else of that library, runs on the pair.
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from pair import bpe, gguf_file  # noqa: E402

NAMES = {"attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
         "attn_output": "self_attn.o_proj", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
         "ffn_down": "mlp.down_proj", "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm"}


def halves(matrix, heads):
    """Rows of a head in the order of transformers, whose RoPE turns the pairs (i, i + head/2), not (2i, 2i + 1)."""
    rows, columns = matrix.shape
    return matrix.reshape(heads, rows // heads // 2, 2, columns).swapaxes(1, 2).reshape(rows, columns)


def converted(file):
    """The model of a GgufFile."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM
    values, heads = file.values, file.values["llama.attention.head_count"]
    model = LlamaForCausalLM(LlamaConfig(
        vocab_size=len(values["tokenizer.ggml.tokens"]), hidden_size=values["llama.embedding_length"],
        intermediate_size=values["llama.feed_forward_length"], num_hidden_layers=values["llama.block_count"],
        num_attention_heads=heads, num_key_value_heads=values["llama.attention.head_count_kv"],
        max_position_embeddings=values["llama.context_length"], rms_norm_eps=values["llama.attention.layer_norm_rms_epsilon"],
        rope_theta=values["llama.rope.freq_base"], tie_word_embeddings=True,
        bos_token_id=values["tokenizer.ggml.bos_token_id"], eos_token_id=values["tokenizer.ggml.eos_token_id"]))
    state = {"model.embed_tokens.weight": file.tensors["token_embd.weight"],
             "lm_head.weight": file.tensors["token_embd.weight"], "model.norm.weight": file.tensors["output_norm.weight"]}
    for name, tensor in file.tensors.items():
        if name.startswith("blk."):
            _, layer, part, _ = name.split(".")
            tensor = halves(tensor, heads) if part in ("attn_q", "attn_k") else tensor
            state[f"model.layers.{layer}.{NAMES[part]}.weight"] = tensor
    model.load_state_dict({name: torch.from_numpy(tensor.copy()) for name, tensor in state.items()})
    return model.eval()


def write(file, folder):
    folder.mkdir(parents=True, exist_ok=True)
    converted(file).save_pretrained(folder)
    tokens, merges = file.values["tokenizer.ggml.tokens"], file.values["tokenizer.ggml.merges"]
    (folder / "vocab.json").write_text(json.dumps({token: i for i, token in enumerate(tokens)}), encoding="utf-8")
    (folder / "merges.txt").write_text("#version: 0.2\n" + "\n".join(merges) + "\n", encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps(
        {"tokenizer_class": "GPT2Tokenizer", "bos_token": bpe.END, "eos_token": bpe.END, "unk_token": bpe.END}))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    write(gguf_file.GgufFile(sys.argv[1]), pathlib.Path(sys.argv[2]))
