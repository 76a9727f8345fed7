#include "serving/advisor/model_config.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "serving/advisor/head_config.hpp"
#include "serving/advisor/layer_kinds.hpp"
#include "serving/advisor/stored_numbers.hpp"

namespace speclab {

namespace {

namespace fs = std::filesystem;

/// Model types whose feed-forward blocks have two matrices, and types that share one matrix between input and
/// output unless the config says otherwise, by the defaults of Hugging Face Transformers.
const std::set<std::string> plain_types{"gpt2",   "gpt_neo", "gpt_neox",    "gptj",       "opt", "bloom",
                                        "falcon", "phi",     "gpt_bigcode", "starcoder2", "mpt", "codegen"};
const std::set<std::string> tied_types{"gpt2",  "gpt_neo", "opt",    "bloom",       "falcon", "gpt_bigcode",
                                       "gemma", "gemma2",  "gemma3", "gemma3_text", "t5",     "mpt"};

/// Types whose feed-forward blocks have three matrices.
const std::set<std::string> gated_types{"llama",
                                        "mistral",
                                        "mixtral",
                                        "qwen2",
                                        "qwen2_moe",
                                        "qwen3",
                                        "qwen3_moe",
                                        "qwen3_vl_text",
                                        "qwen3_vl_moe_text",
                                        "qwen2_vl",
                                        "qwen2_vl_text",
                                        "qwen2_5_vl",
                                        "qwen2_5_vl_text",
                                        "gemma",
                                        "gemma2",
                                        "gemma3",
                                        "gemma3_text",
                                        "gemma3n_text",
                                        "cohere",
                                        "cohere2",
                                        "phi3",
                                        "phimoe",
                                        "deepseek_v2",
                                        "deepseek_v3",
                                        "kimi_k2",
                                        "glm",
                                        "glm4",
                                        "glm4_moe",
                                        "gpt_oss",
                                        "minimax_m2",
                                        "mimo",
                                        "olmo",
                                        "olmo2",
                                        "olmoe",
                                        "granite",
                                        "granitemoe",
                                        "exaone4",
                                        "internlm2",
                                        "stablelm",
                                        "smollm3",
                                        "llama4_text",
                                        "seed_oss",
                                        "medusa"};

/// Returns whether feed-forward blocks have three matrices. For a model type that is not known the activation
/// decides: models with SiLU have a gate, those with squared ReLU have none. A head without activation is a
/// Llama layer. Throws UsageError for others.
bool has_gate(const ModelKeys& keys, const std::string& type, bool head) {
  std::string activation = keys.text("hidden_act");
  for (const char* key : {"hidden_activation", "mlp_hidden_act"}) {
    if (const std::string other = keys.text(key); !other.empty()) activation = other;
  }
  if (type == "t5") return keys.text("feed_forward_proj").starts_with("gated");
  if (plain_types.contains(type) || activation == "relu2") return false;
  if (gated_types.contains(type) || activation == "silu" || (head && activation.empty())) return true;
  keys.refuse(
      "model_type",
      fmt::format(
          "\"{}\" is not known, nor is \"{}\" as its activation, so that its feed-forward blocks may have two matrices or three; give --c or measured times (--target-times, --draft-times)",
          type, activation));
}

void add_latent_attention(Transformer& model, const ModelKeys& keys) {
  model.latent.rank = keys.dimension({"kv_lora_rank"}).value_or(0);
  if (model.latent.rank == 0) return;
  keys.has("qk_head_dim");  // the sum of the two below
  model.latent.query_rank = keys.dimension({"q_lora_rank"}).value_or(0);
  model.latent.plain = keys.required({"qk_nope_head_dim"});
  model.latent.rotary = keys.required({"qk_rope_head_dim"});
  model.latent.value = keys.required({"v_head_dim"});
}

/// Returns the key of the object that describes the language model: the text part of a model with several
/// kinds of input, or the layer of a head in the form of speculators; "" if it is the file's own.
const char* nested_part(const ModelKeys& outer) {
  if (outer.has("hidden_size")) return "";
  for (const char* part : {"text_config", "transformer_layer_config"}) {
    if (outer.has(part) && outer.object[part].is_object()) return part;
  }
  return "";
}

/// Replaces by null the numbers Infinity and NaN, which Python writes into JSON, outside of texts.
std::string without_infinity(std::string text) {
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && quoted) {
      ++i;
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (!quoted) {
      for (const std::string_view word : {"-Infinity", "Infinity", "NaN"}) {
        if (text.compare(i, word.size(), word) == 0) text.replace(i, word.size(), "null");
      }
    }
  }
  return text;
}

Json json_of(const std::string& file) {
  const Json whole = in_file(file, [&] { return parse_json(without_infinity(read_text(file))); });
  if (!whole.is_object()) throw UsageError(file + ": expected an object, the config.json of a model");
  return whole;
}

/// Returns the numbers that ModelOpt states in a file of its own beside the config.json, if there is one.
std::optional<StoredNumbers> stored_beside(const std::string& config) {
  const std::string file = (fs::path(config).parent_path() / "hf_quant_config.json").string();
  if (!fs::exists(file)) return std::nullopt;
  const Json whole = json_of(file);
  return stored_numbers({whole, file}, "quantization");
}

/// Adds the sizes of layers and vocabulary, which every model has.
void add_sizes(Transformer& model, const ModelKeys& keys, const ModelKeys& outer, bool head) {
  const std::string type = keys.text("model_type");
  const bool encoder = outer.flag("is_encoder_decoder", false);
  if (encoder) model.encoder_layers = keys.required({"num_layers", "encoder_layers"});
  model.layers =
      encoder && keys.has("num_decoder_layers")
          ? keys.required({"num_decoder_layers"})
          : keys.required({"num_hidden_layers", "num_decoder_layers", "n_layer", "n_layers", "num_layers"});
  model.hidden = keys.required({"hidden_size", "d_model", "n_embd"});
  model.heads = keys.required({"num_attention_heads", "num_heads", "n_head", "n_heads"});
  model.kv_heads = keys.dimension({"num_key_value_heads", "num_kv_heads"})
                       .value_or(keys.flag("multi_query", false) ? 1 : model.heads);
  model.head_size = keys.dimension({"head_dim", "d_kv"}).value_or(model.hidden / model.heads);
  model.feed_forward =
      keys.dimension({"intermediate_size", "d_ff", "n_inner", "ffn_dim"}).value_or(4 * model.hidden);
  model.vocab = keys.required({"vocab_size"});
  if (model.kv_heads < 1 || model.kv_heads > model.heads) {
    throw UsageError("{}: /num_key_value_heads: {}; expected 1 to {}", keys.file, model.kv_heads,
                     model.heads);
  }
  model.gated = has_gate(keys, type, head);
  model.tied =
      keys.flag("tie_word_embeddings", outer.flag("tie_word_embeddings", tied_types.count(type) > 0));
}

/// Adds modules for multi-token prediction. The keys are those of DeepSeek-V3, GLM-4.5 and MiMo; of Qwen3.5;
/// and of MiniMax-M2, as vLLM 0.33 reads them (config/speculative.py).
void add_modules(Transformer& model, const ModelKeys& keys) {
  model.mtp_modules =
      keys.dimension({"num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules"}).value_or(0);
  if (const int layers = keys.dimension({"mtp_transformer_layers"}).value_or(1); layers != 1)
    keys.refuse("mtp_transformer_layers", fmt::format("{}; modules of one layer are known", layers));
  keys.flag("use_mtp", true);
}

}  // namespace

bool is_model_config(const std::string& name) {
  std::error_code ignored;
  return name.ends_with(".json") || fs::is_directory(name, ignored);
}

Transformer model_from_config(const std::string& name) {
  const std::string file = name.ends_with(".json") ? name : (fs::path(name) / "config.json").string();
  const Json whole = json_of(file);
  const ModelKeys outer{whole, file};
  const char* const part = nested_part(outer);
  const ModelKeys keys = *part == '\0' ? outer : ModelKeys{whole[part], file, std::string("/") + part};
  const HeadKind head = head_kind(outer, keys);
  Transformer model = head == HeadKind::medusa ? medusa_heads(keys) : Transformer{};
  model.repository = outer.text("_name_or_path");
  // Servers also accept the folder, if it is that of the model.
  const fs::path path(file);
  if (model.repository.empty() && path.filename() == "config.json")
    model.repository = path.parent_path().string();
  model.name = model.repository.empty() ? path.stem().string() : model.repository;
  model.source = file;
  if (head == HeadKind::medusa) return model;
  add_sizes(model, keys, outer, head != HeadKind::none);
  add_modules(model, keys);
  add_experts(model, keys);
  add_latent_attention(model, keys);
  add_windows(model, keys);
  const StoredNumbers stored = stored_beside(file).value_or(
      stored_numbers(outer.has("quantization_config") ? outer : keys, "quantization_config"));
  model.stored_weights = stored.weights;
  model.eight_bit_cache = stored.eight_bit_cache;
  add_head(model, head, outer, keys);
  keys.has("architectures");
  keys.refuse_unknown();
  return model;
}

}  // namespace speclab
