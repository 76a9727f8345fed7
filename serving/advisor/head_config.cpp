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

/// Returns true for P-EAGLE (SpecForge, modeling/draft/peagle.py; vLLM's parallel_drafting).
bool parallel_eagle(const ModelKeys& keys) {
  return named(keys.architecture(), "peagle") || keys.text("speculators_model_type") == "peagle" ||
         keys.flag("parallel_drafting", false);
}

/// `keys` is the file; `layer` is the object with the layer's sizes, which the speculators library nests in
/// it.
void add_eagle3(Transformer& model, const ModelKeys& keys, const ModelKeys& layer) {
  model.parallel = parallel_eagle(keys);
  if (model.layers != 1 && !model.parallel)
    layer.refuse("num_hidden_layers", fmt::format("{}; an EAGLE-3 head has 1", model.layers));
  model.fused = fused_states * keys.dimension({"target_hidden_size"}).value_or(model.hidden);
  for (const auto& object : {std::optional(keys), std::optional(layer), keys.within_object("eagle_config")}) {
    if (!object) continue;
    const auto listed = object->numbers("eagle_aux_hidden_state_layer_ids").size();
    const int states = object->dimension({"num_aux_hidden_states"})
                           .value_or(listed > 0 ? static_cast<int>(listed) : fused_states);
    if (states != fused_states)
      object->refuse(listed > 0 ? "eagle_aux_hidden_state_layer_ids" : "num_aux_hidden_states",
                     fmt::format("{} states of the target; {} are known; {}", states, fused_states, way_out));
  }
  model.draft_vocab = keys.dimension({"draft_vocab_size"}).value_or(model.vocab);
  if (model.draft_vocab < 1 || model.draft_vocab > model.vocab)
    keys.refuse("draft_vocab_size", fmt::format("{}; expected 1 to {}", model.draft_vocab, model.vocab));
  if (!model.parallel) return;
  for (const char* harmless : {"parallel_drafting", "mask_token_id", "ptd_token_id"}) keys.has(harmless);
  model.notes.push_back(
      keys.file +
      ": P-EAGLE drafts a round in one run; vLLM needs \"parallel_drafting\": true beside its method.");
  // Only the first layer reads the token's embedding.
  const GroupedHeads heads{model.heads, model.kv_heads, model.head_size, model.head_size};
  model.mixers = {grouped_attention(model.hidden, heads, model.hidden),
                  grouped_attention(model.hidden, heads, 2.0 * model.hidden)};
  model.mixers[0].layers = model.layers - 1;
  model.mixers[1].layers = 1;
}

/// Reads what corrects the tokens of a block one after another: the Markov head of DSpark (its confidence
/// head hardly counts), or the GRU of Domino with a projection to the vocabulary.
void add_corrections(Transformer& model, const ModelKeys& keys, const ModelKeys& inner) {
  const double vocab = model.vocab;
  const auto number = [&](const char* key) {
    return double(inner.has(key) ? inner.required({key}) : keys.required({key}));
  };
  const std::string projector = inner.text("projector_type") + keys.text("projector_type");
  const std::string name = keys.architecture();
  // Speculators writes the projector "dflash" for DSpark, too.
  const std::string kind = !projector.empty() && projector != "dflash" ? projector
                           : named(name, "domino")                     ? "domino"
                           : named(name, "dspark")                     ? "dspark"
                                                                       : "";
  if (kind == "domino") {
    const double gru = number("gru_hidden_dim");
    const double rank = number("emb_dim");
    model.head = HeadKind::domino;
    model.correction = 3 * gru * (model.hidden + gru) + rank * (model.hidden + gru + vocab);
    model.stored_correction = model.correction;
  } else if (kind == "dspark" || inner.has("markov_rank") || keys.has("markov_rank")) {
    // Speculators has a default (DSparkSpeculatorConfig).
    const bool usual =
        keys.has("speculators_model_type") && !inner.has("markov_rank") && !keys.has("markov_rank");
    const double rank = usual ? 256 : number("markov_rank");
    model.head = HeadKind::dspark;
    model.correction = rank * vocab;
    model.stored_correction = 2 * model.correction;
    const std::string form = inner.text("markov_head_type") + keys.text("markov_head_type");
    if (!form.empty() && form != "vanilla")
      inner.refuse("markov_head_type", fmt::format("\"{}\"; vanilla is known; {}", form, way_out));
  } else if (!kind.empty()) {
    inner.refuse("projector_type",
                 fmt::format("\"{}\"; known are dflash, dspark and domino; {}", projector, way_out));
  }
  for (const ModelKeys* object : {&keys, &inner}) {
    for (const char* harmless :
         {"attention_mode", "confidence_head_alpha", "confidence_head_with_markov", "enable_confidence_head",
          "confidence_detach_features", "lambda_base_start", "lambda_base_decay_ratio", "auf", "num_anchors",
          "sliding_window_non_causal"})
      object->has(harmless);
    // Speculators writes these keys of Domino beside every projector.
    if (projector.empty()) continue;
    for (const char* of_domino : {"pure_draft_prefix_len", "emb_dim", "gru_hidden_dim"})
      object->has(of_domino);
  }
}

/// The first heads have the keys of dflash_config beside it, like block_size.
void add_dflash(Transformer& model, const ModelKeys& keys) {
  static const Json nothing = Json::object();
  const bool nested = keys.has("dflash_config") && keys.object["dflash_config"].is_object();
  const ModelKeys inner{nested ? keys.object["dflash_config"] : nothing, keys.file, "/dflash_config"};
  const ModelKeys& of_block = inner.has("block_size") ? inner : keys;
  const ModelKeys& of_states = inner.has("target_layer_ids") ? inner : keys;
  const char* states = of_states.has("target_layer_ids") ? "target_layer_ids" : "aux_hidden_state_layer_ids";
  if (!of_block.has("block_size"))
    keys.refuse("block_size", "missing; a DFlash head drafts block_size - 1 tokens per round");
  const int block = *of_block.dimension({"block_size"});
  if (block < 2) of_block.refuse("block_size", fmt::format("{}; expected 2 or more", block));
  const auto layers = static_cast<int>(of_states.numbers(states).size());
  if (layers == 0)
    inner.refuse("target_layer_ids", "missing; expected the target's layers whose states the head reads");
  if (keys.dimension({"draft_vocab_size"}).value_or(model.vocab) != model.vocab)
    keys.refuse("draft_vocab_size", "a DFlash head with outputs of its own is not known; give --c");
  model.fused = layers * keys.dimension({"target_hidden_size"}).value_or(model.hidden);
  model.draft_vocab = model.vocab;
  add_corrections(model, keys, inner);
  // Where the first position predicts the next token, too, all positions draft.
  const bool all = model.head == HeadKind::dspark
                       ? keys.flag("sample_from_anchor", inner.flag("sample_from_anchor", true))
                       : keys.flag("shift_label", inner.flag("shift_label", false));
  model.max_drafted = all ? block : block - 1;
  if (nested) inner.refuse_unknown();
}

}  // namespace

HeadKind head_kind(const ModelKeys& keys, const ModelKeys& layer) {
  const std::string name = keys.architecture();
  const std::string speculators = keys.text("speculators_model_type");
  // The authors of EAGLE-3 publish heads as a Llama of one layer that drafts from a vocabulary of its own.
  const bool one_layer = name == "LlamaForCausalLM" && keys.has("draft_vocab_size") &&
                         layer.dimension({"num_hidden_layers"}) == 1;
  if (speculators == "eagle3" || parallel_eagle(keys) ||
      (speculators.empty() && (named(name, "eagle3") || one_layer)))
    return HeadKind::eagle3;
  if (speculators == "eagle" || (speculators.empty() && named(name, "ForCausalLMEagle")))
    return HeadKind::eagle;
  if (named(name, "medusa") || keys.text("model_type") == "medusa" || keys.has("medusa_num_heads"))
    return HeadKind::medusa;
  for (const char* known : {"DFlashDraftModel", "DSparkDraftModel", "DominoDraftModel"}) {
    if (name == known) return HeadKind::dflash;
  }
  if (speculators == "dflash" || speculators == "dspark") return HeadKind::dflash;
  if (name.empty() && keys.has("dflash_config")) return HeadKind::dflash;
  const bool other = keys.has("draft_vocab_size") || keys.has("dflash_config") || named(name, "eagle") ||
                     named(name, "dflash") || named(name, "dspark") || named(name, "mtp") ||
                     named(name, "nextn") || named(name, "draftmodel") || named(name, "speculator") ||
                     named(name, "assistant") || !speculators.empty();
  if (other) {
    keys.refuse(
        "architectures",
        fmt::format(
            "\"{}\" is a draft head whose cost is not known; those of EAGLE, EAGLE-3, P-EAGLE, Medusa, DFlash, DSpark and Domino are, and by --method mtp the target's own modules; else give --c or measured times",
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
  for (const char* key :
       {"num_target_layers", "target_model_type", "fc_norm", "norm_output", "norm_before_fc",
        "norm_before_residual", "eagle_config", "speculators_config", "use_aux_hidden_state"})
    keys.has(key);
  if (kind == HeadKind::eagle3) add_eagle3(model, keys, layer);
  if (model.drafts_block()) add_dflash(model, keys);
  if (kind == HeadKind::eagle) {
    if (model.layers != 1)
      layer.refuse("num_hidden_layers", fmt::format("{}; an EAGLE head has 1", model.layers));
    model = eagle_head(std::move(model));
  }
}

Transformer eagle_head(Transformer layer) {
  layer.head = HeadKind::eagle;
  layer.fused = 2 * layer.hidden;  // a matrix over the token's embedding and the target's state
  layer.draft_vocab = layer.vocab;
  return layer;
}

Transformer fitted_to(Transformer head, const Transformer& target) {
  const auto check = [&](const char* key, int own, int of_target, const char* what) {
    if (own == of_target) return;
    throw UsageError(
        "{}: /{}: {}; the target {} has {} {}: a head drafts for the target that it was made for",
        head.source, key, own, target.name, of_target, what);
  };
  if (target.hidden == 0) {
    if (head.hidden > 0 && head.vocab > 0) return head;
    throw UsageError("{}: /hidden_size: missing; of the target {} only the number of parameters is known",
                     head.source, target.name);
  }
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
  if (head.draft_vocab < head.vocab)
    head.notes.push_back(fmt::format(
        "{}: it drafts from {} of {} tokens: α is at most the probability p(S) that the target gives to these, whatever the head has learned.",
        head.source, head.draft_vocab, head.vocab));
  return head;
}

DraftMethod method_of(HeadKind kind) {
  return kind == HeadKind::eagle    ? DraftMethod::eagle
         : kind == HeadKind::eagle3 ? DraftMethod::eagle3
         : kind == HeadKind::mtp    ? DraftMethod::mtp
         : kind == HeadKind::medusa ? DraftMethod::medusa
         : kind == HeadKind::dflash ? DraftMethod::dflash
         : kind == HeadKind::dspark ? DraftMethod::dspark
         : kind == HeadKind::domino ? DraftMethod::domino
                                    : DraftMethod::draft;
}

}  // namespace speclab
