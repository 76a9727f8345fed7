// What depends on the machine and stands apart from the result: timings.json.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/fields.hpp"

namespace speclab {

/// One cell of the experiment "walltime".
struct WalltimeRow {
  std::string label;
  std::int32_t gamma = 0;
  double target_run_microseconds = 0;
  double draft_run_microseconds = 0;
  double c = 0;
  double tokens_per_target_step = 0;
  double plain_tokens_per_second = 0;
  double speculative_tokens_per_second = 0;
  double speedup = 0;
  double predicted_speedup = 0;
};

/// The GPU that simulated.
struct DeviceTimings {
  std::string name;
  std::string compute_capability;
  std::string driver;
  std::string runtime;
};

struct Timings {
  std::vector<WalltimeRow> walltime;
  std::optional<DeviceTimings> device;
  double seconds = 0;
  std::int32_t threads = 0;
  std::string machine;
};
const Typed<Timings>& timings_type();

}  // namespace speclab
