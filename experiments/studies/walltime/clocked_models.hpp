// Models that take their own time, such as neural ones: predicted before they decode, and decoded by the
// clock.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/base/page/figure.hpp"
#include "experiments/base/page/table.hpp"
#include "experiments/run/setup.hpp"
#include "experiments/run/timings.hpp"
#include "sim/control.hpp"
#include "sim/model_clock.hpp"

namespace speclab {

struct ClockSettings {
  std::vector<std::int32_t> gammas;
  std::size_t tokens = 0;                ///< of each decoding
  std::uint32_t repeats = 1;             ///< of each gamma and of plain decoding
  std::vector<std::int32_t> batches{1};  ///< how many texts are decoded at once
  ClockKind clock = ClockKind::wall;
};

/// Steps that `clock_models` tells of: tokens, in any decoding.
std::uint64_t clock_workload(const ClockSettings& settings);

/// Measures runs of both models along texts that the target writes, predicts the speedup of every gamma at
/// every batch over plain decoding of that batch, and decodes. The text's acceptance is exact
/// (analysis/recorded/expected_rounds). In this thread alone but for writing the text. Throws Stopped when
/// `control` ended it.
std::vector<ClockedGamma> clock_models(const Setup& setup, const ClockSettings& settings, double confidence,
                                       const Control& control);

/// What the clock says, in a sentence.
std::string clocked_headline(const std::vector<ClockedGamma>& rows);

/// Of `rows` that are not empty.
Table clocked_table(const std::vector<ClockedGamma>& rows, const std::string& id);
std::string clocked_csv(const std::vector<ClockedGamma>& rows);
/// The three predictions as lines over gamma, the clock as points; a figure a case and batch.
std::vector<Figure> clocked_figures(const std::vector<ClockedGamma>& rows, const std::string& title);

}  // namespace speclab
