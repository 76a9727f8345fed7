"""Writes a model of the Llama architecture as a folder that transformers, vLLM, MLX and LitGPT load: config.json and
model.safetensors, in f32."""

import json
import struct

NAMES = {"attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
         "attn_output": "self_attn.o_proj", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
         "ffn_down": "mlp.down_proj", "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm"}


def halves(matrix, heads):
    """Rows of a head in the order of transformers, whose RoPE rotates the pairs (i, i + head/2), not (2i, 2i + 1)."""
    rows, columns = matrix.shape
    return matrix.reshape(heads, rows // heads // 2, 2, columns).swapaxes(1, 2).reshape(rows, columns)


def settings(values):
    """Returns config.json for a GGUF file's values."""
    heads, width = values["llama.attention.head_count"], values["llama.embedding_length"]
    return {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": len(values["tokenizer.ggml.tokens"]),
            "hidden_size": width, "intermediate_size": values["llama.feed_forward_length"],
            "num_hidden_layers": values["llama.block_count"], "num_attention_heads": heads,
            "num_key_value_heads": values.get("llama.attention.head_count_kv", heads), "head_dim": width // heads,
            "max_position_embeddings": values["llama.context_length"], "rms_norm_eps": values["llama.attention.layer_norm_rms_epsilon"],
            "rope_theta": values.get("llama.rope.freq_base", 10000.0), "tie_word_embeddings": False,
            "bos_token_id": values["tokenizer.ggml.bos_token_id"], "eos_token_id": values["tokenizer.ggml.eos_token_id"],
            "hidden_act": "silu", "torch_dtype": "float32"}


def weights(file):
    """{name: f32 array} of a GgufFile. If the file has no output matrix, the embedding replaces it."""
    values, embedding = file.values, file.tensors["token_embd.weight"]
    heads = values["llama.attention.head_count"]
    turned = {"attn_q": heads, "attn_k": values.get("llama.attention.head_count_kv", heads)}
    made = {"model.embed_tokens.weight": embedding, "lm_head.weight": file.tensors.get("output.weight", embedding),
            "model.norm.weight": file.tensors["output_norm.weight"]}
    for name, tensor in file.tensors.items():
        if name.startswith("blk."):
            _, layer, part, _ = name.split(".")
            made[f"model.layers.{layer}.{NAMES[part]}.weight"] = halves(tensor, turned[part]) if part in turned else tensor
    return made


def safetensors(parts):
    """Writes (name, shape, bytes of f32) in the format of https://github.com/huggingface/safetensors#format."""
    described, offset = {"__metadata__": {"format": "pt"}}, 0
    for name, shape, data in parts:
        described[name] = {"dtype": "F32", "shape": shape, "data_offsets": [offset, offset + len(data)]}
        offset += len(data)
    head = json.dumps(described).encode()
    head += b" " * (-len(head) % 8)
    return struct.pack("<Q", len(head)) + head + b"".join(data for *_, data in parts)


def files(file):
    """{name: bytes} of a GgufFile as a folder."""
    parts = [(name, tensor.shape, tensor.astype("<f4").tobytes()) for name, tensor in weights(file).items()]
    return {"config.json": (json.dumps(settings(file.values), indent=1) + "\n").encode(), "model.safetensors": safetensors(parts)}


def write(file, folder):
    """Writes a GgufFile as a folder, which is created."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files(file).items():
        (folder / name).write_bytes(content)
