// Measures models that take real time, such as neural ones: predicts their speed before they decode, and
// measures it by the clock.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/base/format/fields.hpp"
#include "experiments/base/page/figure.hpp"
#include "experiments/base/page/table.hpp"
#include "experiments/run/setup.hpp"
#include "sim/control.hpp"
#include "sim/model_clock.hpp"

namespace speclab {

/// The times and speedups of neural models at one gamma. Speedups are over plain decoding of as many texts by
/// the same target.
struct ClockedGamma {
  std::string label;
  std::int32_t batch = 1;  ///< number of texts decoded at once
  std::int32_t gamma = 0;
  double target_run_milliseconds = 0;  ///< over one position
  double verify_run_milliseconds = 0;  ///< over gamma + 1 positions
  double draft_run_milliseconds = 0;
  double c = 0;                       ///< draft run over target run
  double verify_cost = 0;             ///< target run over gamma + 1 positions, relative to one position
  double alpha = 0;                   ///< for the text that the target wrote
  double expected_tokens = 0;         ///< per target step, exact for that text
  double tokens_per_target_step = 0;  ///< in the timed decoding
  double round_time = 0;              ///< time of a round, in target runs over one position
  double printed_speedup = 0;         ///< Theorem 3.8: free verification, independent acceptances
  double corrected_speedup = 0;       ///< with the verify cost
  double predicted_speedup = 0;       ///< also with the expected tokens; known before decoding
  double predicted_low = 0;           ///< bounds: the text might have been another one
  double predicted_high = 0;
  double played_speedup = 0;  ///< with the verify cost and the tokens of the timed rounds
  double speedup = 0;         ///< by the clock: median of paired repeats
  double speedup_low = 0;
  double speedup_high = 0;
  double plain_tokens_per_second = 0;
  double speculative_tokens_per_second = 0;
};

/// The experiment's part of timings.json.
struct WalltimeTimings {
  std::vector<ClockedGamma> clocked;
};
template <>
const Typed<ClockedGamma>& described();
template <>
const Typed<WalltimeTimings>& described();

struct ClockSettings {
  std::vector<std::int32_t> gammas;
  std::size_t tokens = 0;                ///< tokens of each decoding
  std::uint32_t repeats = 1;             ///< repeats of each gamma and of plain decoding
  std::vector<std::int32_t> batches{1};  ///< numbers of texts decoded at once
  ClockKind clock = ClockKind::wall;
};

/// Returns the steps that `clock_models` reports: tokens, in any decoding.
std::uint64_t clock_workload(const ClockSettings& settings);

/// Measures runs of both models along texts that the target writes, predicts the speedup of every gamma at
/// every batch over plain decoding of that batch, and then decodes. The text's acceptance rate is exact
/// (analysis/recorded/expected_rounds). Works in this thread only, except for writing the text. Throws
/// Stopped if `control` ended it.
std::vector<ClockedGamma> clock_models(const Setup& setup, const ClockSettings& settings, double confidence,
                                       const Control& control);

/// States the measured result in a sentence.
std::string clocked_headline(const std::vector<ClockedGamma>& rows);

/// Returns a table; `rows` must not be empty.
Table clocked_table(const std::vector<ClockedGamma>& rows, const std::string& id);
std::string clocked_csv(const std::vector<ClockedGamma>& rows);
/// Draws the three predictions as lines over gamma and the measured speedup as points, in a figure for each
/// case and batch.
std::vector<Figure> clocked_figures(const std::vector<ClockedGamma>& rows, const std::string& title);

}  // namespace speclab
