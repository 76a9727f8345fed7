// Did these samples come from that distribution? Tests of categorical counts, their power, and bounds on the
// distance. Counts are of independent samples. All logarithms are natural; levels, powers and confidences are
// in (0, 1), asserted.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace speclab {

/// Cochran's customary least expectation of a cell, and the larger one for tests that state their power.
inline constexpr double minimum_expectation = 5;
inline constexpr double minimum_expectation_for_power = 10;

/// A chi-squared test. Both statistics have the chi-squared distribution with `degrees` degrees under the
/// null, in the limit of many samples. Without degrees of freedom nothing can be rejected and the p-values
/// are 1.
struct FitTest {
  double pearson = 0;    ///< sum of (observed - expected)^2 / expected
  double g = 0;          ///< 2 sum of observed log(observed / expected), the log-likelihood ratio
  int degrees = 0;       ///< cells - 1
  double pearson_p = 1;  ///< P(at least this Pearson statistic | null)
  double g_p = 1;        ///< the same for g
  int cells = 0;  ///< cells after pooling; cells that are impossible, or empty in both samples, not counted
  int pooled_cells = 0;          ///< how many cells share the pool, 0 or at least 2
  std::uint64_t samples = 0;     ///< all samples, of both groups in a two-sample test
  std::uint64_t impossible = 0;  ///< samples in cells of probability 0: any makes both p-values 0
};

/// Counts against probabilities (any non-negative weights; divided by their total, which must be
/// positive; lengths equal: asserted). Pooling: every cell that expects less than `minimum` samples goes into
/// one pool, and while the pool itself expects less, the next smallest cell joins it. It depends on
/// expectations alone (ties: the lower id joins first), never on the counts, so it does not bias the test.
FitTest fit_test(std::span<const std::uint64_t> counts, std::span<const double> probabilities,
                 double minimum = minimum_expectation);

/// Do two samples share one distribution? The 2 x k test of homogeneity, pooled as above by the expectation
/// in the smaller sample, estimated from both together (which the null fixes). Equal lengths, asserted.
FitTest two_sample_test(std::span<const std::uint64_t> first, std::span<const std::uint64_t> second,
                        double minimum = minimum_expectation);

/// One test of several that are independent given what separates them: statistics, degrees and counts are
/// added, and the sum is compared with the chi-squared distribution with the summed degrees.
FitTest sum_of_tests(std::span<const FitTest> tests);

/// Power of a level-`level` chi-squared test: P(reject) for `samples` samples from a distribution at effect
/// w = sqrt(sum of (p_i - null_i)^2 / null_i), by the noncentral chi-squared distribution with noncentrality
/// samples w^2 (Cohen 1988, ch. 7). Asymptotic; degrees >= 1, asserted.
double power_of(double effect, int degrees, std::uint64_t samples, double level);

/// The smallest effect w that is rejected with probability `power` > level (asserted).
double detectable_effect(int degrees, std::uint64_t samples, double level, double power);

/// The fewest samples with which an effect > 0 (asserted) is rejected with probability `power` > level
/// (asserted); at most 1e18. The inverse of power_of in the samples, for the degrees of that many.
std::uint64_t planned_samples(double effect, int degrees, double level, double power);

/// detectable_effect / 2. By Cauchy-Schwarz w >= 2 TV, so every distribution at least this far from the null
/// in total variation (between the cells as pooled) is rejected with probability `power` or more. The
/// converse fails: a distribution with a large w can be close in total variation.
double detectable_total_variation(int degrees, std::uint64_t samples, double level, double power);

/// What a test will face when its samples come from `alternative`: the effect between the cells as that test
/// would pool them.
struct PlannedTest {
  double effect = 0;      ///< w of power_of, with noncentrality samples w^2
  int degrees = 0;        ///< cells after pooling, less 1
  double impossible = 0;  ///< probability of cells that are impossible under the null: one sample settles it
  std::uint64_t samples = 0;  ///< of fit_test, or of each of two samples
};

/// Of fit_test, samples from `alternative` against `null` (probabilities of the same cells, each divided by
/// its total; lengths asserted).
PlannedTest planned_fit_test(std::span<const double> null, std::span<const double> alternative,
                             std::uint64_t samples, double minimum = minimum_expectation);

/// Of two_sample_test with `samples_each` from either distribution. The noncentrality of the test of
/// homogeneity is samples_each w^2 with w^2 = sum of (p - q)^2 / (p + q); cells are pooled by their
/// expectation in the long run.
PlannedTest planned_two_sample_test(std::span<const double> first, std::span<const double> second,
                                    std::uint64_t samples_each, double minimum = minimum_expectation);

/// P(reject at `level`): an impossible sample, or the noncentral chi-squared tail of power_of.
double planned_power(const PlannedTest& planned, double level);

}  // namespace speclab
