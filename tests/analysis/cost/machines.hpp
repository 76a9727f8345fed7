// Machines and models of tests of costs.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/cost/presets.hpp"
#include "analysis/cost/roofline.hpp"

namespace speclab {

template <class Preset>
const Preset& preset_of(const std::vector<Preset>& presets, const std::string& name) {
  return *std::find_if(presets.begin(), presets.end(), [&](const Preset& one) { return one.name == name; });
}

/// Returns a model small enough to count by hand: 32 + 16 + 96 weights per layer, 40 in each embedding.
inline Transformer tiny() {
  Transformer model;
  model.layers = 3;
  model.hidden = 4;
  model.heads = 2;
  model.kv_heads = 1;
  model.head_size = 2;
  model.feed_forward = 8;
  model.vocab = 10;
  return model;
}

/// Returns a machine without overheads at full efficiency: the bare roofline.
inline Machine bare(double flops, double bandwidth) {
  Machine machine;
  machine.device.flops_16bit = flops;
  machine.device.flops_8bit = 2 * flops;
  machine.device.bandwidth = bandwidth;
  machine.device.memory = 1e4;
  machine.device.link = 1e9;
  machine.device.power = 100;
  machine.bandwidth_efficiency = 1;
  machine.flops_efficiency = 1;
  machine.run_overhead = 0;
  machine.layer_overhead = 0;
  machine.reduce_latency = 0;
  return machine;
}

}  // namespace speclab
