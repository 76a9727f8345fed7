// Named devices and language models, with the source of each number.
#pragma once

#include <string>
#include <vector>

#include "analysis/cost/roofline.hpp"

namespace speclab {

/// Returns accelerators, from their vendors' data sheets.
const std::vector<Device>& device_presets();

struct NamedPrecision {
  std::string name;
  Precision precision;
};
/// Returns bf16, fp16, fp8, int8, and int4 (weights only); caches are 16-bit.
const std::vector<NamedPrecision>& precision_presets();

/// Returns language models, from their published config.json or the paper named.
const std::vector<Transformer>& model_presets();

}  // namespace speclab
