// Did these samples come from that distribution? Tests of categorical counts of independent samples. All
// logarithms are natural.
//
// A class that expects enough samples has a cell of its own in the chi-squared statistic, always. The others,
// the rare classes, are tested twice: in groups that expect enough, which are cells too, and each by its
// exact tail. Rare classes that all together expect too little for a cell are tested by their exact tails
// alone, singly and as one class, and the cells are then tested given how many samples came in them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace speclab {

/// Cochran's customary least expectation of a cell, and the larger one for tests that state their power.
inline constexpr double minimum_expectation = 5;
inline constexpr double minimum_expectation_for_power = 10;

/// Rare classes form at most this many groups, so that few degrees of freedom are spent on them.
inline constexpr int max_rare_groups = 64;

/// A chi-squared test with exact tests of what is too rare for it. Both statistics have the chi-squared
/// distribution with `degrees` degrees under the null, in the limit of many samples. Without degrees of
/// freedom they cannot reject and their p-values are 1.
struct FitTest {
  double pearson = 0;              ///< sum of (observed - expected)^2 / expected over the cells
  double g = 0;                    ///< 2 sum of observed log(observed / expected), the log-likelihood ratio
  int degrees = 0;                 ///< cells - 1
  double pearson_p = 1;            ///< P(at least this Pearson statistic | null)
  double g_p = 1;                  ///< the same for g
  int cells = 0;                   ///< classes that expect enough, and groups of rare ones
  int rare_classes = 0;            ///< classes that expect too few samples for a cell of their own
  std::uint64_t tails = 0;         ///< exact tests of rare classes, and of all of them as one
  double tail_p = 1;               ///< the least p-value of these, adjusted for their number (Bonferroni)
  std::uint64_t samples = 0;       ///< all samples, of both groups in a two-sample test
  std::uint64_t impossible = 0;    ///< samples in classes of probability 0: any makes all p-values 0
  std::uint64_t rare_samples = 0;  ///< samples in rare classes, of both groups

  /// Pearson's statistic and the tails as one test: twice the lesser of both p-values where there are both.
  double p() const;
};

/// Counts against probabilities (any non-negative weights; divided by their total, which must be positive;
/// lengths equal: asserted). A class is rare when it expects less than `minimum` samples, which the counts
/// have no part in. Rare classes that stand next to each other form a group.
FitTest fit_test(std::span<const std::uint64_t> counts, std::span<const double> probabilities,
                 double minimum = minimum_expectation);

/// Do two samples share one distribution? The 2 x k test of homogeneity, with rare classes as above by their
/// expectation in the smaller sample, estimated from both together (which the null fixes); their exact tails
/// are hypergeometric. Equal lengths, asserted.
FitTest two_sample_test(std::span<const std::uint64_t> first, std::span<const std::uint64_t> second,
                        double minimum = minimum_expectation);

/// One test of several that are independent given what separates them: statistics, degrees and counts are
/// added, and the sum is compared with the chi-squared distribution with the summed degrees. The least tail
/// is adjusted for the number of tests that have tails.
FitTest sum_of_tests(std::span<const FitTest> tests);

}  // namespace speclab
