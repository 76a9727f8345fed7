// Reads draft heads from their config.json: EAGLE-3, Medusa and DFlash (HeadKind).
#pragma once

#include "analysis/cost/roofline.hpp"
#include "serving/advisor/model_keys.hpp"
#include "serving/advisor/server_settings.hpp"

namespace speclab {

/// Returns which head a config.json describes, by its architecture ("LlamaForCausalLMEagle3",
/// "DFlashDraftModel", "MedusaModel") or by keys that only heads have. Throws UsageError for other heads,
/// whose cost is not known. `layer` is the object with the sizes of a layer, here and below: `keys`, or
/// /transformer_layer_config of the speculators library.
HeadKind head_kind(const ModelKeys& keys, const ModelKeys& layer);

/// Returns Medusa heads, whose config.json contains little else: medusa_num_heads and medusa_num_layers as
/// FasterDecoding/Medusa writes them (medusa_model.py), or num_heads and num_hidden_layers as vLLM reads them
/// (transformers_utils/configs/medusa.py). Hidden size and vocabulary are 0 if the target determines them.
Transformer medusa_heads(const ModelKeys& keys);

/// Adds to `model`, which holds the layers, the other parts of an EAGLE-3 or DFlash head. Throws UsageError
/// for missing or wrong keys.
void add_head(Transformer& model, HeadKind kind, const ModelKeys& keys, const ModelKeys& layer);

/// Returns the head with the sizes that it takes from its target. Throws UsageError if the head was made for
/// another hidden size or vocabulary.
Transformer fitted_to(Transformer head, const Transformer& target);

/// Returns the method by which servers know such a head.
DraftMethod method_of(HeadKind kind);

}  // namespace speclab
