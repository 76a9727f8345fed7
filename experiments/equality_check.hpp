// `speclab check`: does speculative decoding have the target's law?
#pragma once

#include <string>

#include "speclab/analysis/goodness_of_fit.hpp"
#include "speclab/experiments/format/shape.hpp"

namespace speclab {

/// Null: the joint law of the first `tokens` tokens after the prompt is the same under speculative and under
/// plain decoding of the same target. Two independent samples, Pearson's chi-squared and the G statistic.
///
/// Cells are whole token sequences, so that faults which only show given an earlier token are seen. With a
/// large vocabulary most sequences are rare; those expected too seldom are gathered by a hash of their first
/// token and their last, into `hashed_cells` cells, so that rare sequences still count.
struct EqualityReport {
  FitTest test;
  double level = 0;
  double power = 0;
  double detectable_effect = 0;    ///< Cohen's w that would be found with probability `power`
  double detectable_distance = 0;  ///< total variation between the cells that is certain to be found so
  std::uint64_t samples_each = 0;
  int tokens = 0;

  /// Either statistic below half the level: Bonferroni keeps the false-alarm rate of the pair at the level.
  bool different() const { return test.pearson_p < level / 2 || test.g_p < level / 2; }
};

/// Throws ConfigError when the config cannot be tested (no models, a sweep, too few cells).
EqualityReport check_equality(const Json& config);

Json equality_json(const EqualityReport& report);

/// A few lines for people, ending in the verdict.
std::string equality_text(const EqualityReport& report);

}  // namespace speclab
