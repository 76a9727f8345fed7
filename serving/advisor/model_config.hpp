// Reads a language model's shape from its config.json, as in Hugging Face repositories.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "analysis/cost/roofline.hpp"
#include "experiments/base/format/json.hpp"

namespace speclab {

/// Returns true if a name is a file or folder rather than a preset: it ends with ".json", or exists.
bool is_model_config(const std::string& name);

/// Returns the shape that a config.json describes: decoders and encoder-decoders; for a model with several
/// kinds of input, its text_config. A file may have the fence of a code block around it. For a folder, its
/// config.json is read; beside it, hf_quant_config.json states the numbers of the weights, and
/// model.safetensors.index.json their bytes. The name is
/// "_name_or_path", or else the folder. Throws UsageError, with file, key and value, if a dimension is
/// missing or wrong, for a key that is not known and may change parameters, attention or cache
/// (ModelKeys::refuse_unknown), and for draft heads whose cost is not known (head_config.hpp). Medusa heads
/// may lack sizes that they take from their target (fitted_to).
Transformer model_from_config(const std::string& name);

/// The object and the name of a file that states in which numbers weights are stored.
struct QuantizationFile {
  Json whole{};
  std::string file{};  ///< empty: there is none
};

/// The same for an object, with the name of its file for errors.
Transformer model_from_json(const Json& whole, const std::string& file, const QuantizationFile& beside = {});

}  // namespace speclab
