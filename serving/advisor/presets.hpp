// Presets by name, and listed for people.
#pragma once

#include <string>
#include <vector>

#include "analysis/cost/presets.hpp"
#include "experiments/base/format/json.hpp"

namespace speclab {

/// Throws UsageError, with the nearest name, where there is none such. `option` names where it was given.
const Device& device_named(const std::string& name, const std::string& option);
/// A preset's name, or a config.json or the folder of one.
Transformer model_named(const std::string& name, const std::string& option);
Precision precision_named(const std::string& name, const std::string& option);

/// What `speclab plan list` shows.
struct PresetList {
  std::string name;
  Json (*json)();
  std::string (*text)();
};
/// Devices, models, options of servers, and formats of logs with what each holds, its source and a sample.
const std::vector<PresetList>& preset_lists();

}  // namespace speclab
