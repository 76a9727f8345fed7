// Are the p-values of `speclab check` uniform under the null, and does it find faults as often as it states?
// Its tests are repeated many times, on a lossless rule and on planted faults, with small samples.
#pragma once

#include <cstdint>
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

/// The check's tests of `repeats` independent samples of `samples` sequences each; repeat r of study s draws
/// from a seed of its own, addressed by (the set-up's seed, r, s). Progress counts sequences. Throws Stopped.
std::vector<SequenceTests> repeat_tests(const Setup& setup, int gamma, std::size_t tokens,
                                        EqualityReference reference, std::uint32_t samples,
                                        std::uint32_t repeats, std::uint32_t study, const Control& control);

/// From results alone.
Presentation calibration_presentation();

}  // namespace speclab
