// Finds presets by name, and lists them.
#pragma once

#include <string>
#include <vector>

#include "analysis/cost/presets.hpp"
#include "experiments/base/format/json.hpp"

namespace speclab {

/// Returns a preset. Throws ConfigError at `path`, with the nearest name, if there is none.
const Device& device_named(const std::string& name, const std::string& path);
/// Returns a preset model, or the model of a config.json or its folder.
Transformer model_named(const std::string& name, const std::string& path);
Precision precision_named(const std::string& name, const std::string& path);

/// A list that `speclab plan list` shows.
struct PresetList {
  std::string name;
  Json (*json)();
  std::string (*text)();
};
/// Returns the lists: devices, models, server options, and log formats with contents, source and sample.
const std::vector<PresetList>& preset_lists();

}  // namespace speclab
