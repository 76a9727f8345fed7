// Devices and published models that tests of costs need, with the numbers of serving/advisor/devices.json and
// models.json.
#pragma once

#include "analysis/cost/roofline.hpp"

namespace speclab {

inline Machine h100(int devices = 1) {
  Machine machine;
  machine.device = {"h100-sxm", 989.4e12, 1978.9e12, 0, 3350e9, 80e9, 450e9, 700, ""};
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
