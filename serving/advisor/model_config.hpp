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
/// with file, key and value, where a dimension is missing or wrong, for sparse and linear attention, and for
/// draft heads whose cost is not known (head_config.hpp). Medusa heads may lack what their target has
/// (fitted_to).
Transformer model_from_config(const std::string& name);

}  // namespace speclab
