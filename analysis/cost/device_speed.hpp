// Computes times, bottleneck and memory of a pair of models on a device, by the roofline model.
#pragma once

#include <optional>
#include <string>

#include "analysis/cost/cost_model.hpp"

namespace speclab {

/// Bytes on the device, and whether the requested batch fits.
struct DeviceMemory {
  double target_weights = 0;
  std::optional<double> draft_weights;
  std::optional<double> counted_weights;     ///< the target's by its shapes, if an index gives target_weights
  double cache_per_sequence = 0;             ///< with recurrent states
  std::optional<double> state_per_sequence;  ///< recurrent states of the target, if it has them
  double usable = 0;
  std::optional<double> largest_batch;  ///< negative: the weights do not fit; none: any batch fits

  double weights() const { return target_weights + draft_weights.value_or(0); }
  bool weights_fit() const { return !largest_batch || *largest_batch >= 0; }
  bool holds(double batch) const { return !largest_batch || batch <= *largest_batch; }
};

struct DeviceFindings {
  std::string name;
  int devices = 1;
  std::string source;
  double plain_ms = 0;
  double draft_ms = 0;  ///< time of a draft run: for one token, or for all if one run drafts them
  double verify_ms = 0;
  double plain_tokens_per_second = 0;
  double speculative_tokens_per_second = 0;
  bool compute_bound = false;  ///< whether target runs without drafts are compute-bound
  double intensity = 0;        ///< FLOP per byte of target runs without drafts
  double balance = 0;          ///< FLOP per byte of the device
  DeviceMemory memory;
};

/// Returns the memory for both models' weights and a cache of `at.context` tokens per sequence. A draft of
/// unknown shape counts 0. `share` of the device's memory may be used. Rounds draft `gamma` tokens, each of
/// which adds a recurrent state. Returns none unless the target's cost is a roofline.
std::optional<DeviceMemory> device_memory(const CostPair& costs, const Operation& at, double share,
                                          double gamma);

/// Returns the smallest number of such devices, in tensor parallel, whose memory holds the weights, caches
/// and states of this batch, among those that divide the models' heads; empty if none up to 1024 does: each
/// may hold a copy of the cache.
std::optional<int> devices_that_hold(CostPair costs, const Operation& at, double share, double gamma);

/// Returns the findings at `gamma`, whose rounds emit `tokens_per_round` tokens; none unless the target's
/// cost is a roofline.
std::optional<DeviceFindings> device_speed(const CostPair& costs, const Operation& at, double share,
                                           int gamma, double tokens_per_round);

}  // namespace speclab
