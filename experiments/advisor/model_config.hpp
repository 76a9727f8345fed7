// Any language model from its config.json, as Hugging Face repositories have it.
#pragma once

#include <string>

#include "analysis/cost/roofline.hpp"

namespace speclab {

/// Whether a name is a file rather than a preset: it ends with ".json", or is a folder.
bool is_model_config(const std::string& name);

/// The shape that a config.json describes, of decoders and encoder-decoders under the names of any model type
/// (num_hidden_layers, n_layer, num_layers, ...; the text_config of a model of several kinds of input). A
/// folder means its config.json. The name is "_name_or_path", else the folder. Throws UsageError,
/// with file, key and value, where a dimension is missing or wrong, for latent attention (kv_lora_rank),
/// whose cache the roofline does not know, and for draft heads other than EAGLE-3's (Transformer::is_head).
Transformer model_from_config(const std::string& name);

}  // namespace speclab
