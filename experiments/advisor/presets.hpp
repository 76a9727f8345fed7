// Presets by name, and listed for people.
#pragma once

#include <string>

#include "analysis/cost/presets.hpp"
#include "experiments/format/json.hpp"

namespace speclab {

/// Throws UsageError, with the nearest name, where there is none such. `option` names where it was given.
const Device& device_named(const std::string& name, const std::string& option);
/// A preset's name, or a config.json or the folder of one.
Transformer model_named(const std::string& name, const std::string& option);
Precision precision_named(const std::string& name, const std::string& option);

Json devices_json();
Json models_json();
Json options_json();
Json logs_json();
std::string devices_text();
std::string models_text();
std::string options_text();
/// Each format of logs with what it holds, its source and a sample.
std::string logs_text();

}  // namespace speclab
