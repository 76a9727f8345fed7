#include "serving/advisor/model_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "experiments/base/format/config_error.hpp"

namespace speclab {

namespace {

/// Returns the number of layers that have one block instead of experts: those that some key excludes.
int layers_without_experts(const Transformer& model, const ModelKeys& keys) {
  const int first = keys.dimension({"first_k_dense_replace", "moe_layer_start_index"}).value_or(0);
  const int last = keys.has("moe_layer_end_index") && keys.object["moe_layer_end_index"] == -1
                       ? model.layers - 1
                       : keys.dimension({"moe_layer_end_index"}).value_or(model.layers - 1);
  if (first > model.layers)
    keys.refuse("first_k_dense_replace", fmt::format("{} of {} layers", first, model.layers));
  // The key has a number, or a list with 0 or 1 for each layer.
  const bool listed = keys.has("moe_layer_freq") && keys.object["moe_layer_freq"].is_array();
  const int frequency = listed ? 1 : keys.dimension({"moe_layer_freq"}).value_or(1);
  const auto ones = listed ? keys.numbers("moe_layer_freq", model.layers) : std::vector<int>{};
  if (std::ranges::any_of(ones, [](int one) { return one != 0 && one != 1; }))
    keys.refuse("moe_layer_freq", "expected 0 or 1 for each layer");
  const int step =
      keys.dimension({"decoder_sparse_step", "interleave_moe_layer_step", "moe_layer_interval"}).value_or(1);
  const auto dense = keys.numbers("mlp_only_layers");
  for (const int layer : dense) {
    if (layer < 0 || layer >= model.layers)
      keys.refuse("mlp_only_layers", fmt::format("layer {} of {}", layer, model.layers));
  }
  const auto named = keys.numbers("moe_layers");
  const auto words = keys.texts("mlp_layer_types", model.layers);
  for (const std::string& word : words) {
    if (word != "dense" && word != "sparse")
      keys.refuse("mlp_layer_types", fmt::format("\"{}\"; known are dense and sparse", word));
  }
  const auto contains = [](const std::vector<int>& list, int layer) {
    return std::ranges::find(list, layer) != list.end();
  };
  const auto has_experts = [&](int layer) {
    // DeepSeek counts from layer 0; Qwen and Llama 4 from layer 1.
    if (layer < first || layer > last || (frequency > 0 && layer % frequency != 0) ||
        (step > 0 && (layer + 1) % step != 0))
      return false;
    const auto at = static_cast<std::size_t>(layer);
    return !contains(dense, layer) && (named.empty() || contains(named, layer)) &&
           (ones.empty() || ones[at] == 1) && (words.empty() || words[at] == "sparse");
  };
  int without = 0;
  for (int layer = 0; layer < model.layers; ++layer) without += has_experts(layer) ? 0 : 1;
  return without;
}

/// Returns the width of the block that every token uses. Some configs state it; others state the number of
/// shared experts, which are as wide as the other experts. Llama 4 has one shared expert, although no key
/// says so; Gemma 4 has a dense block beside its experts.
int shared_width(const Transformer& model, const ModelKeys& keys, int own) {
  constexpr int max_width = 100'000'000;
  const std::string type = keys.text("model_type");
  if (type == "gemma4_text") return own;
  const int shared = keys.dimension({"n_shared_experts", "num_shared_experts", "moe_num_shared_experts",
                                     "num_shared_expert"})
                         .value_or(type.starts_with("llama4") ? 1 : 0);
  if (shared > max_width / std::max(model.feed_forward, 1))
    keys.refuse("n_shared_experts", fmt::format("{} experts of {} numbers", shared, model.feed_forward));
  return keys
      .dimension({"shared_expert_intermediate_size", "shared_intermediate_size", "share_expert_dim",
                  "moe_shared_expert_intermediate_size"})
      .value_or(shared * model.feed_forward);
}

}  // namespace

std::string block_pattern(const ModelKeys& keys, const ModelFamily& family) {
  if (family.form != LayerForm::single_blocks) return "";
  std::string pattern = keys.text("hybrid_override_pattern");
  for (const std::string& word : keys.texts("layers_block_type")) {
    const char block = word == "mamba" ? 'M' : word == "attention" ? '*' : word == "mlp" ? '-' : 'E';
    if (block == 'E' && word != "moe")
      keys.refuse("layers_block_type", fmt::format("\"{}\"; {}", word, way_out));
    pattern += block;
  }
  if (pattern.empty() || pattern.find_first_not_of("M*-E") != std::string::npos)
    keys.refuse("hybrid_override_pattern",
                fmt::format("\"{}\"; expected M, *, - or E for each layer", pattern.substr(0, 60)));
  return pattern;
}

void add_experts(Transformer& model, const ModelKeys& keys, const ModelFamily& family) {
  const int own = model.feed_forward;
  const auto experts =
      keys.dimension({"num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts"});
  // Configs of dense models have these keys, too, if one class reads both kinds of model.
  const auto width = keys.dimension({"moe_intermediate_size"});
  const auto active = keys.dimension({"num_experts_per_tok", "num_experts_per_token", "experts_per_token",
                                      "moe_topk", "top_k_experts", "moe_k"});
  if (family.form == LayerForm::two_sizes) keys.has("enable_moe_block");  // then num_experts is stated, too
  const auto dense = keys.dimension({"dense_intermediate_size", "intermediate_size_mlp"});
  const int dense_layers = layers_without_experts(model, keys);
  const std::string blocks = block_pattern(keys, family);
  const auto count = [&](char kind) { return static_cast<int>(std::ranges::count(blocks, kind)); };
  model.layers_without_feed_forward = count('M') + count('*');
  model.dense_layers = count('-');
  model.dense_feed_forward = dense.value_or(own);
  if (!blocks.empty() && count('E') == 0) return;
  if (!experts || *experts < 2) {
    if (dense) model.feed_forward = *dense;
    return;
  }
  model.experts = *experts;
  if (!active || *active < 1) keys.refuse("num_experts_per_tok", "missing; the model has experts");
  model.active_experts = *active;
  if (model.active_experts > model.experts) {
    throw UsageError("{}: {} experts a token of {}", keys.file, model.active_experts, model.experts);
  }
  if (blocks.empty()) model.dense_layers = dense_layers;
  if (width && *width > 0) model.feed_forward = *width;
  model.shared_feed_forward = shared_width(model, keys, own);
  model.expert_hidden = keys.dimension({"moe_latent_size", "routed_expert_hidden_size"}).value_or(0);
}

}  // namespace speclab
