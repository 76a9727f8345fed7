// What the roofline says of a pair of models on a device: times, limits, memory, traffic and energy.
#pragma once

#include <optional>
#include <string>

#include "analysis/cost/speculation_cost.hpp"

namespace speclab {

/// Bytes on the device, and whether what was asked for fits.
struct DeviceMemory {
  double target_weights = 0;
  std::optional<double> draft_weights;
  double cache_per_sequence = 0;
  double usable = 0;
  std::optional<double> largest_batch;  ///< negative: the weights do not fit; none: any fits

  double weights() const { return target_weights + draft_weights.value_or(0); }
  bool weights_fit() const { return !largest_batch || *largest_batch >= 0; }
  bool holds(double batch) const { return !largest_batch || batch <= *largest_batch; }
};

/// Per emitted token.
struct PlainAndSpeculative {
  double plain = 0;
  double speculative = 0;
};

struct DeviceFindings {
  std::string name;
  int devices = 1;
  std::string source;
  double plain_ms = 0;
  double draft_ms = 0;  ///< a draft run: of one token, or of all where one run drafts them
  double verify_ms = 0;
  double plain_tokens_per_second = 0;
  double speculative_tokens_per_second = 0;
  bool compute_bound = false;  ///< plain runs
  double intensity = 0;        ///< FLOP a byte of plain runs
  double balance = 0;          ///< FLOP a byte of the device
  DeviceMemory memory;
  std::optional<PlainAndSpeculative> bytes_per_token;   ///< none without the draft's shape
  std::optional<PlainAndSpeculative> joules_per_token;  ///< none without the draft's shape
};

/// Memory of sequences of `at.context` tokens beside the weights of both models, of which a draft without a
/// shape has none; `share` of the device's memory may be used. None unless the target's cost is a roofline.
std::optional<DeviceMemory> device_memory(const CostPair& costs, const Operation& at, double share);

/// The fewest devices of this kind, in tensor parallel, whose memory holds `memory` and this batch.
double devices_that_hold(const DeviceMemory& memory, double batch, int devices);

/// At `gamma`, whose rounds have `tokens_per_round`. None unless the target's cost is a roofline. Numbers
/// that need the draft's shape are left out without it.
std::optional<DeviceFindings> device_speed(const CostPair& costs, const Operation& at, double share,
                                           int gamma, double tokens_per_round);

}  // namespace speclab
