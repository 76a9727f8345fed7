#include "serving/advisor/model_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace speclab {

namespace {

/// How a layer mixes tokens.
enum class Kind { full, windowed, recurrent, none };
using Kinds = std::vector<Kind>;

Kind kind_named(const ModelKeys& keys, const std::string& word) {
  if (word == "sliding_attention" || word == "chunked_attention") return Kind::windowed;
  for (const char* full : {"full_attention", "attention", "global_attention", "deepseek_sparse_attention"}) {
    if (word == full) return Kind::full;
  }
  if (word == "linear_attention" && keys.has("linear_num_value_heads")) return Kind::recurrent;
  keys.refuse("layer_types", fmt::format("\"{}\": such layers are not known; {}", word, way_out));
}

/// Returns n if every n-th layer attends to all tokens; empty if neither config nor family says it.
std::optional<int> window_pattern(const ModelKeys& keys, const ModelFamily& family) {
  // EXAONE writes "LLLG" for three local layers before a global one.
  if (const std::string letters = keys.text("sliding_window_pattern"); !letters.empty()) {
    if (letters.find_first_not_of('L') != letters.size() - 1 || letters.back() != 'G')
      keys.refuse("sliding_window_pattern",
                  fmt::format("\"{}\"; expected a number, or letters L before one G; {}", letters, way_out));
    return static_cast<int>(letters.size());
  }
  if (const auto stated = keys.dimension({"sliding_window_pattern", "_sliding_window_pattern"});
      stated && *stated > 0)
    return stated;
  return family.full_every > 0 ? std::optional(family.full_every) : std::nullopt;
}

/// Returns the kinds of layers in a model whose config states a window, but no list of layers. `full_below`
/// is the number of first layers that attend to all tokens, where the config states it.
Kinds windowed_kinds(const Transformer& model, const ModelKeys& keys, const ModelFamily& family, int window,
                     bool chunks, std::optional<int> full_below) {
  const auto rotary = keys.numbers("no_rope_layers", model.layers);
  if (const std::string order = keys.text("order_of_interleaved_layers");
      !order.empty() && order != "local_attn_first")
    keys.refuse("order_of_interleaved_layers", fmt::format("\"{}\"; {}", order, way_out));
  const auto pattern = window_pattern(keys, family);
  Kinds kinds;
  for (int i = 0; i < model.layers; ++i) {
    bool windowed = family.form == LayerForm::windowed;
    if (chunks) {
      // Llama 4: only layers with rotary positions attend in chunks, by default three of four.
      windowed = rotary.empty() ? (i + 1) % 4 != 0 : rotary[static_cast<std::size_t>(i)] != 0;
    } else if (pattern) {
      windowed = (i + 1) % *pattern != 0;
    } else if (full_below) {
      windowed = i >= *full_below;
    } else if (!windowed) {
      keys.refuse(
          "sliding_window",
          fmt::format(
              "{}; which layers attend to this window is not stated: add \"layer_types\" to a copy of the file, with \"sliding_attention\" or \"full_attention\" for each layer",
              window));
    }
    kinds.push_back(windowed ? Kind::windowed : Kind::full);
  }
  return kinds;
}

/// Returns the size of the window that some layers attend to; 0 if there is none.
int window_size(const ModelKeys& keys) {
  const auto window = keys.dimension({"sliding_window", "sliding_window_size"});
  const auto chunk = keys.dimension({"attention_chunk_size"});
  const bool used = keys.flag("use_sliding_window", true);
  if (window && chunk && used && *window > 0 && *chunk > 0 && *window != *chunk)
    keys.refuse("attention_chunk_size", fmt::format("{} beside a window of {}", *chunk, *window));
  return used && window && *window > 0 ? *window : chunk.value_or(0);
}

/// Returns the kinds that a config lists for each layer; empty if it lists none.
Kinds listed_kinds(const Transformer& model, const ModelKeys& keys, const ModelFamily& family) {
  Kinds kinds;
  for (const char block : block_pattern(keys, family))
    kinds.push_back(block == 'M' ? Kind::recurrent : block == '*' ? Kind::full : Kind::none);
  if (!kinds.empty()) return kinds;
  for (const int kind : keys.numbers("attn_type_list", model.layers)) {
    if (kind != 1)
      keys.refuse("attn_type_list", fmt::format("{}: such linear attention is not known; {}", kind, way_out));
  }
  if (family.form == LayerForm::two_kinds) {
    for (const int windowed : keys.numbers("hybrid_layer_pattern", model.layers))
      kinds.push_back(windowed != 0 ? Kind::windowed : Kind::full);
  }
  for (const std::string& word : keys.texts("layer_types", model.layers))
    kinds.push_back(kind_named(keys, word));
  if (family.form == LayerForm::gated) {
    const int interval = keys.dimension({"full_attention_interval"}).value_or(family.full_every);
    for (int i = 1; !keys.has("layer_types") && i <= model.layers; ++i)
      kinds.push_back(interval > 0 && i % interval == 0 ? Kind::full : Kind::recurrent);
  }
  return kinds;
}

/// Returns the list of layers in the linear_attn_config of Kimi Linear, which counts from 1, as kinds.
Kinds delta_kinds(const Transformer& model, const ModelKeys& inner) {
  Kinds kinds(static_cast<std::size_t>(model.layers), Kind::none);
  const auto mark = [&](const char* key, Kind kind) {
    for (const int layer : inner.numbers(key)) {
      if (layer < 1 || layer > model.layers)
        inner.refuse(key, fmt::format("layer {} of {}", layer, model.layers));
      kinds[static_cast<std::size_t>(layer) - 1] = kind;
    }
  };
  mark("full_attn_layers", Kind::full);
  mark("kda_layers", Kind::recurrent);
  if (std::ranges::find(kinds, Kind::none) != kinds.end())
    inner.refuse("kda_layers", "some layer is neither here nor in full_attn_layers");
  return kinds;
}

/// The mixers of a model's layers by kind; each holds for one layer.
struct LayerMixers {
  Mixer full{};
  Mixer windowed{};
  Mixer recurrent{};
};

/// Returns attention over all tokens, `input` numbers wide.
Mixer full_attention(const Transformer& model, const ModelKeys& keys, const ModelFamily& family, int input) {
  LatentAttention latent;
  latent.rank = keys.dimension({"kv_lora_rank"}).value_or(0);
  Mixer mixer;
  if (latent.rank > 0) {
    keys.has("qk_head_dim");  // the sum of the two below
    latent.query_rank = keys.dimension({"q_lora_rank"}).value_or(0);
    latent.plain = keys.required({"qk_nope_head_dim"});
    latent.rotary = keys.required({"qk_rope_head_dim"});
    latent.value = keys.required({"v_head_dim"});
    mixer = latent_attention(model.hidden, model.heads, latent);
    if (keys.flag("mla_use_output_gate", false))
      mixer.parameters += double(input) * model.heads * latent.value;
    if (const auto selected = keys.dimension({"index_topk"}); selected && *selected > 0) {
      if (latent.query_rank == 0) keys.refuse("q_lora_rank", "missing; the index reads it");
      add_index(mixer, model.hidden, latent.query_rank,
                {keys.required({"index_n_heads"}), keys.required({"index_head_dim"}), *selected});
    }
    return mixer;
  }
  const bool own = family.form == LayerForm::two_kinds;
  const int value = own ? keys.dimension({"v_head_dim"}).value_or(model.head_size) : model.head_size;
  mixer = grouped_attention(model.hidden, {model.heads, model.kv_heads, model.head_size, value}, input);
  if (keys.flag("attn_output_gate", family.form == LayerForm::gated))
    mixer.parameters += double(input) * model.heads * value;
  return mixer;
}

/// Returns the layers with a recurrent state: gated delta networks, or Mamba-2 as in Nemotron-H.
Mixer recurrent_mixer(const Transformer& model, const ModelKeys& keys, const ModelFamily& family) {
  Mixer mixer;
  if (family.form == LayerForm::single_blocks) {
    for (const char* harmless :
         {"expand", "use_mamba_kernels", "mamba_hidden_act", "mamba_proj_bias", "use_conv_bias"})
      keys.has(harmless);
    mixer = mamba2(model.hidden, {keys.required({"mamba_num_heads"}), keys.required({"mamba_head_dim"}),
                                  keys.dimension({"n_groups"}).value_or(8), keys.required({"ssm_state_size"}),
                                  keys.dimension({"conv_kernel"}).value_or(4)});
  } else {
    mixer = delta_network(model.hidden,
                          {keys.required({"linear_num_key_heads"}), keys.required({"linear_num_value_heads"}),
                           keys.required({"linear_key_head_dim"}), keys.required({"linear_value_head_dim"}),
                           keys.required({"linear_conv_kernel_dim"})});
  }
  for (const char* key : {"mamba_ssm_dtype", "mamba_ssm_cache_dtype"}) {
    const std::string numbers = keys.text(key);
    if (numbers.empty()) continue;
    if (numbers != "float32" && numbers != "bfloat16" && numbers != "float16")
      keys.refuse(key, fmt::format("\"{}\"; known are float32, bfloat16 and float16", numbers));
    mixer.state_bytes = numbers == "float32" ? 4 : 2;
  }
  return mixer;
}

/// Gives layers with a window, or those without, the heads that Gemma 4 and MiMo-V2 state for them.
void add_other_heads(LayerMixers& mixers, const Transformer& model, const ModelKeys& keys,
                     const ModelFamily& family) {
  if (family.form == LayerForm::two_sizes) {
    keys.has("vocab_size_per_layer_input");  // of use only with hidden_size_per_layer_input
    const int size = keys.dimension({"global_head_dim"}).value_or(model.head_size);
    // In these layers the keys are also the values; caches store both.
    const bool one = keys.flag("attention_k_eq_v", false);
    const int kv_heads =
        one ? keys.dimension({"num_global_key_value_heads"}).value_or(model.kv_heads) : model.kv_heads;
    mixers.full = grouped_attention(model.hidden, {model.heads, kv_heads, size, size}, model.hidden);
    if (one) mixers.full.parameters -= double(model.hidden) * kv_heads * size;
  }
  if (family.form == LayerForm::two_kinds) {
    const auto of = [&](const char* key, int usual) { return keys.dimension({key}).value_or(usual); };
    const int size = of("swa_head_dim", model.head_size);
    mixers.windowed = grouped_attention(
        model.hidden,
        {of("swa_num_attention_heads", model.heads), of("swa_num_key_value_heads", model.kv_heads), size,
         of("swa_v_head_dim", keys.dimension({"v_head_dim"}).value_or(size))},
        model.hidden);
  }
}

/// Appends the layers of one kind; the last `shared` layers read the cache of earlier ones.
void append_layers(Transformer& model, Mixer mixer, const Kinds& kinds, Kind kind, int shared) {
  mixer.layers = static_cast<int>(std::ranges::count(kinds, kind));
  mixer.layers_without_cache = static_cast<int>(std::count(kinds.end() - shared, kinds.end(), kind));
  if (mixer.layers > 0) model.mixers.push_back(mixer);
}

/// Layers of GLM-5.2 that share the index of an earlier one have none of their own.
void add_shared_index(Transformer& model, const ModelKeys& keys) {
  const auto types = keys.texts("indexer_types", model.layers);
  const int every = keys.dimension({"index_topk_freq"}).value_or(1);
  keys.has("index_skip_topk_offset");
  keys.has("index_share_for_mtp_iteration");
  if (every > 1 && types.empty()) keys.refuse("index_topk_freq", "stated without /indexer_types");
  const auto sharing = static_cast<int>(std::ranges::count(types, "shared"));
  if (sharing + std::ranges::count(types, "full") != static_cast<int>(types.size()))
    keys.refuse("indexer_types", "known are full and shared");
  if (sharing == 0) return;
  Mixer without = model.mixers.back();
  const double queries = double(keys.required({"index_n_heads"})) * keys.required({"index_head_dim"});
  without.parameters -=
      keys.required({"q_lora_rank"}) * queries +
      double(model.hidden) * (keys.required({"index_head_dim"}) + keys.required({"index_n_heads"}));
  without.index_kept = without.index_flops = 0;
  without.layers = sharing;
  model.mixers.back().layers -= sharing;
  model.mixers.insert(model.mixers.end() - 1, without);
}

/// DeepSeek-V4: every layer attends to a window; most also to compressed entries. A ratio beyond the layers
/// is that of the module for multi-token prediction, which has a window alone.
void add_shared_key(Transformer& model, const ModelKeys& keys) {
  const SharedKeyAttention attention{model.heads,
                                     model.head_size,
                                     keys.required({"q_lora_rank"}),
                                     keys.required({"o_groups"}),
                                     keys.required({"o_lora_rank"}),
                                     keys.required({"sliding_window"})};
  if (model.kv_heads != 1) keys.refuse("num_key_value_heads", fmt::format("{}; expected 1", model.kv_heads));
  for (const char* harmless : {"qk_rope_head_dim", "hc_mult", "hc_sinkhorn_iters", "num_hash_layers"})
    keys.has(harmless);
  const SparseIndex index{keys.required({"index_n_heads"}), keys.required({"index_head_dim"}),
                          keys.required({"index_topk"})};
  const std::vector<int> ratios = keys.numbers("compress_ratios");
  if (static_cast<int>(ratios.size()) < model.layers)
    keys.refuse("compress_ratios", fmt::format("{} entries for {} layers", ratios.size(), model.layers));
  const auto layers_end = ratios.begin() + model.layers;
  for (const int ratio : {4, 128}) {
    Mixer mixer = compressed_entries(model.hidden, attention, ratio, ratio == 4 ? index : SparseIndex{});
    mixer.layers = static_cast<int>(std::count(ratios.begin(), layers_end, ratio));
    if (mixer.layers > 0) model.mixers.push_back(mixer);
  }
  if (std::any_of(ratios.begin(), ratios.end(), [](int one) { return one != 0 && one != 4 && one != 128; }))
    keys.refuse("compress_ratios", "known are 0, 4 and 128");
  Mixer window = shared_key_attention(model.hidden, attention);
  window.layers = model.layers;
  model.mixers.push_back(window);
}

}  // namespace

void add_mixers(Transformer& model, const ModelKeys& keys, const ModelFamily& family, int input) {
  if (family.form == LayerForm::shared_key) {
    add_shared_key(model, keys);
    return;
  }
  const int window = window_size(keys);
  const auto full_below = keys.dimension({"max_window_layers"});
  const bool used = keys.flag("use_sliding_window", true);
  LayerMixers mixers;
  mixers.full = full_attention(model, keys, family, input);
  mixers.windowed = mixers.full;
  Kinds kinds;
  if (const auto inner = keys.within_object("linear_attn_config"); inner) {
    kinds = delta_kinds(model, *inner);
    mixers.recurrent = kimi_delta_attention(
        model.hidden, inner->required({"num_heads"}), inner->required({"head_dim"}),
        inner->required({"short_conv_kernel_size"}), inner->flag("use_full_rank_gate", false));
    inner->has("gate_lower_bound");
    inner->refuse_unknown();
  } else {
    kinds = listed_kinds(model, keys, family);
    if (window > 0 && kinds.empty()) {
      const bool chunks = keys.dimension({"attention_chunk_size"}).value_or(0) > 0;
      kinds = windowed_kinds(model, keys, family, window, chunks, full_below);
    }
    window_pattern(keys, family);
    for (const char* of_windows : {"no_rope_layers", "order_of_interleaved_layers"}) keys.has(of_windows);
    if (std::ranges::count(kinds, Kind::recurrent) > 0)
      mixers.recurrent = recurrent_mixer(model, keys, family);
  }
  add_other_heads(mixers, model, keys, family);
  const bool windowed = std::ranges::count(kinds, Kind::windowed) > 0;
  if (windowed && window == 0 && used)
    keys.refuse("layer_types", "some layers attend to a window, but /sliding_window is missing");
  mixers.windowed.window = window;
  const int shared = keys.dimension({"num_kv_shared_layers"}).value_or(0);
  if (shared >= model.layers)
    keys.refuse("num_kv_shared_layers", fmt::format("{} of {} layers", shared, model.layers));
  const bool plain = keys.dimension({"kv_lora_rank"}).value_or(0) == 0 && family.form != LayerForm::two_kinds;
  const bool alike = std::ranges::count(kinds, Kind::full) == static_cast<int>(kinds.size());
  if (plain && alike && shared == 0 && !keys.flag("attn_output_gate", false)) return;
  if (kinds.empty()) kinds.assign(static_cast<std::size_t>(model.layers), Kind::full);
  append_layers(model, mixers.recurrent, kinds, Kind::recurrent, shared);
  append_layers(model, mixers.windowed, kinds, Kind::windowed, shared);
  append_layers(model, mixers.full, kinds, Kind::full, shared);
  if (mixers.full.selected > 0) add_shared_index(model, keys);
}

}  // namespace speclab
