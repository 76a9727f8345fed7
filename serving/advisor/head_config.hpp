// Reads draft heads from their config.json: EAGLE(-3), P-EAGLE, Medusa, DFlash, DSpark, Domino (HeadKind).
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

/// Returns Medusa heads. Their config.json contains little more than medusa_num_heads and medusa_num_layers,
/// as FasterDecoding/Medusa writes them (medusa_model.py), or num_heads and num_hidden_layers, as vLLM reads
/// them (transformers_utils/configs/medusa.py). Hidden size and vocabulary are 0 if they are the target's.
Transformer medusa_heads(const ModelKeys& keys);

/// Adds the other parts of an EAGLE, EAGLE-3 or DFlash head to `model`, which holds the layers. Throws
/// UsageError for missing or wrong keys.
void add_head(Transformer& model, HeadKind kind, const ModelKeys& keys, const ModelKeys& layer);

/// Returns the EAGLE head whose one layer is a config's: its authors publish it as a Llama of one layer.
Transformer eagle_head(Transformer layer);

/// Fills in the sizes that a head takes from its target. Throws UsageError for another hidden size or
/// vocabulary; notes what a smaller draft vocabulary means.
Transformer fitted_to(Transformer head, const Transformer& target);

/// Returns the method name that servers use for heads of this kind.
DraftMethod method_of(HeadKind kind);

}  // namespace speclab
