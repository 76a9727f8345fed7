// Reads from a model's config.json in which numbers its weights and its cache are stored.
#pragma once

#include <string>

#include "serving/advisor/model_keys.hpp"

namespace speclab {

/// The numbers in which a checkpoint stores a model.
struct StoredNumbers {
  std::string
      weights{};  ///< "fp8", "int8", "int4"; "mixed" for 4-bit floats beside 16-bit weights; "": 16 bits
  bool eight_bit_cache = false;
};

/// Reads the object `key`, such as quantization_config, in the forms of Transformers (fp8, fbgemm_fp8, gptq,
/// awq, bitsandbytes, mxfp4), compressed-tensors and ModelOpt. Throws UsageError for another method.
StoredNumbers stored_numbers(const ModelKeys& keys, const char* key);

}  // namespace speclab
