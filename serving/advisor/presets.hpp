// Presets by name, and listed for people.
#pragma once

#include <string>
#include <vector>

#include "analysis/cost/presets.hpp"
#include "experiments/base/format/json.hpp"

namespace speclab {

/// Throws ConfigError at `path`, with the nearest name, where there is none such.
const Device& device_named(const std::string& name, const std::string& path);
/// A preset's name, or a config.json or the folder of one.
Transformer model_named(const std::string& name, const std::string& path);
Precision precision_named(const std::string& name, const std::string& path);

/// What `speclab plan list` shows.
struct PresetList {
  std::string name;
  Json (*json)();
  std::string (*text)();
};
/// Devices, models, options of servers, and formats of logs with what each holds, its source and a sample.
const std::vector<PresetList>& preset_lists();

}  // namespace speclab
