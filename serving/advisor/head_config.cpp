#include "serving/advisor/head_config.hpp"

#include <fmt/format.h>

#include <boost/algorithm/string/predicate.hpp>
#include <nlohmann/json.hpp>

#include "experiments/base/format/config_error.hpp"

namespace speclab {

namespace {

/// States of the target that an EAGLE-3 head reads.
constexpr int fused_states = 3;

bool named(const std::string& name, const char* part) { return boost::algorithm::icontains(name, part); }

/// `keys` is the file, `layer` the object with the layer's sizes, which speculators nests.
void add_eagle3(Transformer& model, const ModelKeys& keys, const ModelKeys& layer) {
  if (model.layers != 1)
    layer.refuse("num_hidden_layers", fmt::format("{}; an EAGLE-3 head has 1", model.layers));
  model.fused = fused_states * keys.dimension({"target_hidden_size"}).value_or(model.hidden);
  model.draft_vocab = keys.dimension({"draft_vocab_size"}).value_or(model.vocab);
  if (model.draft_vocab < 1 || model.draft_vocab > model.vocab)
    keys.refuse("draft_vocab_size", fmt::format("{}; expected 1 to {}", model.draft_vocab, model.vocab));
}

/// The first heads have the keys of dflash_config beside it, like block_size.
void add_dflash(Transformer& model, const ModelKeys& keys) {
  static const Json nothing = Json::object();
  const bool nested = keys.has("dflash_config") && keys.object["dflash_config"].is_object();
  const ModelKeys inner{nested ? keys.object["dflash_config"] : nothing, keys.file, "/dflash_config"};
  const ModelKeys& of_block = inner.has("block_size") ? inner : keys;
  const ModelKeys& of_states = inner.has("target_layer_ids") ? inner : keys;
  if (!of_block.has("block_size"))
    keys.refuse("block_size", "missing; a DFlash head drafts block_size - 1 tokens per round");
  const int block = *of_block.dimension({"block_size"});
  if (block < 2) of_block.refuse("block_size", fmt::format("{}; expected 2 or more", block));
  if (!of_states.has("target_layer_ids") || !of_states.object["target_layer_ids"].is_array() ||
      of_states.object["target_layer_ids"].empty())
    inner.refuse("target_layer_ids", "missing; expected the target's layers whose states the head reads");
  if (keys.dimension({"draft_vocab_size"}).value_or(model.vocab) != model.vocab)
    keys.refuse("draft_vocab_size", "a DFlash head with outputs of its own is not known; give --c");
  model.fused = static_cast<int>(of_states.object["target_layer_ids"].size()) * model.hidden;
  model.draft_vocab = model.vocab;
  model.max_drafted = block - 1;
}

}  // namespace

HeadKind head_kind(const ModelKeys& keys, const ModelKeys& layer) {
  const std::string name = keys.architecture();
  const std::string speculators = keys.text("speculators_model_type");
  // The authors of EAGLE-3 publish heads as a Llama of one layer that drafts from a vocabulary of its own.
  const bool one_layer = name == "LlamaForCausalLM" && keys.has("draft_vocab_size") &&
                         layer.dimension({"num_hidden_layers"}) == 1;
  if (speculators == "eagle3" || (speculators.empty() && (named(name, "eagle3") || one_layer)))
    return HeadKind::eagle3;
  if (named(name, "medusa") || keys.text("model_type") == "medusa" || keys.has("medusa_num_heads"))
    return HeadKind::medusa;
  if (name == "DFlashDraftModel" || (name.empty() && keys.has("dflash_config"))) return HeadKind::dflash;
  const bool other = keys.has("draft_vocab_size") || keys.has("dflash_config") || named(name, "eagle") ||
                     named(name, "dflash") || named(name, "dspark") || named(name, "mtp") ||
                     named(name, "nextn") || named(name, "draftmodel") || !speculators.empty();
  if (other) {
    keys.refuse(
        "architectures",
        fmt::format(
            "\"{}\" is a draft head whose cost is not known; those of EAGLE-3, Medusa and DFlash are, and by --method mtp the target's own modules; else give --c or measured times",
            speculators.empty() ? name : speculators));
  }
  return HeadKind::none;
}

Transformer medusa_heads(const ModelKeys& keys) {
  if (keys.flag("original_lm_head", false))
    keys.refuse("original_lm_head", "true: heads that share one output matrix are not known; give --c");
  Transformer heads;
  heads.head = HeadKind::medusa;
  heads.max_drafted = keys.required({"medusa_num_heads", "num_heads"});
  heads.layers = keys.dimension({"medusa_num_layers", "num_hidden_layers"}).value_or(1);
  heads.hidden = keys.dimension({"hidden_size"}).value_or(0);
  heads.vocab = keys.dimension({"vocab_size"}).value_or(0);
  heads.draft_vocab = keys.dimension({"truncated_vocab_size"}).value_or(heads.vocab);
  return heads;
}

void add_head(Transformer& model, HeadKind kind, const ModelKeys& keys, const ModelKeys& layer) {
  model.head = kind;
  if (kind == HeadKind::none) return;
  // These keys are about where states come from and about norms.
  for (const char* key : {"num_target_layers", "target_model_type", "fc_norm", "norm_output",
                          "norm_before_fc", "norm_before_residual", "eagle_config", "speculators_config"})
    keys.has(key);
  if (kind == HeadKind::eagle3) add_eagle3(model, keys, layer);
  if (kind == HeadKind::dflash) add_dflash(model, keys);
}

Transformer fitted_to(Transformer head, const Transformer& target) {
  const auto check = [&](const char* key, int own, int of_target, const char* what) {
    if (own == of_target) return;
    throw UsageError(
        "{}: /{}: {}; the target {} has {} {}: a head drafts for the target that it was made for",
        head.source, key, own, target.name, of_target, what);
  };
  if (head.head == HeadKind::medusa) {
    if (head.hidden == 0) head.hidden = target.hidden;
    if (head.vocab == 0) head.vocab = target.vocab;
    if (head.draft_vocab == 0) head.draft_vocab = head.vocab;
  }
  if (head.head == HeadKind::eagle3) {
    check(head.fused == fused_states * head.hidden ? "hidden_size" : "target_hidden_size",
          head.fused / fused_states, target.hidden, "hidden numbers");
  } else {
    check("hidden_size", head.hidden, target.hidden, "hidden numbers");
  }
  check("vocab_size", head.vocab, target.vocab, "tokens");
  return head;
}

DraftMethod method_of(HeadKind kind) {
  return kind == HeadKind::eagle3   ? DraftMethod::eagle3
         : kind == HeadKind::mtp    ? DraftMethod::mtp
         : kind == HeadKind::medusa ? DraftMethod::medusa
         : kind == HeadKind::dflash ? DraftMethod::dflash
                                    : DraftMethod::draft;
}

}  // namespace speclab
