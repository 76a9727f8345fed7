// How sure an estimate is. A batch is the unit of independence, so correlation inside a batch does no harm.
// Confidence is a probability in (0, 1), asserted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>

namespace speclab {

/// A two-sided confidence interval. Where the error is not known, as with one batch, its bounds are infinite.
struct Interval {
  double estimate;
  double low;
  double high;

  double half_width() const { return (high - low) / 2; }
  bool bounded() const;
  /// Whether it can judge a value: bounded, and not of width 0, which no sampling error is.
  bool judges() const { return bounded() && low < high; }
  /// Up to rounding, 1e-12 of the value.
  bool holds(double value) const;
};

/// The estimate with infinite bounds.
Interval unbounded(double estimate);

/// Of fewer batches the skewness is not known well enough to correct for.
inline constexpr std::size_t least_skewed_batches = 32;

/// Ratio of sums, such as tokens over rounds, with one numerator and one denominator per batch (equal
/// lengths, asserted). The error is that of the linearised ratio, numerator - ratio * denominator (delta
/// method, Cochran 1977, section 6.3), with Student's t on n - 1 degrees: exact for normal numerators
/// over equal denominators; else its relative bias is of order 1/n. Where 32 batches or more are skewed,
/// since a few of them are unlike the others, it is the smallest interval that holds this one and that of
/// Hall's transformation of t (1992, "On the removal of skewness by transformation"): where a tenth of 32
/// batches are of another kind Student's t covers .89 at 95%. None of them covers a kind that no batch is of:
/// a share of 3/n of all is missed by all n batches in one run of twenty. Empty when the denominators sum to
/// 0 or there are none.
std::optional<Interval> ratio_interval(std::span<const double> numerators,
                                       std::span<const double> denominators, double confidence);

/// Numerators and denominators of such a ratio.
struct BatchRatio {
  std::span<const double> numerators;
  std::span<const double> denominators;
};

/// Whether batches differ enough for Student's t to know something: fewer than half of those with a
/// denominator have one and the same value.
bool varies(const BatchRatio& batches);

/// Where the values of a quantity lie.
struct Support {
  double low;
  double high;
};

/// Mean of independent values, of which counts[v] were v, when all possible ones lie in `support` (extended
/// by those seen): the integral over t of Clopper and Pearson's bounds of P(value >= t), which is 1 below the
/// support and 0 above. Of two possible values it is Clopper and Pearson's interval; of more it is Stringer's
/// bound, known as conservative (Bickel 1992, "Inference and auditing: the Stringer bound"). It does not
/// suppose that values not seen are like those seen: where all n are alike, up to -log((1 - confidence) / 2)
/// / n of the others may lie at the ends. Not empty, asserted.
Interval bounded_mean_interval(const std::map<double, std::uint64_t>& counts, const Support& support,
                               double confidence);

/// The largest denominators that batches could have whose ratios are at either end of the support: a batch in
/// which everything is rejected examines fewer tokens than one in which everything is accepted.
struct LargestDenominators {
  double at_low;
  double at_high;
};

/// Of ratios of sums that lie in `support`. Where the batches vary it is ratio_interval, cut to the support,
/// which the true ratio does not leave. Else the ratios that a bound of the mean of numerator - ratio *
/// denominator does not exclude (Fieller 1954, with bounded_mean_interval in the place of Student's t), wide
/// as it may be: with equal denominators that is bounded_mean_interval of the batches' values. A mean of the
/// batches' ratios is another number when denominators depend on them. Without `largest`, those seen.
std::optional<Interval> bounded_ratio_interval(std::span<const double> numerators,
                                               std::span<const double> denominators, const Support& support,
                                               double confidence,
                                               std::optional<LargestDenominators> largest = {});

/// Difference of two such ratios, first less second, of runs whose batches belong together pair by pair:
/// equal numbers of batches, asserted. Numbers that both runs share make it sharper than two intervals. Empty
/// when either ratio is; with infinite bounds where half of the batches or more have one and the same
/// difference, such as none: Student's t knows nothing of the others then.
std::optional<Interval> paired_difference(const BatchRatio& first, const BatchRatio& second,
                                          double confidence);

/// Success probability of independent trials, successes <= trials (asserted): Clopper and Pearson 1934, whose
/// coverage is never below `confidence`. Empty without trials.
std::optional<Interval> binomial_interval(std::uint64_t successes, std::uint64_t trials, double confidence);

/// The confidence that each of `comparisons` >= 1 independent intervals needs so that all hold together with
/// `confidence`: confidence^(1/comparisons) (Šidák 1967).
double family_confidence(double confidence, int comparisons);

}  // namespace speclab
