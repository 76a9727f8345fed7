// Reads from a model's config.json in which numbers its weights and its cache are stored.
#pragma once

#include <string>

#include "analysis/cost/roofline.hpp"
#include "serving/advisor/model_keys.hpp"

namespace speclab {

/// Bytes of a 4-bit float with its share of a block's scale: 16 numbers with 8 bits, or 32.
constexpr double nvfp4_bytes = 0.5 + 1.0 / 16;
constexpr double mxfp4_bytes = 0.5 + 1.0 / 32;

/// Sets in which numbers a checkpoint stores `model`, whose layers are known, from the object `key`, such as
/// quantization_config, in the forms of Transformers (fp8, fbgemm_fp8, gptq, awq, bitsandbytes, mxfp4),
/// compressed-tensors and ModelOpt. Lists of modules that stay in 16 bits, or have other numbers, are
/// averaged over the layers. `blocks` are those of block_pattern. Throws UsageError for another method, and
/// adds a note for a module that is not known.
void add_stored(Transformer& model, const ModelKeys& keys, const char* key, const std::string& blocks);

}  // namespace speclab
