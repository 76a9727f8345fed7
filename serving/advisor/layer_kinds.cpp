#include "serving/advisor/layer_kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "experiments/base/format/config_error.hpp"

namespace speclab {

namespace {

using Layers = std::vector<bool>;

/// Returns a list that has an entry for each layer; empty if it is missing.
template <class T>
std::vector<T> one_per_layer(const Transformer& model, const ModelKeys& keys, const char* key,
                             std::vector<T> list) {
  if (!list.empty() && static_cast<int>(list.size()) != model.layers)
    keys.refuse(key, fmt::format("{} entries for {} layers", list.size(), model.layers));
  return list;
}

/// Returns the number of layers that have one block instead of experts: those that some key excludes.
int layers_without_experts(const Transformer& model, const ModelKeys& keys) {
  const int first = keys.dimension({"first_k_dense_replace"}).value_or(0);
  if (first > model.layers)
    keys.refuse("first_k_dense_replace", fmt::format("{} of {} layers", first, model.layers));
  // A number, or 0 or 1 for each layer.
  const bool listed = keys.has("moe_layer_freq") && keys.object["moe_layer_freq"].is_array();
  const int frequency = listed ? 1 : keys.dimension({"moe_layer_freq"}).value_or(1);
  const auto ones = one_per_layer(model, keys, "moe_layer_freq",
                                  listed ? keys.numbers("moe_layer_freq") : std::vector<int>{});
  if (std::ranges::any_of(ones, [](int one) { return one != 0 && one != 1; }))
    keys.refuse("moe_layer_freq", "expected 0 or 1 for each layer");
  const int step = keys.dimension({"decoder_sparse_step", "interleave_moe_layer_step"}).value_or(1);
  const auto dense = keys.numbers("mlp_only_layers");
  for (const int layer : dense) {
    if (layer < 0 || layer >= model.layers)
      keys.refuse("mlp_only_layers", fmt::format("layer {} of {}", layer, model.layers));
  }
  const auto named = keys.numbers("moe_layers");
  const auto words = one_per_layer(model, keys, "mlp_layer_types", keys.texts("mlp_layer_types"));
  for (const std::string& word : words) {
    if (word != "dense" && word != "sparse")
      keys.refuse("mlp_layer_types", fmt::format("\"{}\"; known are dense and sparse", word));
  }
  const auto contains = [](const std::vector<int>& list, int layer) {
    return std::ranges::find(list, layer) != list.end();
  };
  const auto has_experts = [&](int layer) {
    // DeepSeek counts from layer 0; Qwen and Llama 4 from layer 1.
    if (layer < first || (frequency > 0 && layer % frequency != 0) || (step > 0 && (layer + 1) % step != 0))
      return false;
    const auto at = static_cast<std::size_t>(layer);
    return !contains(dense, layer) && (named.empty() || contains(named, layer)) &&
           (ones.empty() || ones[at] == 1) && (words.empty() || words[at] == "sparse");
  };
  int without = 0;
  for (int layer = 0; layer < model.layers; ++layer) without += has_experts(layer) ? 0 : 1;
  return without;
}

/// Returns the width of the block that every token uses: some configs state it, others the number of shared
/// experts, which have the width of the others. Llama 4 has one, and no key says so.
int shared_width(const Transformer& model, const ModelKeys& keys) {
  constexpr int max_width = 100'000'000;
  const bool llama4 = keys.text("model_type").starts_with("llama4");
  const int shared = keys.dimension({"n_shared_experts", "num_shared_experts"}).value_or(llama4 ? 1 : 0);
  if (shared > max_width / std::max(model.feed_forward, 1))
    keys.refuse("n_shared_experts", fmt::format("{} experts of {} numbers", shared, model.feed_forward));
  return keys.dimension({"shared_expert_intermediate_size", "shared_intermediate_size"})
      .value_or(shared * model.feed_forward);
}

/// Model types in which every layer attends to the window that the config states.
const std::set<std::string> windowed_types{"mistral", "mixtral", "phi3", "phimoe", "starcoder2"};
/// Model types whose every n-th layer attends to all tokens, if the config does not say which.
const std::vector<std::pair<std::string, int>> default_patterns{
    {"gemma2", 2}, {"gemma3", 6}, {"gemma3_text", 6}, {"cohere2", 4}, {"gpt_oss", 2}};

/// Returns which layers attend to a window, as `layer_types` says.
Layers listed_windows(const Transformer& model, const ModelKeys& keys) {
  Layers windowed;
  for (const std::string& type : one_per_layer(model, keys, "layer_types", keys.texts("layer_types"))) {
    const bool window = type == "sliding_attention" || type == "chunked_attention";
    if (!window && type != "full_attention" && type != "attention" && type != "global_attention") {
      keys.refuse(
          "layer_types",
          fmt::format("\"{}\": the roofline does not know such layers; give --c or measured times", type));
    }
    windowed.push_back(window);
  }
  return windowed;
}

/// Returns n if every n-th layer attends to all tokens; empty if the config does not say it.
std::optional<int> window_pattern(const ModelKeys& keys) {
  if (const auto stated = keys.dimension({"sliding_window_pattern", "_sliding_window_pattern"});
      stated && *stated > 0)
    return stated;
  for (const auto& [type, pattern] : default_patterns) {
    if (keys.text("model_type") == type) return pattern;
  }
  return std::nullopt;
}

/// Returns which layers attend to a window: those `listed`, or else those that other keys or the model's type
/// tell. `full_below` is the number of first layers that attend to all tokens, where the config states it.
Layers windowed_layers(const Transformer& model, const ModelKeys& keys, Layers listed, bool chunks,
                       std::optional<int> full_below) {
  const auto rotary = one_per_layer(model, keys, "no_rope_layers", keys.numbers("no_rope_layers"));
  const auto pattern = window_pattern(keys);
  if (!listed.empty()) return listed;
  Layers windowed;
  const bool all = windowed_types.contains(keys.text("model_type"));
  for (int i = 0; i < model.layers; ++i) {
    // Llama 4: only layers with rotary positions attend in chunks, three of four unless the config says
    // which.
    if (chunks) {
      windowed.push_back(rotary.empty() ? (i + 1) % 4 != 0 : rotary[static_cast<std::size_t>(i)] != 0);
    } else if (pattern) {
      windowed.push_back((i + 1) % *pattern != 0);
    } else if (full_below) {
      windowed.push_back(i >= *full_below);
    } else if (all) {
      windowed.push_back(true);
    } else {
      keys.refuse(
          "sliding_window",
          fmt::format(
              "{}; which layers attend to this window is not stated: add \"layer_types\" to a copy of the file, with \"sliding_attention\" or \"full_attention\" for each layer",
              model.window));
    }
  }
  return windowed;
}

}  // namespace

void add_experts(Transformer& model, const ModelKeys& keys) {
  const int own = model.feed_forward;
  const auto experts = keys.dimension({"num_local_experts", "num_experts", "n_routed_experts"});
  // Configs of dense models keep these keys from the class that reads both.
  const auto width = keys.dimension({"moe_intermediate_size"});
  const auto active =
      keys.dimension({"num_experts_per_tok", "num_experts_per_token", "experts_per_token", "moe_topk"});
  const auto dense = keys.dimension({"dense_intermediate_size", "intermediate_size_mlp"});
  const int dense_layers = layers_without_experts(model, keys);
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
  model.dense_feed_forward = dense.value_or(own);
  model.dense_layers = dense_layers;
  if (width && *width > 0) model.feed_forward = *width;
  model.shared_feed_forward = shared_width(model, keys);
}

void add_windows(Transformer& model, const ModelKeys& keys) {
  const auto window = keys.dimension({"sliding_window"});
  const auto chunk = keys.dimension({"attention_chunk_size"});
  const auto full_below = keys.dimension({"max_window_layers"});
  const bool used = keys.flag("use_sliding_window", true);
  const int size = used && window && *window > 0 ? *window : chunk.value_or(0);
  if (window && chunk && used && *window > 0 && *chunk > 0)
    keys.refuse("attention_chunk_size", fmt::format("{} beside a window of {}", *chunk, *window));
  for (const int kind : one_per_layer(model, keys, "attn_type_list", keys.numbers("attn_type_list"))) {
    if (kind != 1) {
      keys.refuse("attn_type_list",
                  fmt::format("{}: the roofline does not know linear attention; give measured times", kind));
    }
  }
  model.window = size;
  Layers windowed = listed_windows(model, keys);
  if (size == 0 && used && std::ranges::count(windowed, true) > 0)
    keys.refuse("layer_types", "some layers attend to a window, but /sliding_window is missing");
  if (size > 0)
    windowed = windowed_layers(model, keys, std::move(windowed), chunk.value_or(0) > 0, full_below);
  const int shared = keys.dimension({"num_kv_shared_layers"}).value_or(0);
  if (shared >= model.layers)
    keys.refuse("num_kv_shared_layers", fmt::format("{} of {} layers", shared, model.layers));
  model.layers_without_cache = shared;
  if (size == 0) return;
  model.windowed_layers = static_cast<int>(std::ranges::count(windowed, true));
  const auto own = windowed.begin() + (model.layers - shared);
  model.windowed_without_cache = static_cast<int>(std::count(own, windowed.end(), true));
}

}  // namespace speclab
