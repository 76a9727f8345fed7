// A pair of models measured: a text that the target writes, and how long runs along it take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "experiments/run/record_pair.hpp"
#include "experiments/run/setup.hpp"
#include "sim/control.hpp"
#include "sim/model_clock.hpp"

namespace speclab {

struct PairMeasurement {
  std::size_t tokens = 0;                ///< of each text; more than twice `positions`
  std::uint32_t texts = 1;               ///< from the set-up's prompts in turn
  std::size_t positions = 2;             ///< most new positions of a target run, at least 2
  std::vector<std::int32_t> batches{1};  ///< how many texts are decoded at once
  ClockKind clock = ClockKind::wall;
};

struct MeasuredPair {
  RecordedTokens text;
  std::vector<RunSeconds> runs;  ///< by batch; medians over places along all texts
};

/// Texts are written in parallel, runs are timed in this thread alone. None when `control` ended it; its
/// progress is not told. Throws ConfigError at "/walltime/tokens" for texts too short.
std::optional<MeasuredPair> measure_pair(const Setup& setup, const PairMeasurement& how,
                                         const Control& control);

}  // namespace speclab
