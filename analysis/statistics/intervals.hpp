// How sure an estimate is. Batches are independent runs or long stretches of one; a batch is the unit of
// independence, so correlation inside a batch does no harm. Confidence is a probability in (0, 1), asserted.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace speclab {

/// A two-sided confidence interval. One batch gives an estimate whose error is unknown: its bounds are
/// infinite.
struct Interval {
  double estimate;
  double low;
  double high;

  double half_width() const { return (high - low) / 2; }
};

/// Mean of batch values with Student's t on n - 1 degrees: exact for normal values. Empty without values.
std::optional<Interval> mean_interval(std::span<const double> values, double confidence);

/// Ratio of sums, such as tokens over rounds, with one numerator and one denominator per batch (equal
/// lengths, asserted). The error is that of the linearised ratio, numerator - ratio * denominator (delta
/// method, Cochran 1977, section 6.3), with Student's t on n - 1 degrees; its relative bias is of order 1/n.
/// Empty when the denominators sum to 0 or there are none.
std::optional<Interval> ratio_interval(std::span<const double> numerators,
                                       std::span<const double> denominators, double confidence);

/// Numerators and denominators of such a ratio.
struct BatchRatio {
  std::span<const double> numerators;
  std::span<const double> denominators;
};

/// Difference of two such ratios, first less second, of runs whose batches belong together pair by pair:
/// equal numbers of batches, asserted. Numbers that both runs share make it sharper than two intervals. Empty
/// when either ratio is.
std::optional<Interval> paired_difference(const BatchRatio& first, const BatchRatio& second,
                                          double confidence);

/// Success probability of independent trials, successes <= trials (asserted): Clopper and Pearson 1934, whose
/// coverage is never below `confidence`. Empty without trials.
std::optional<Interval> binomial_interval(std::uint64_t successes, std::uint64_t trials, double confidence);

/// The confidence that each of `comparisons` >= 1 independent intervals needs so that all hold together with
/// `confidence`: confidence^(1/comparisons) (Šidák 1967).
double family_confidence(double confidence, int comparisons);

}  // namespace speclab
