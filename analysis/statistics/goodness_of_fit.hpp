// Tests whether samples come from a given distribution, by categorical counts of independent samples. All
// logarithms are natural.
//
// A class that expects enough samples has its own cell in the chi-squared statistic. The other classes, the
// rare ones, are tested twice: in groups that expect enough, which are also cells, and each by its exact
// tail. Rare classes that together expect too little for a cell are tested only by exact tails, singly and as
// one class; the cells are then tested given their number of samples.
#pragma once

#include <cstdint>
#include <span>

namespace speclab {

/// Cochran's customary minimum of a cell's expectation, and the larger one for tests that state their power.
inline constexpr double minimum_expectation = 5;
inline constexpr double minimum_expectation_for_power = 10;

/// Rare classes form at most this many groups, so that they take few degrees of freedom.
inline constexpr int max_rare_groups = 64;

/// A chi-squared test with exact tests of classes that are too rare for it. Both statistics have the
/// chi-squared distribution with `degrees` degrees under the null, in the limit of many samples. Without
/// degrees of freedom they cannot reject and their p-values are 1.
struct FitTest {
  double pearson = 0;              ///< sum of (observed - expected)^2 / expected over the cells
  double g = 0;                    ///< 2 sum of observed log(observed / expected), the log-likelihood ratio
  int degrees = 0;                 ///< cells - 1
  double pearson_p = 1;            ///< P(at least this Pearson statistic | null)
  double g_p = 1;                  ///< the same for g
  int cells = 0;                   ///< classes that expect enough, and groups of rare ones
  int rare_classes = 0;            ///< classes that expect too few samples for their own cell
  std::uint64_t tails = 0;         ///< exact tests of rare classes, and of all of them as one
  double tail_p = 1;               ///< smallest of these p-values, adjusted for their number (Bonferroni)
  std::uint64_t samples = 0;       ///< all samples, of both groups in a two-sample test
  std::uint64_t impossible = 0;    ///< samples in classes of probability 0: one makes all p-values 0
  std::uint64_t rare_samples = 0;  ///< samples in rare classes, of both groups

  /// Returns the p-value of the cells, the larger one of both statistics. Where few samples are expected,
  /// Pearson's alone rejects too often above the expectation (at level 1e-6 a class that expects 11.5 samples
  /// 24 times too often), and g below it (7 times).
  double cells_p() const;
  /// Returns the p-value of the cells and the tails combined: twice the smaller p-value if both exist.
  double p() const;
};

/// Tests counts against probabilities (any non-negative weights; divided by their total, which must be
/// positive; lengths equal: asserted). A class is rare if it expects fewer than `minimum` samples,
/// independent of its count. Adjacent rare classes form a group.
FitTest fit_test(std::span<const std::uint64_t> counts, std::span<const double> probabilities,
                 double minimum = minimum_expectation);

/// Tests whether two samples share one distribution: the 2 x k test of homogeneity. Classes are rare by their
/// expectation in the smaller sample, estimated from both samples together (which the null fixes); exact
/// tails are hypergeometric. Lengths are equal (asserted).
FitTest two_sample_test(std::span<const std::uint64_t> first, std::span<const std::uint64_t> second,
                        double minimum = minimum_expectation);

/// Combines several tests that are independent given their groups: statistics, degrees and counts are added,
/// and the sum is compared with the chi-squared distribution with the summed degrees. The smallest tail is
/// adjusted for the number of tests that have tails.
FitTest sum_of_tests(std::span<const FitTest> tests);

}  // namespace speclab
