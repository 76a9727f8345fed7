#include "serving/advisor/model_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "serving/advisor/head_config.hpp"

namespace speclab {

namespace {

namespace fs = std::filesystem;

/// Model types whose feed-forward blocks have two matrices, and types that share one matrix between input and
/// output unless the config says otherwise, by the defaults of Hugging Face Transformers.
const std::set<std::string> plain_types{"gpt2",   "gpt_neo", "gpt_neox",    "gptj",       "opt", "bloom",
                                        "falcon", "phi",     "gpt_bigcode", "starcoder2", "mpt", "codegen"};
const std::set<std::string> tied_types{"gpt2",  "gpt_neo", "opt",    "bloom",       "falcon", "gpt_bigcode",
                                       "gemma", "gemma2",  "gemma3", "gemma3_text", "t5",     "mpt"};

void add_window(Transformer& model, const ModelKeys& keys) {
  const auto window = keys.dimension({"sliding_window"});
  if (!window || *window == 0 || !keys.flag("use_sliding_window", true)) return;
  model.window = *window;
  model.windowed_layers = model.layers;
  if (keys.has("layer_types") && keys.object["layer_types"].is_array()) {
    const Json& types = keys.object["layer_types"];
    model.windowed_layers =
        static_cast<int>(std::count(types.begin(), types.end(), Json("sliding_attention")));
  } else if (keys.text("model_type") == "gemma2") {
    model.windowed_layers = model.layers / 2;
  }
}

void add_experts(Transformer& model, const ModelKeys& keys) {
  const auto experts = keys.dimension({"num_local_experts", "num_experts", "n_routed_experts"});
  if (!experts || *experts < 2) return;
  model.experts = *experts;
  model.active_experts = keys.required({"num_experts_per_tok", "experts_per_token", "moe_topk"});
  if (model.active_experts > model.experts) {
    throw UsageError("{}: {} experts a token of {}", keys.file, model.active_experts, model.experts);
  }
  model.dense_feed_forward = model.feed_forward;
  model.dense_layers = keys.dimension({"first_k_dense_replace"}).value_or(0);
  if (model.dense_layers > model.layers)
    keys.refuse("first_k_dense_replace", fmt::format("{} of {} layers", model.dense_layers, model.layers));
  if (const auto size = keys.dimension({"moe_intermediate_size"}); size && *size > 0) {
    model.feed_forward = *size;
  }
  // A config states either the width of the shared experts (Qwen2-MoE) or their number, at the common width.
  constexpr int max_width = 100'000'000;
  const int shared = keys.dimension({"n_shared_experts"}).value_or(0);
  if (shared > max_width / std::max(model.feed_forward, 1))
    keys.refuse("n_shared_experts", fmt::format("{} experts of {} numbers", shared, model.feed_forward));
  model.shared_feed_forward =
      keys.dimension({"shared_expert_intermediate_size"}).value_or(shared * model.feed_forward);
}

/// Throws for attention whose work and cache the roofline would get wrong: sparse (DeepSeek-V3.2) and linear
/// (Qwen3-Next, Qwen3.5).
void refuse_unknown_attention(const ModelKeys& keys) {
  if (keys.dimension({"index_topk"}).value_or(0) > 0)
    keys.refuse("index_topk", "the roofline does not know sparse attention; give measured times");
  if (keys.dimension({"linear_num_value_heads"}).value_or(0) > 0)
    keys.refuse("linear_num_value_heads", "the roofline does not know linear attention; give measured times");
}

void add_latent_attention(Transformer& model, const ModelKeys& keys) {
  model.latent.rank = keys.dimension({"kv_lora_rank"}).value_or(0);
  if (model.latent.rank == 0) return;
  model.latent.query_rank = keys.dimension({"q_lora_rank"}).value_or(0);
  model.latent.plain = keys.required({"qk_nope_head_dim"});
  model.latent.rotary = keys.required({"qk_rope_head_dim"});
  model.latent.value = keys.required({"v_head_dim"});
}

}  // namespace

bool is_model_config(const std::string& name) {
  std::error_code ignored;
  return name.ends_with(".json") || fs::is_directory(name, ignored);
}

Transformer model_from_config(const std::string& name) {
  const std::string file = name.ends_with(".json") ? name : (fs::path(name) / "config.json").string();
  const Json whole = in_file(file, [&] { return parse_json(read_text(file)); });
  if (!whole.is_object()) throw UsageError(file + ": expected an object, the config.json of a model");
  const bool nested =
      whole.contains("text_config") && whole["text_config"].is_object() && !whole.contains("hidden_size");
  const ModelKeys keys{nested ? whole["text_config"] : whole, file};
  const ModelKeys outer{whole, file};
  const HeadKind head = head_kind(keys);
  refuse_unknown_attention(keys);
  const std::string type = keys.text("model_type");
  Transformer model = head == HeadKind::medusa ? medusa_heads(keys) : Transformer{};
  model.repository = outer.text("_name_or_path");
  // Servers also accept the folder.
  if (model.repository.empty()) model.repository = fs::path(file).parent_path().string();
  if (model.repository.empty()) model.repository = ".";
  model.name = model.repository;
  model.source = file;
  if (head == HeadKind::medusa) return model;
  model.layers =
      keys.required({"num_hidden_layers", "num_decoder_layers", "n_layer", "n_layers", "num_layers"});
  model.hidden = keys.required({"hidden_size", "d_model", "n_embd"});
  model.heads = keys.required({"num_attention_heads", "num_heads", "n_head", "n_heads"});
  model.kv_heads =
      keys.dimension({"num_key_value_heads"}).value_or(keys.flag("multi_query", false) ? 1 : model.heads);
  model.head_size = keys.dimension({"head_dim", "d_kv"}).value_or(model.hidden / model.heads);
  model.feed_forward =
      keys.dimension({"intermediate_size", "d_ff", "n_inner", "ffn_dim"}).value_or(4 * model.hidden);
  model.vocab = keys.required({"vocab_size"});
  if (model.kv_heads < 1 || model.kv_heads > model.heads) {
    throw UsageError("{}: /num_key_value_heads: {}; expected 1 to {}", file, model.kv_heads, model.heads);
  }
  model.gated =
      type == "t5" ? keys.text("feed_forward_proj").starts_with("gated") : plain_types.count(type) == 0;
  model.tied =
      keys.flag("tie_word_embeddings", outer.flag("tie_word_embeddings", tied_types.count(type) > 0));
  if (outer.flag("is_encoder_decoder", false))
    model.encoder_layers = keys.required({"num_layers", "encoder_layers"});
  // The keys are those of DeepSeek-V3, GLM-4.5 and MiMo; of Qwen3.5; and of MiniMax-M3, as vLLM 0.33 reads
  // them (config/speculative.py).
  model.mtp_modules =
      keys.dimension({"num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules"}).value_or(0);
  add_window(model, keys);
  add_experts(model, keys);
  add_latent_attention(model, keys);
  add_head(model, head, keys);
  return model;
}

}  // namespace speclab
