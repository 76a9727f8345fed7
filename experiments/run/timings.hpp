// What depends on the machine and stands apart from the result: timings.json.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/base/format/fields.hpp"

namespace speclab {

/// One gamma of neural models, in the experiment "walltime". Speedups are over plain
/// decoding of as many texts by the same target.
struct ClockedGamma {
  std::string label;
  std::int32_t batch = 1;  ///< texts that are decoded at once
  std::int32_t gamma = 0;
  double target_run_milliseconds = 0;  ///< over one position
  double verify_run_milliseconds = 0;  ///< over gamma + 1
  double draft_run_milliseconds = 0;
  double c = 0;                       ///< draft run over target run
  double verify_cost = 0;             ///< target run over gamma + 1 positions over one over one
  double alpha = 0;                   ///< of the text that the target wrote
  double expected_tokens = 0;         ///< per target step, exactly for that text
  double tokens_per_target_step = 0;  ///< of the decoding that was timed
  double round_time = 0;              ///< of a round, in runs over one position
  double printed_speedup = 0;         ///< Theorem 3.8: verifying is free, acceptances are independent
  double corrected_speedup = 0;       ///< with the verify cost
  double predicted_speedup = 0;       ///< with it and the expected tokens: known before decoding
  double predicted_low = 0;           ///< the text might have been another
  double predicted_high = 0;
  double played_speedup = 0;  ///< with it and the tokens of the rounds that were timed
  double speedup = 0;         ///< by the clock: median of paired repeats
  double speedup_low = 0;
  double speedup_high = 0;
  double plain_tokens_per_second = 0;
  double speculative_tokens_per_second = 0;
};
template <>
const Typed<ClockedGamma>& described();

/// The GPU that simulated.
struct DeviceTimings {
  std::string name;
  std::string compute_capability;
  std::string driver;
  std::string runtime;
};

struct Timings {
  std::vector<ClockedGamma> clocked;
  std::optional<DeviceTimings> device;
  double seconds = 0;
  std::int32_t threads = 0;
  std::string machine;
  std::optional<std::string> version = {};  ///< with the commit that it was built from
  std::optional<std::string> command = {};  ///< that gave the result, for a shell
};
const Typed<Timings>& timings_type();

}  // namespace speclab
