// Named devices, language models and data types, with the source of each, and their lists.
#pragma once

#include <string>
#include <vector>

#include "analysis/cost/roofline.hpp"
#include "experiments/base/format/json.hpp"

namespace speclab {

/// Returns accelerators, from their vendors' data sheets. Rates are dense; links are for one direction.
const std::vector<Device>& device_presets();
/// Returns language models and draft heads, from their published config.json or the paper named.
const std::vector<Transformer>& model_presets();

/// Returns a preset, or the device of a .json file in the form of devices.json. Throws ConfigError at `path`,
/// with the nearest name, if there is none.
Device device_named(const std::string& name, const std::string& path);
/// Returns a preset model, by its name or its repository's, or the model of a config.json or its folder.
Transformer model_named(const std::string& name, const std::string& path);
/// Returns bf16, fp16, fp8, int8, nvfp4, or mxfp4 and int4 (weights only); caches are 16-bit.
Precision precision_named(const std::string& name, const std::string& path);
/// Returns the data types of a model's weights and cache: those that its config states, else `otherwise`.
Precision precision_of(const Transformer& model, Precision otherwise);

/// A list that `speclab plan list` shows.
struct PresetList {
  std::string name;
  Json (*json)();
  std::string (*text)();
};
/// Returns the lists: devices, models, server options, and log formats with contents, source and sample.
const std::vector<PresetList>& preset_lists();

}  // namespace speclab
