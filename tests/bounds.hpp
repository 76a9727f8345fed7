// The bounds of every statistical test of whole simulations, in one place. A comparison fails at seven
// standard deviations: 2.6e-12 under the null, so that a suite of 400 comparisons has a false-alarm rate of
// 1e-9.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "core/random/philox.hpp"

namespace speclab {

inline constexpr double bound_in_sigmas = 7;

/// Returns the fixed seed of a statistical test. SPECLAB_TEST_SEED=1, 2, ... in the environment changes it,
/// to measure how often tests alarm without a cause (scripts/false_alarms.sh). It is below 2^52, so that a
/// config can hold it.
inline std::uint64_t test_seed(std::uint64_t fixed) {
  const char* variation = std::getenv("SPECLAB_TEST_SEED");
  const unsigned long number = variation == nullptr ? 0 : std::strtoul(variation, nullptr, 10);
  if (number == 0) return fixed;
  return Philox(fixed, Site{static_cast<std::uint32_t>(number), 0, Draw{Use::world, 0xffff}})() >> 12U;
}

/// Bound for p-values: a suite of a hundred tests has a false-alarm rate of 1e-9.
inline constexpr double p_value_bound = 1e-11;

/// Returns whether a mean of `samples` values agrees with this expectation and standard deviation.
inline bool mean_agrees(double mean, double expected, double deviation, double samples) {
  return std::abs(mean - expected) <= bound_in_sigmas * deviation / std::sqrt(samples);
}

/// Returns whether this number of successes agrees with Binomial(trials, probability).
inline bool count_agrees(double successes, double trials, double probability) {
  return mean_agrees(successes / trials, probability, std::sqrt(probability * (1 - probability)), trials);
}

}  // namespace speclab
