// Are the p-values of `speclab check` what they say, and does it find faults as often as it promises? Its
// tests are repeated many times, on a lossless verifier and on planted faults, with small samples.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/statistics/sequence_tests.hpp"
#include "experiments/format/shape.hpp"
#include "experiments/registry.hpp"
#include "sim/control.hpp"

namespace speclab {

/// What one cell repeats.
struct Calibration {
  std::shared_ptr<const Setup> setup;                ///< lossless: the null
  std::vector<std::shared_ptr<const Setup>> faults;  ///< the same models under each planted fault
  int gamma = 0;
  Json settings;  ///< the calibration section

  /// Token sequences to sample in all.
  std::uint64_t sequences() const;
};

/// Intervals that the result of a cell states.
int calibration_intervals(const Json& config);

/// Throws ConfigError for what cannot be calibrated: a distribution too large to be enumerated, a verifier
/// that is not lossless.
void check_calibration(const Calibration& calibration);

/// The check's tests of `repeats` independent samples of `samples` sequences each; repeat r of study s draws
/// from a seed of its own, addressed by (the set-up's seed, r, s). Against the exact distribution, or a
/// second sample. Shorter when `control` ended it early; its progress counts sequences.
std::vector<SequenceTests> repeat_tests(const Setup& setup, int gamma, std::size_t tokens, bool exact,
                                        std::uint32_t samples, std::uint32_t repeats, std::uint32_t study,
                                        const Control& control);

/// p-values under the null, and the power for each fault over the number of samples beside the noncentral
/// chi-squared distribution at the effect found by enumeration. Null when interrupted.
Json calibrate(const Calibration& calibration, double confidence, const Control& control);

}  // namespace speclab
