// Devices and language models by name, with the source of each number.
#pragma once

#include <vector>

#include "analysis/cost/roofline.hpp"

namespace speclab {

/// Accelerators, from their vendors' data sheets.
const std::vector<Device>& device_presets();

/// Language models, from their published config.json or the paper named.
const std::vector<Transformer>& model_presets();

}  // namespace speclab
