// Are the p-values of `speclab check` uniform under the null, and does it find faults as often as it states?
// Its tests are repeated many times, on a lossless rule and on planted faults, with small samples.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/statistics/intervals.hpp"
#include "analysis/statistics/sequence_tests.hpp"
#include "experiments/catalog/rules/rule_kind.hpp"
#include "experiments/verify/check/equality_test.hpp"
#include "sim/control.hpp"

namespace speclab {

struct Presentation;

/// Levels at which rejections under the null are counted.
inline constexpr std::array calibration_levels{0.1, 0.05, 0.01, 0.001};

/// The section "calibration" of a config.
struct CalibrationSection {
  std::int32_t tokens = 2;  ///< first tokens, whose distribution is tested
  EqualityReference reference = EqualityReference::exact_distribution;
  std::uint32_t repeats = 10000;  ///< tests under the null
  std::uint32_t samples = 1000;   ///< sequences in each of them
  std::vector<RuleConfig> faults;
  std::uint32_t power_repeats = 400;  ///< tests at each point of a power curve
  std::vector<std::uint32_t> power_samples{25, 50, 100, 200, 400, 800, 1600, 3200};
  double level = 0.05;  ///< of the power curves
};

/// How often p-values are at most a level.
struct RejectionRate {
  double level = 0;
  Interval rate{};
};

/// One kind of p-value under the null.
struct NullDistribution {
  std::string name;
  bool uniform = false;  ///< expected; the verdict's are adjusted, and so at most as often small
  std::optional<double> ks_distance;
  std::optional<double> ks_p;
  std::vector<RejectionRate> rejections;
  std::vector<std::uint64_t> ecdf;  ///< p-values up to 0, 1/200, ..., 1
};

/// Tests of samples of one size under a fault.
struct PowerPoint {
  std::uint32_t samples = 0;
  double effect = 0;  ///< Cohen's w
  std::int32_t degrees = 0;
  double predicted = 0;
  Interval pearson{};  ///< share that rejects
  Interval g{};
};

/// The prediction over the range of samples.
struct PowerLine {
  std::vector<std::uint64_t> samples;
  std::vector<double> power;
};

struct FaultPower {
  RuleConfig rule;
  double total_variation = 0;  ///< of the first tokens' distribution from the target's
  std::vector<PowerPoint> points;
  PowerLine line;
};

struct CalibrationResult {
  EqualityReference reference = EqualityReference::exact_distribution;
  std::uint32_t samples = 0;
  std::uint32_t repeats = 0;
  std::vector<NullDistribution> null;
  double level = 0;
  std::uint32_t power_repeats = 0;
  std::vector<FaultPower> power;
};
template <>
const Typed<CalibrationResult>& described();

/// What one cell repeats.
struct Calibration {
  std::shared_ptr<const Setup> setup;                ///< lossless: the null
  std::vector<std::shared_ptr<const Setup>> faults;  ///< the same models under each planted fault
  int gamma = 0;
  CalibrationSection settings;

  /// Token sequences to sample in all.
  std::uint64_t sequences() const;
};

/// Throws ConfigError for what cannot be calibrated: a distribution too large to be enumerated, a rule that
/// is not lossless.
void check_calibration(const Calibration& calibration);

/// The check's tests of `repeats` independent samples of `samples` sequences each; repeat r of study s draws
/// from a seed of its own, addressed by (the set-up's seed, r, s). Progress counts sequences. Throws Stopped.
std::vector<SequenceTests> repeat_tests(const Setup& setup, int gamma, std::size_t tokens,
                                        EqualityReference reference, std::uint32_t samples,
                                        std::uint32_t repeats, std::uint32_t study, const Control& control);

/// p-values under the null, and the power for each fault over the number of samples beside the noncentral
/// chi-squared distribution at the effect found by enumeration. Throws Stopped.
CalibrationResult calibrate(const Calibration& calibration, double confidence, const Control& control);

/// From results alone.
Presentation calibration_presentation();

}  // namespace speclab
