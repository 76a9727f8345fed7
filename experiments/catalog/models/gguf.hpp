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
  std::string tokens_of;  ///< a GGUF file with the tokenizer of the rows; empty: the model's own
};

/// Returns the parameters; null for a model of another kind.
const GgufParameters* gguf_parameters(const ModelConfig& model);

/// Returns the model for timing: it caches no rows, and without its own "batch" each run takes all new
/// tokens. Returns other models unchanged.
ModelConfig for_the_clock(const ModelConfig& model);

/// Throws ConfigError for a neural model that cannot decode so many texts at once: its "batch" is fixed, or
/// memory is too small for their caches.
void require_gguf_together(const ModelConfig& model, std::int32_t texts, ModelFactory& factory);

/// Returns a file's tokenizer, read once per factory. Throws ConfigError at `path`.
std::shared_ptr<const GgufTokenizer> gguf_tokenizer(const std::string& file, const std::string& path,
                                                    ModelFactory& factory);

}  // namespace speclab
