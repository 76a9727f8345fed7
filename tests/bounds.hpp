// The bounds of every statistical test of whole simulations, in one place. A comparison fails at seven
// standard deviations: 2.6e-12 under the null, so that a suite of 400 comparisons has a false-alarm rate of
// 1e-9.
#pragma once

#include <cmath>

namespace speclab {

inline constexpr double bound_in_sigmas = 7;

/// p-values of chi-squared tests are held against this: a suite of ten tests alarms falsely at 1e-9.
inline constexpr double p_value_bound = 1e-10;

/// Is a mean of `samples` values with this expectation and standard deviation where it should be?
inline bool mean_agrees(double mean, double expected, double deviation, double samples) {
  return std::abs(mean - expected) <= bound_in_sigmas * deviation / std::sqrt(samples);
}

/// Is this number of successes Binomial(trials, probability)?
inline bool count_agrees(double successes, double trials, double probability) {
  return mean_agrees(successes / trials, probability, std::sqrt(probability * (1 - probability)), trials);
}

}  // namespace speclab
