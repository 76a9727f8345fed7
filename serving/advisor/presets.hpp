// Finds presets by name, and lists them.
#pragma once

#include <string>
#include <vector>

#include "analysis/cost/presets.hpp"
#include "experiments/base/format/json.hpp"

namespace speclab {

/// Throws ConfigError at `path`, with the nearest name, if there is no such preset.
const Device& device_named(const std::string& name, const std::string& path);
/// Returns the model with a preset's name, or that of a config.json or of its folder.
Transformer model_named(const std::string& name, const std::string& path);
Precision precision_named(const std::string& name, const std::string& path);

/// A list that `speclab plan list` shows.
struct PresetList {
  std::string name;
  Json (*json)();
  std::string (*text)();
};
/// Returns devices, models, options of servers, and formats of logs with their content, source and a sample.
const std::vector<PresetList>& preset_lists();

}  // namespace speclab
