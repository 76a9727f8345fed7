// Builds the neural models of a config.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "experiments/catalog/models/model_factory.hpp"
#include "sim/models/gguf_model.hpp"

namespace speclab {

/// The parameters of a model of kind "gguf".
struct GgufParameters {
  std::string file;
  std::int32_t context = 0;
  std::optional<std::int32_t> batch;  ///< default: 1
  std::int32_t threads = 1;
  std::int32_t kept_rows = 64;  ///< in MiB
  bool chat = false;
  std::string tokens_of;  ///< a GGUF file with the tokens of the rows; empty: the model's own
};

/// Returns the parameters; null for a model of another kind.
const GgufParameters* gguf_parameters(const ModelConfig& model);

/// Returns the model for time measurements: it keeps no rows, and without its own "batch" each run has all
/// new tokens. Other models are returned unchanged.
ModelConfig for_the_clock(const ModelConfig& model);

/// Throws ConfigError for a neural model that cannot decode so many texts together, because it has a fixed
/// batch or because memory does not suffice for their caches. Does nothing for other models.
void require_gguf_together(const ModelConfig& model, std::int32_t texts, ModelFactory& factory);

/// Returns the tokenizer of a file, which is read once for each factory. Throws ConfigError at `path`.
std::shared_ptr<const GgufTokenizer> gguf_tokenizer(const std::string& file, const std::string& path,
                                                    ModelFactory& factory);

}  // namespace speclab
