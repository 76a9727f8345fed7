// Models that take their own time, such as neural ones: predicted before they decode, and decoded by the
// clock.
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

/// One gamma of neural models. Speedups are over plain decoding of as many texts by the same target.
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
