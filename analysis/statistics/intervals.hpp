// Computes confidence intervals of estimates. Batches are assumed independent; correlation inside a batch
// does no harm. Confidence is a probability in (0, 1), asserted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace speclab {

/// Converts a count to a double.
inline double real(std::uint64_t count) { return static_cast<double>(count); }

/// Halves the range between two numbers `times` times. It keeps the half towards `high` if `beyond(middle)`,
/// and returns the ends of the last range.
template <class Beyond>
std::pair<double, double> halved(double low, double high, int times, const Beyond& beyond) {
  for (int i = 0; i < times; ++i) {
    const double middle = (low + high) / 2;
    (beyond(middle) ? low : high) = middle;
  }
  return {low, high};
}

/// A two-sided confidence interval. Its bounds are infinite if the error is unknown, as with one batch.
struct Interval {
  double estimate;
  double low;
  double high;

  double half_width() const { return (high - low) / 2; }
  bool bounded() const;
  /// Returns whether the interval can test a value: it is bounded and has a positive width.
  bool judges() const { return bounded() && low < high; }
  /// Returns whether the interval contains `value`, up to rounding of 1e-12 of the value.
  bool holds(double value) const;
};

/// Returns the estimate with infinite bounds.
Interval unbounded(double estimate);

/// Returns the interval of a number that is `factor` > 0 times as large.
inline Interval scaled(const Interval& interval, double factor) {
  return {factor * interval.estimate, factor * interval.low, factor * interval.high};
}

/// With fewer batches, the skewness is not corrected for, because its estimate is too uncertain.
inline constexpr std::size_t min_skewed_batches = 32;

/// Ratio of sums, such as tokens over rounds, with one numerator and one denominator per batch (equal
/// lengths, asserted). The error is that of the linearised ratio, numerator - ratio * denominator (delta
/// method, Cochran 1977, section 6.3), with Student's t on n - 1 degrees: exact for normal numerators over
/// equal denominators; else its relative bias is of order 1/n. If 32 batches or more are skewed, it is the
/// smallest interval that contains this one and that of Hall's transformation of t (1992, "On the removal of
/// skewness by transformation"): if a tenth of 32 batches differ in kind, Student's t alone covers .89 at
/// 95%. No interval accounts for a kind that no batch shows: one with share 3/n is missed by all n batches in
/// one run of twenty. Empty if the denominators sum to 0 or there are none.
std::optional<Interval> ratio_interval(std::span<const double> numerators,
                                       std::span<const double> denominators, double confidence);

/// Numerators and denominators of a ratio of sums, by batch.
struct BatchRatio {
  std::span<const double> numerators;
  std::span<const double> denominators;
};

/// Returns whether batches vary enough for Student's t: fewer than half of those with a denominator have the
/// same value.
bool varies(const BatchRatio& batches);

/// The range of the values of a quantity.
struct Support {
  double low;
  double high;
};

/// Returns the interval of the mean of independent values if all possible values lie in `support` (extended
/// by those seen); counts[v] is the number of values v. It is the integral over t of Clopper and Pearson's
/// bounds of P(value >= t), which is 1 below the support and 0 above. With two possible values it is Clopper
/// and Pearson's interval; with more it is Stringer's bound, known as conservative (Bickel 1992, "Inference
/// and auditing: the Stringer bound"). It allows unseen values: if all n values are equal, a share of up to
/// -log((1 - confidence) / 2) / n may lie at the ends. `counts` is not empty (asserted).
Interval bounded_mean_interval(const std::map<double, std::uint64_t>& counts, const Support& support,
                               double confidence);

/// The largest denominators of batches with ratios at the low and the high end of the support: a batch in
/// which everything is rejected examines fewer tokens than one in which everything is accepted.
struct LargestDenominators {
  double at_low;
  double at_high;
};

/// Returns the interval of a ratio of sums that lies in `support`. If the batches vary, it is ratio_interval,
/// cut to the support. Else it contains the ratios for which bounded_mean_interval of numerator - ratio *
/// denominator contains 0 (Fieller 1954, with that interval instead of Student's t); with equal denominators
/// this is bounded_mean_interval of the batches' values. Without `largest` the largest observed denominators
/// are used.
std::optional<Interval> bounded_ratio_interval(std::span<const double> numerators,
                                               std::span<const double> denominators, const Support& support,
                                               double confidence,
                                               std::optional<LargestDenominators> largest = {});

/// Returns the interval of the difference of two such ratios, first less second, for runs whose batches are
/// paired: equal numbers of batches (asserted). Shared random numbers make it narrower than two separate
/// intervals imply. Empty if either ratio is. The bounds are infinite if half of the batches or more have the
/// same difference, such as 0, so that Student's t is invalid.
std::optional<Interval> paired_difference(const BatchRatio& first, const BatchRatio& second,
                                          double confidence);

/// Returns the interval of the success probability of independent trials, successes <= trials (asserted):
/// Clopper and Pearson 1934, whose coverage is never below `confidence`. Empty without trials.
std::optional<Interval> binomial_interval(std::uint64_t successes, std::uint64_t trials, double confidence);

/// Returns the confidence that each of `comparisons` >= 1 independent intervals needs so that all hold
/// together with `confidence`: confidence^(1/comparisons) (Šidák 1967).
double family_confidence(double confidence, int comparisons);

/// Returns the two-sided quantile of Student's distribution: within plus or minus this lies the probability
/// `confidence`. `degrees` > 0.
double student_quantile(double degrees, double confidence);

/// Returns the middle value, or the mean of the middle two; NaN without values.
double median(std::vector<double> values);

/// Returns the median with the interval between two order statistics that contains the distribution's median
/// with at least `confidence`, for any distribution (Thompson 1936). Unbounded if there are too few values,
/// fewer than 6 at 0.95. Empty without values.
std::optional<Interval> median_interval(std::vector<double> values, double confidence);

}  // namespace speclab
