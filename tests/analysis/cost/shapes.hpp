// Machines and models of tests of costs. The published ones have the numbers of serving/advisor/devices.json
// and models.json.
#pragma once

#include "analysis/cost/roofline.hpp"

namespace speclab {

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
  machine.bandwidth_efficiency = 1;
  machine.flops_efficiency = 1;
  machine.run_overhead = 0;
  machine.layer_overhead = 0;
  machine.reduce_latency = 0;
  return machine;
}

inline Machine h100(int devices = 1) {
  Machine machine;
  machine.device = {"h100-sxm", 989.4e12, 1978.9e12, 1978.9e12, 0, 3350e9, 80e9, 450e9, ""};
  machine.devices = devices;
  return machine;
}

inline Transformer llama(const char* name, int layers, int hidden, int heads, int head_size,
                         int feed_forward) {
  return {.name = name,
          .layers = layers,
          .hidden = hidden,
          .heads = heads,
          .kv_heads = 8,
          .head_size = head_size,
          .feed_forward = feed_forward,
          .vocab = 128256};
}

inline Transformer llama_8b() { return llama("llama-3.1-8b", 32, 4096, 32, 128, 14336); }
inline Transformer llama_70b() { return llama("llama-3.1-70b", 80, 8192, 64, 128, 28672); }
inline Transformer llama_1b() {
  Transformer model = llama("llama-3.2-1b", 16, 2048, 32, 64, 8192);
  model.tied = true;
  return model;
}

}  // namespace speclab
