// Computes the differences that tests of fit detect. Levels and powers are in (0, 1), asserted.
#pragma once

#include <cstdint>
#include <span>

#include "analysis/statistics/goodness_of_fit.hpp"

namespace speclab {

/// Returns the smallest effect w = sqrt(sum of (p_i - null_i)^2 / null_i) that a chi-squared test of this
/// level rejects with probability `power` > level (asserted), by the noncentral chi-squared distribution with
/// noncentrality samples w^2 (Cohen 1988, ch. 7). Asymptotic; degrees >= 1 (asserted).
double detectable_effect(int degrees, std::uint64_t samples, double level, double power);

/// Returns the smallest number of samples with which an effect > 0 (asserted) is rejected with probability
/// `power` > level (asserted); at most 1e18. This inverts detectable_effect in the samples.
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

}  // namespace speclab
