#include "experiments/advisor/model_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/predicate.hpp>
#include <filesystem>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "experiments/format/config_error.hpp"
#include "experiments/format/json_io.hpp"

namespace speclab {

namespace {

namespace fs = std::filesystem;

/// The first of these keys that holds a number; none when each is missing or null.
std::optional<int> dimension(const Json& config, const std::string& file,
                             std::initializer_list<const char*> keys) {
  constexpr double most = 1e8;
  for (const char* key : keys) {
    if (!config.contains(key) || config[key].is_null()) continue;
    const Json& value = config[key];
    const double number = value.is_number() ? value.get<double>() : -1;
    if (!(number >= 0 && number <= most) || number != static_cast<int>(number)) {
      throw UsageError(fmt::format("{}: /{}: {}; expected an integer of 0 or more", file, key,
                                   value.dump().substr(0, 60)));
    }
    return static_cast<int>(number);
  }
  return std::nullopt;
}

int required(const Json& config, const std::string& file, std::initializer_list<const char*> keys) {
  const auto value = dimension(config, file, keys);
  if (value && *value > 0) return *value;
  throw UsageError(
      fmt::format("{}: /{}: missing; expected the config.json of a language model", file, *keys.begin()));
}

bool flag(const Json& config, const char* key, bool otherwise) {
  return config.contains(key) && config[key].is_boolean() ? config[key].get<bool>() : otherwise;
}

std::string text_of(const Json& config, const char* key) {
  return config.contains(key) && config[key].is_string() ? config[key].get<std::string>() : "";
}

/// Types whose feed-forward blocks have two matrices, and those that share one matrix between input and
/// output unless they say otherwise, by the defaults of Hugging Face Transformers.
const std::set<std::string> plain_types{"gpt2",   "gpt_neo", "gpt_neox",    "gptj",       "opt", "bloom",
                                        "falcon", "phi",     "gpt_bigcode", "starcoder2", "mpt", "codegen"};
const std::set<std::string> tied_types{"gpt2",  "gpt_neo", "opt",    "bloom",       "falcon", "gpt_bigcode",
                                       "gemma", "gemma2",  "gemma3", "gemma3_text", "t5",     "mpt"};

void add_window(Transformer& model, const Json& config, const std::string& file) {
  const auto window = dimension(config, file, {"sliding_window"});
  if (!window || *window == 0 || !flag(config, "use_sliding_window", true)) return;
  model.window = *window;
  model.windowed_layers = model.layers;
  if (config.contains("layer_types") && config["layer_types"].is_array()) {
    const Json& types = config["layer_types"];
    model.windowed_layers =
        static_cast<int>(std::count(types.begin(), types.end(), Json("sliding_attention")));
  } else if (text_of(config, "model_type") == "gemma2") {
    model.windowed_layers = model.layers / 2;
  }
}

void add_experts(Transformer& model, const Json& config, const std::string& file) {
  const auto experts = dimension(config, file, {"num_local_experts", "num_experts", "n_routed_experts"});
  if (!experts || *experts < 2) return;
  model.experts = *experts;
  model.active_experts = required(config, file, {"num_experts_per_tok", "experts_per_token", "moe_topk"});
  if (model.active_experts > model.experts) {
    throw UsageError(fmt::format("{}: {} experts a token of {}", file, model.active_experts, model.experts));
  }
  if (const auto size = dimension(config, file, {"moe_intermediate_size"}); size && *size > 0) {
    model.feed_forward = *size;
  }
  // Experts that every token uses are of the same size in the models that count them.
  const int shared = dimension(config, file, {"n_shared_experts"}).value_or(0);
  model.experts += shared;
  model.active_experts += shared;
}

/// "LlamaForCausalLMEagle3" and its like; empty without one.
std::string architecture(const Json& config) {
  if (!config.contains("architectures") || !config["architectures"].is_array()) return "";
  const Json& names = config["architectures"];
  return names.size() == 1 && names[0].is_string() ? names[0].get<std::string>() : "";
}

/// EAGLE-3 (Li et al. 2025; cnets.py of its authors): one layer, whose attention reads the embedding of a
/// token beside the hidden state; `fc` makes that state of three of the target's; outputs for the most
/// frequent tokens.
void add_head(Transformer& model, const Json& config, const std::string& file) {
  const std::string name = architecture(config);
  const auto outputs = dimension(config, file, {"draft_vocab_size"});
  const bool eagle = boost::algorithm::icontains(name, "eagle");
  if (!eagle && !outputs) return;
  if (!boost::algorithm::icontains(name, "eagle3")) {
    throw UsageError(fmt::format(
        "{}: /architectures: \"{}\" is a draft head whose cost is not known, only those of EAGLE-3 "
        "are; give --c or measured times",
        file, name));
  }
  if (model.layers != 1) {
    throw UsageError(fmt::format("{}: /num_hidden_layers: {}; an EAGLE-3 head has 1", file, model.layers));
  }
  constexpr int fused_states = 3;
  model.fused = fused_states * dimension(config, file, {"target_hidden_size"}).value_or(model.hidden);
  model.draft_vocab = outputs.value_or(model.vocab);
  if (model.draft_vocab < 1 || model.draft_vocab > model.vocab) {
    throw UsageError(
        fmt::format("{}: /draft_vocab_size: {}; expected 1 to {}", file, model.draft_vocab, model.vocab));
  }
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
  const Json& config = nested ? whole["text_config"] : whole;
  if (dimension(config, file, {"kv_lora_rank"}).value_or(0) > 0) {
    throw UsageError(
        file +
        ": /kv_lora_rank: the roofline does not know the cache of latent attention; give measured times");
  }
  const std::string type = text_of(config, "model_type");
  Transformer model;
  model.repository = text_of(whole, "_name_or_path");
  // Servers take the folder as well.
  if (model.repository.empty()) model.repository = fs::path(file).parent_path().string();
  if (model.repository.empty()) model.repository = ".";
  model.name = model.repository;
  model.source = file;
  model.layers = required(config, file,
                          {"num_hidden_layers", "num_decoder_layers", "n_layer", "n_layers", "num_layers"});
  model.hidden = required(config, file, {"hidden_size", "d_model", "n_embd"});
  model.heads = required(config, file, {"num_attention_heads", "num_heads", "n_head", "n_heads"});
  model.kv_heads = dimension(config, file, {"num_key_value_heads"})
                       .value_or(flag(config, "multi_query", false) ? 1 : model.heads);
  model.head_size = dimension(config, file, {"head_dim", "d_kv"}).value_or(model.hidden / model.heads);
  model.feed_forward =
      dimension(config, file, {"intermediate_size", "d_ff", "n_inner", "ffn_dim"}).value_or(4 * model.hidden);
  model.vocab = required(config, file, {"vocab_size"});
  if (model.kv_heads < 1 || model.kv_heads > model.heads) {
    throw UsageError(
        fmt::format("{}: /num_key_value_heads: {}; expected 1 to {}", file, model.kv_heads, model.heads));
  }
  model.gated =
      type == "t5" ? text_of(config, "feed_forward_proj").starts_with("gated") : plain_types.count(type) == 0;
  model.tied =
      flag(config, "tie_word_embeddings", flag(whole, "tie_word_embeddings", tied_types.count(type) > 0));
  if (flag(whole, "is_encoder_decoder", false)) {
    model.encoder_layers = required(config, file, {"num_layers", "encoder_layers"});
  }
  add_window(model, config, file);
  add_experts(model, config, file);
  add_head(model, config, file);
  return model;
}

}  // namespace speclab
