// Neural models of a config.
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
  std::optional<std::int32_t> batch;  ///< 1 without one
  std::int32_t threads = 1;
  std::int32_t kept_rows = 64;  ///< MiB
  bool chat = false;
  std::string tokens_of;  ///< a GGUF file whose tokens the rows are over; empty: the model's own
};

/// Null for a model of another kind.
const GgufParameters* gguf_parameters(const ModelConfig& model);

/// The same model for the clock: it keeps no rows, and without a "batch" of its own a run has as many tokens
/// as are new. Other models stay as they are.
ModelConfig for_the_clock(const ModelConfig& model);

/// Throws ConfigError for a neural model that cannot decode so many texts together: with a fixed batch, or
/// for want of memory for their caches. Nothing for other models.
void require_gguf_together(const ModelConfig& model, std::int32_t texts, ModelFactory& factory);

/// The tokenizer of a file, read once for each factory. Throws ConfigError at `path`.
std::shared_ptr<const GgufTokenizer> gguf_tokenizer(const std::string& file, const std::string& path,
                                                    ModelFactory& factory);

}  // namespace speclab
