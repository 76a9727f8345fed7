// Measures a pair of models: the target writes a text, along which runs are timed.
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
  std::size_t tokens = 0;                ///< tokens per text; more than twice `positions`
  std::uint32_t texts = 1;               ///< number of texts; they take the set-up's prompts in turn
  std::size_t positions = 2;             ///< most new positions in a target run, at least 2
  std::vector<std::int32_t> batches{1};  ///< numbers of texts decoded at once
  ClockKind clock = ClockKind::wall;
};

struct MeasuredPair {
  RecordedTokens text;
  std::vector<RunSeconds> runs;  ///< by batch; medians over places along all texts
};

/// Writes texts in parallel, then times runs in this thread. Returns nothing if `control` ended it; reports
/// no progress. Throws ConfigError at "/walltime/tokens" if texts are too short.
std::optional<MeasuredPair> measure_pair(const Setup& setup, const PairMeasurement& how,
                                         const Control& control);

}  // namespace speclab
