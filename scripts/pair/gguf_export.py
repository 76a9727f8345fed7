"""Writes a model of llama_jax as a GGUF file that libllama loads."""

import gguf
import numpy as np

from pair import bpe, llama_jax, texts

NAMES = {"q": "attn_q", "k": "attn_k", "v": "attn_v", "o": "attn_output", "gate": "ffn_gate", "up": "ffn_up",
         "down": "ffn_down", "norm1": "attn_norm", "norm2": "ffn_norm"}


def tensor_name(name):
    if "." not in name:
        return {"embed": "token_embd.weight", "norm": "output_norm.weight"}[name]
    layer, part = name.split(".")
    return f"blk.{layer}.{NAMES[part]}.weight"


def add_own_tokenizer(writer, tokenizer):
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokenizer.tokens)
    kinds = [gguf.TokenType.CONTROL if token == bpe.END else gguf.TokenType.NORMAL for token in tokenizer.tokens]
    writer.add_token_types(kinds)
    writer.add_token_merges([" ".join(pair) for pair in tokenizer.merges])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(0)
    writer.add_add_bos_token(False)


def add_tokenizer_of(writer, fields):
    """Writes the tokenizer of another file."""
    for key, field in fields.items():
        if key.startswith("tokenizer."):
            writer.add_key_value(key, field.contents(), field.types[0], field.types[-1] if len(field.types) > 1 else None)


def write(path, name, parameters, shape, tokenizer, context):
    """Writes matrices in q8_0 and norms in f32. The output matrix is the embedding: libllama uses it for a file that has no
    other. `tokenizer` is a bpe.Tokenizer, or all fields of the target's file, whose tokenizer and licence the new file gets."""
    own = isinstance(tokenizer, bpe.Tokenizer)
    said = {} if own else {key: field.contents() for key, field in tokenizer.items() if key in ("general.name", "general.license")}
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name(f"speclab {name}")
    if own or "general.license" in said:
        writer.add_license(said.get("general.license", "apache-2.0"))
    writer.add_description("Trained by scripts/train_pair.py of speclab on " +
                           ("" if own else f"text and rows of {said.get('general.name', 'a given target')}; ") +
                           "; ".join(f"{source.title}: {source.licence}" for source in texts.SOURCES))
    writer.add_context_length(context)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.inner)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.heads)
    writer.add_rope_dimension_count(shape.head)
    writer.add_rope_freq_base(llama_jax.ROPE_BASE)
    writer.add_layer_norm_rms_eps(llama_jax.EPSILON)
    writer.add_vocab_size(shape.vocab)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    if own:
        add_own_tokenizer(writer, tokenizer)
    else:
        add_tokenizer_of(writer, tokenizer)
    for parameter, value in sorted(parameters.items()):
        array = np.asarray(value, np.float32)
        if array.ndim == 1:
            writer.add_tensor(tensor_name(parameter), array)
        else:
            kind = gguf.GGMLQuantizationType.Q8_0
            writer.add_tensor(tensor_name(parameter), gguf.quants.quantize(array, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
