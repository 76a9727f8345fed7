// `speclab check`: does speculative decoding have the target's distribution?
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "analysis/statistics/sequence_tests.hpp"
#include "experiments/format/shape.hpp"
#include "experiments/registry.hpp"
#include "sim/control.hpp"

namespace speclab {

/// Null: the first `tokens` tokens after the prompt have the same distribution under speculative decoding as
/// under plain decoding of the target. Tested jointly (Pearson and G) and token by token given those before
/// it; Holm's adjustment makes one verdict of them.
struct EqualityReport {
  SequenceTests tests;
  bool exact = false;  ///< against the distribution computed from the target's rows; else two samples
  double level = 0;
  double power = 0;
  /// What is found with probability `power` or more by the joint test alone, at its share of the level:
  double detectable_effect = 0;    ///< Cohen's w
  double detectable_distance = 0;  ///< total variation between the cells
  /// Sequences (of each decoder) that would find a total variation of 0.01 so, with as many cells; 0: not
  /// known.
  std::uint64_t samples_for_one_percent = 0;
  std::uint64_t samples_each = 0;
  int tokens = 0;
  bool partial = false;  ///< interrupted: nothing was tested

  bool different() const { return !partial && tests.adjusted_p() <= level; }
};

/// The distribution of the first `tokens` tokens of plain decoding, computed from the target's rows: for one
/// prompt and at most 100,000 sequences. Empty for more.
std::optional<SequenceDistribution<double>> exact_plain_distribution(const Setup& setup, int tokens);

/// `control_for(total)` is asked once, with the number of sequences to come. Throws ConfigError when the
/// config cannot be tested (no models, a sweep).
EqualityReport check_equality(
    const Json& config,
    const std::function<Control(std::uint64_t total)>& control_for = [](std::uint64_t) { return Control{}; });

Json equality_json(const EqualityReport& report);

/// One line a test, ending in the verdict.
std::string equality_text(const EqualityReport& report);

}  // namespace speclab
