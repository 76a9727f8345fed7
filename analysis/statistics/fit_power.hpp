// Computes the power of tests of fit, and the differences that they can detect. Levels and powers are in (0,
// 1), asserted.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/statistics/goodness_of_fit.hpp"

namespace speclab {

/// Returns the power of a level-`level` chi-squared test: P(reject) for `samples` samples from a distribution
/// at effect w = sqrt(sum of (p_i - null_i)^2 / null_i), by the noncentral chi-squared distribution with
/// noncentrality samples w^2 (Cohen 1988, ch. 7). Asymptotic; degrees >= 1 (asserted).
double power_of(double effect, int degrees, std::uint64_t samples, double level);

/// Returns the smallest effect w that is rejected with probability `power` > level (asserted).
double detectable_effect(int degrees, std::uint64_t samples, double level, double power);

/// Returns the smallest number of samples with which an effect > 0 (asserted) is rejected with probability
/// `power` > level (asserted); at most 1e18. This inverts power_of in the samples, for the given degrees.
std::uint64_t planned_samples(double effect, int degrees, double level, double power);

/// Returns detectable_effect / 2. By Cauchy-Schwarz w >= 2 TV, so every distribution at least this far from
/// the null in total variation (between the cells) is rejected with probability `power` or more. The converse
/// fails: a distribution with a large w can be close in total variation.
double detectable_total_variation(int degrees, std::uint64_t samples, double level, double power);

/// The differences that fit_test detects with probability `power` or more, if Pearson's statistic and the
/// tails are each tested at `level`.
struct DetectableDifference {
  int degrees = 0;           ///< degrees of freedom
  bool tails = false;        ///< whether there are rare classes
  double effect = 0;         ///< w between the cells; 0 without degrees of freedom
  double between_cells = 1;  ///< total variation between cells; rare classes without a cell as one
  /// Total variation between all classes. By the triangle inequality: that between the cells plus the
  /// probability of the classes that share a cell, within which a difference may stay undetected.
  double total_variation = 1;
};

/// Returns these for `samples` > 0 samples against `probabilities`, as fit_test takes them.
DetectableDifference detectable_difference(std::span<const double> probabilities, std::uint64_t samples,
                                           double level, double power, double minimum = minimum_expectation);

/// A test whose samples come from an alternative: the effect between its cells, and the classes that exact
/// tails test.
struct PlannedTest {
  /// A class that an exact tail tests: one rare class, or all rare classes together.
  struct Tail {
    double null = 0;         ///< its probability under the null
    double alternative = 0;  ///< its probability under the alternative
    double tests = 1;        ///< number of tests by which its p-value is multiplied
  };
  double effect = 0;              ///< w of power_of, with noncentrality samples w^2
  int degrees = 0;                ///< cells less 1
  double impossible = 0;          ///< probability of classes impossible under the null: one sample rejects
  std::uint64_t samples = 0;      ///< samples of fit_test, or of each of two samples
  std::vector<Tail> single = {};  ///< rare classes, one by one; only for fit_test
  std::vector<Tail> pool = {};    ///< all rare classes as one class, if tested: one element or none
};

/// Plans fit_test of samples from `alternative` against `null` (probabilities of the same classes, each
/// divided by its total; lengths asserted).
PlannedTest planned_fit_test(std::span<const double> null, std::span<const double> alternative,
                             std::uint64_t samples, double minimum = minimum_expectation);

/// Plans two_sample_test with `samples_each` from either distribution. The noncentrality of the test of
/// homogeneity is samples_each w^2 with w^2 = sum of (p - q)^2 / (p + q); classes are rare by their
/// expectation. Tails are left out, so the power is a lower bound if some classes are rare.
PlannedTest planned_two_sample_test(std::span<const double> first, std::span<const double> second,
                                    std::uint64_t samples_each, double minimum = minimum_expectation);

/// Returns P(Pearson's statistic or the tails reject, each at `level`): by an impossible sample, the
/// noncentral chi-squared tail of power_of, or binomial tails. Rare classes are treated as independent, as
/// they nearly are.
double planned_power(const PlannedTest& planned, double level);

}  // namespace speclab
