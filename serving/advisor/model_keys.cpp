#include "serving/advisor/model_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/predicate.hpp>
#include <nlohmann/json.hpp>
#include <string_view>

#include "experiments/base/format/config_error.hpp"

namespace speclab {

namespace {

/// Keys with one of these parts are about training, text generation, positions, vectors (norms and biases,
/// less than 1% of the parameters), or about inputs other than text.
constexpr std::string_view harmless_parts[]{"_token_id", "_token_index", "rope",     "rotary",
                                            "dropout",   "_eps",         "epsilon",  "initializer",
                                            "_loss",     "loss_",        "version",  "_bias",
                                            "bias_",     "output_a",     "output_h", "output_r",
                                            "output_s",  "qk_norm",      "softcap",  "label",
                                            "vision",    "audio",        "image",    "video",
                                            "penalty",   "router_",      "speech",   "scaling",
                                            "time_step", "ngram_s",      "beams",    "position_embedding",
                                            "aux_"};

/// Keys of the same kinds that no part above tells.
constexpr std::string_view harmless_names[]{"_attn_implementation",
                                            "_attn_implementation_autoset",
                                            "activation_function",
                                            "alibi",
                                            "attention_multiplier",
                                            "embedding_multiplier",
                                            "residual_multiplier",
                                            "attn_pdrop",
                                            "auto_map",
                                            "begin_suppress_tokens",
                                            "bos_token",
                                            "cache_implementation",
                                            "chunk_size_feed_forward",
                                            "clip_qkv",
                                            "dense_act_fn",
                                            "do_layer_norm_before",
                                            "do_sample",
                                            "dtype",
                                            "early_stopping",
                                            "embd_pdrop",
                                            "ep_size",
                                            "final_logit_softcapping",
                                            "finetuning_task",
                                            "initial_context_length",
                                            "layer_norm_elementwise_affine",
                                            "logit_scale",
                                            "max_length",
                                            "max_position_embeddings",
                                            "max_sequence_length",
                                            "min_length",
                                            "moe_renormalize",
                                            "multi_query_group_num",
                                            "n_ctx",
                                            "n_group",
                                            "n_positions",
                                            "norm_topk_prob",
                                            "num_expert_group",
                                            "num_logits_to_keep",
                                            "offset_alibi",
                                            "parallel_attn",
                                            "prefix",
                                            "pretraining_tp",
                                            "problem_type",
                                            "query_pre_attn_scalar",
                                            "reorder_and_upcast_attn",
                                            "resid_pdrop",
                                            "scale_attn_by_inverse_layer_idx",
                                            "scale_attn_weights",
                                            "scoring_func",
                                            "seq_aux",
                                            "seq_length",
                                            "summary_activation",
                                            "summary_first_dropout",
                                            "summary_proj_to_labels",
                                            "summary_type",
                                            "summary_use_proj",
                                            "suppress_tokens",
                                            "swiglu_limit",
                                            "task_specific_params",
                                            "temperature",
                                            "tf_legacy_loss",
                                            "tie_encoder_decoder",
                                            "tokenizer_class",
                                            "top_k",
                                            "top_p",
                                            "topk_group",
                                            "topk_method",
                                            "torch_dtype",
                                            "torchscript",
                                            "typical_p",
                                            "unsloth_fixed",
                                            "use_bfloat16",
                                            "use_cache",
                                            "use_grouped_topk",
                                            "use_logits_to_keep",
                                            "use_mrope",
                                            "use_parallel_residual",
                                            "use_qk_norm",
                                            "use_return_dict",
                                            "return_dict",
                                            "return_dict_in_generate",
                                            "attention_value_scale"};

bool harmless(const std::string& key) {
  return std::ranges::find(harmless_names, key) != std::end(harmless_names) ||
         std::ranges::any_of(harmless_parts,
                             [&](std::string_view part) { return boost::algorithm::contains(key, part); });
}

bool says_nothing(const Json& value) {
  return value.is_null() || value == false || (value.is_number() && value == 0) || value == "" ||
         (value.is_structured() && value.empty());
}

}  // namespace

bool ModelKeys::has(const char* key) const {
  asked->insert(key);
  return object.contains(key) && !object[key].is_null();
}

std::optional<int> ModelKeys::dimension(std::initializer_list<const char*> keys) const {
  constexpr double most = 1e8;
  std::optional<int> found;
  const char* first = nullptr;
  for (const char* key : keys) {
    if (!has(key)) continue;
    const Json& value = object[key];
    const double number = value.is_number() ? value.get<double>() : -1;
    if (!(number >= 0 && number <= most) || number != static_cast<int>(number))
      refuse(key, value.dump().substr(0, 60) + "; expected an integer of 0 or more");
    if (found && *found != static_cast<int>(number))
      refuse(key, fmt::format("{}, but /{} is {}: two names of one number", number, first, *found));
    if (!found) first = key;
    found = static_cast<int>(number);
  }
  return found;
}

int ModelKeys::required(std::initializer_list<const char*> keys) const {
  const auto value = dimension(keys);
  if (value && *value > 0) return *value;
  refuse(*keys.begin(), "missing; expected the config.json of a language model");
}

bool ModelKeys::flag(const char* key, bool otherwise) const {
  return has(key) && object[key].is_boolean() ? object[key].get<bool>() : otherwise;
}

std::vector<int> ModelKeys::numbers(const char* key) const {
  if (!has(key)) return {};
  const Json& list = object[key];
  if (!list.is_array() || !std::ranges::all_of(list, [](const Json& one) { return one.is_number_integer(); }))
    refuse(key, list.dump().substr(0, 60) + "; expected a list of integers");
  return list.get<std::vector<int>>();
}

std::vector<std::string> ModelKeys::texts(const char* key) const {
  if (!has(key)) return {};
  const Json& list = object[key];
  if (!list.is_array() || !std::ranges::all_of(list, [](const Json& one) { return one.is_string(); }))
    refuse(key, list.dump().substr(0, 60) + "; expected a list of texts");
  return list.get<std::vector<std::string>>();
}

std::string ModelKeys::text(const char* key) const {
  return has(key) && object[key].is_string() ? object[key].get<std::string>() : "";
}

std::string ModelKeys::architecture() const {
  if (!has("architectures") || !object["architectures"].is_array()) return "";
  const Json& names = object["architectures"];
  return names.size() == 1 && names[0].is_string() ? names[0].get<std::string>() : "";
}

void ModelKeys::refuse_unknown() const {
  for (const auto& [key, value] : object.items()) {
    if (asked->contains(key) || says_nothing(value) || harmless(key)) continue;
    refuse(
        key,
        fmt::format(
            "{}; this key is not known, and may change parameters, attention or cache. Give --c or measured times (--target-times, --draft-times); or, if it changes none of these, remove it from a copy of the file",
            value.dump().substr(0, 60)));
  }
}

void ModelKeys::refuse(const std::string& key, const std::string& what) const {
  throw UsageError("{}: {}/{}: {}", file, within, key, what);
}

}  // namespace speclab
