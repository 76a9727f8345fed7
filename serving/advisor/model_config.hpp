// Reads a language model's shape from its config.json, as in Hugging Face repositories.
#pragma once

#include <string>

#include "analysis/cost/roofline.hpp"

namespace speclab {

/// Returns true if a name is a file or folder rather than a preset: it ends with ".json", or is a folder.
bool is_model_config(const std::string& name);

/// Returns the shape that a config.json describes: decoders and encoder-decoders; for a model with several
/// kinds of input, its text_config. For a folder, its config.json is read. The name is "_name_or_path", or
/// else the folder. Throws UsageError, with file, key and value, if a dimension is missing or wrong, for a
/// key that is not known and may change parameters, attention or cache (ModelKeys::refuse_unknown), and for
/// draft heads whose cost is not known (head_config.hpp). Medusa heads may lack sizes that they take from
/// their target (fitted_to).
Transformer model_from_config(const std::string& name);

}  // namespace speclab
