// Reads a language model's shape from its config.json, as in Hugging Face repositories.
#pragma once

#include <string>

#include "analysis/cost/roofline.hpp"

namespace speclab {

/// Returns true if a name is a file or folder rather than a preset: it ends with ".json", or is a folder.
bool is_model_config(const std::string& name);

/// Returns the shape in a config.json or in that of a folder: any decoder or encoder-decoder, under the
/// various names of keys (num_hidden_layers, n_layer, num_layers, ...); for multimodal models, the
/// text_config. Its name is "_name_or_path", else the folder. Throws UsageError, with file, key and value,
/// for missing or wrong dimensions, sparse and linear attention, and draft heads of unknown cost
/// (head_config.hpp). Medusa heads may lack sizes that they take from their target (fitted_to).
Transformer model_from_config(const std::string& name);

}  // namespace speclab
