// Draft heads from their config.json: EAGLE-3, Medusa and DFlash (HeadKind).
#pragma once

#include "analysis/cost/roofline.hpp"
#include "serving/advisor/model_keys.hpp"
#include "serving/advisor/server_settings.hpp"

namespace speclab {

/// Which head a config.json describes: by its architecture ("LlamaForCausalLMEagle3", "DFlashDraftModel",
/// "MedusaModel"), or by keys that only heads have. UsageError for other heads, whose cost is not known.
HeadKind head_kind(const ModelKeys& keys);

/// Medusa heads, whose config.json has little else: medusa_num_heads and medusa_num_layers as
/// FasterDecoding/Medusa writes them (medusa_model.py), or num_heads and num_hidden_layers as vLLM reads them
/// (transformers_utils/configs/medusa.py). Hidden size and vocabulary are 0 where it leaves them to the
/// target.
Transformer medusa_heads(const ModelKeys& keys);

/// What an EAGLE-3 or DFlash head has beside its layers, which `model` holds. UsageError for missing or wrong
/// keys.
void add_head(Transformer& model, HeadKind kind, const ModelKeys& keys);

/// The head with what it has of its target. UsageError where it was made for another hidden size or
/// vocabulary.
Transformer fitted_to(Transformer head, const Transformer& target);

/// The method by which servers know such a head.
DraftMethod method_of(HeadKind kind);

}  // namespace speclab
