// Measures models that take real time, such as neural ones: predicts their speedup, then decodes and times
// it.
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

/// Times and speedups of neural models at one gamma. Speedups compare with the same target, decoding as many
/// texts token by token.
struct ClockedGamma {
  std::string label;
  std::int32_t batch = 1;  ///< number of texts decoded at once
  std::int32_t gamma = 0;
  double target_run_milliseconds = 0;  ///< target run over one position
  double verify_run_milliseconds = 0;  ///< target run over gamma + 1 positions
  double draft_run_milliseconds = 0;
  double c = 0;                       ///< draft run divided by target run
  double verify_cost = 0;             ///< verify run divided by target run
  double alpha = 0;                   ///< of the text that the target wrote
  double expected_tokens = 0;         ///< per target step; exact for that text
  double tokens_per_target_step = 0;  ///< in the timed decoding
  double round_time = 0;              ///< in target runs over one position
  double printed_speedup = 0;         ///< by Theorem 3.8: verification is free, acceptances independent
  double corrected_speedup = 0;       ///< the same with the verify cost
  double predicted_speedup = 0;       ///< with verify cost and expected tokens; known before decoding
  double predicted_low = 0;           ///< bounds, since another text might have been written
  double predicted_high = 0;
  double played_speedup = 0;  ///< with verify cost and the tokens of the timed rounds
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
SPECLAB_IS_DESCRIBED(ClockedGamma);
SPECLAB_IS_DESCRIBED(WalltimeTimings);

struct ClockSettings {
  std::vector<std::int32_t> gammas;
  std::size_t tokens = 0;                ///< tokens of each decoding
  std::uint32_t repeats = 1;             ///< repeats of each gamma, and of decoding token by token
  std::vector<std::int32_t> batches{1};  ///< numbers of texts decoded at once
  ClockKind clock = ClockKind::wall;
};

/// Returns the number of steps that `clock_models` reports: tokens of all decodings.
std::uint64_t clock_workload(const ClockSettings& settings);

/// Times runs of both models along texts that the target writes, predicts the speedup of every gamma at every
/// batch over decoding that batch token by token, then decodes. The texts' acceptance rate is exact
/// (analysis/recorded/expected_rounds). Runs in this thread, except for writing the texts. Throws Stopped if
/// `control` ended it.
std::vector<ClockedGamma> clock_models(const Setup& setup, const ClockSettings& settings, double confidence,
                                       const Control& control);

/// States the measured result in a sentence.
std::string clocked_headline(const std::vector<ClockedGamma>& rows);

/// Returns a table; `rows` must not be empty.
Table clocked_table(const std::vector<ClockedGamma>& rows, const std::string& id);
std::string clocked_csv(const std::vector<ClockedGamma>& rows);
/// Draws, for each case and batch, the three predictions as lines over gamma and measured speedups as points.
std::vector<Figure> clocked_figures(const std::vector<ClockedGamma>& rows, const std::string& title);

}  // namespace speclab
