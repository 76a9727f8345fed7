// Did these samples come from that distribution? Tests of categorical counts, their power, and bounds on the
// distance. Counts are of independent samples. All logarithms are natural; levels, powers and confidences are
// in (0, 1), asserted.
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
/// in total variation (between the cells) is rejected with probability `power` or more. The converse fails: a
/// distribution with a large w can be close in total variation.
double detectable_total_variation(int degrees, std::uint64_t samples, double level, double power);

/// The differences that fit_test finds with probability `power` or more, when Pearson's statistic and the
/// tails are each held to `level`.
struct DetectableDifference {
  int degrees = 0;           ///< of freedom
  bool tails = false;        ///< whether there are rare classes
  double effect = 0;         ///< w between the cells; 0 without degrees of freedom
  double between_cells = 1;  ///< total variation between the cells, rare classes without one as one class
  /// Total variation between all classes: by the triangle inequality that between the cells and the
  /// probability of the classes that share one, within which a difference may stay unseen.
  double total_variation = 1;
};

/// For `samples` > 0 samples against `probabilities`, as fit_test takes them.
DetectableDifference detectable_difference(std::span<const double> probabilities, std::uint64_t samples,
                                           double level, double power, double minimum = minimum_expectation);

/// What a test will face when its samples come from `alternative`: the effect between the cells, and the
/// classes that exact tails test.
struct PlannedTest {
  /// What an exact tail tests: a class, or all rare ones as one.
  struct Tail {
    double null = 0;         ///< its probability
    double alternative = 0;  ///< the same where the samples come from
    double tests = 1;        ///< by which its p-value is multiplied
  };
  double effect = 0;  ///< w of power_of, with noncentrality samples w^2
  int degrees = 0;    ///< cells less 1
  double impossible =
      0;  ///< probability of classes that are impossible under the null: one sample settles it
  std::uint64_t samples = 0;      ///< of fit_test, or of each of two samples
  std::vector<Tail> single = {};  ///< rare classes, one by one; of fit_test alone
  std::vector<Tail> pool = {};    ///< all of them as one class, where that is tested: one or none
};

/// Of fit_test, samples from `alternative` against `null` (probabilities of the same classes, each divided by
/// its total; lengths asserted).
PlannedTest planned_fit_test(std::span<const double> null, std::span<const double> alternative,
                             std::uint64_t samples, double minimum = minimum_expectation);

/// Of two_sample_test with `samples_each` from either distribution. The noncentrality of the test of
/// homogeneity is samples_each w^2 with w^2 = sum of (p - q)^2 / (p + q); classes are rare by their
/// expectation in the long run. Tails are left out, so that the power is a lower bound where classes are
/// rare.
PlannedTest planned_two_sample_test(std::span<const double> first, std::span<const double> second,
                                    std::uint64_t samples_each, double minimum = minimum_expectation);

/// P(Pearson's statistic or the tails reject, each at `level`): an impossible sample, the noncentral
/// chi-squared tail of power_of, or binomial tails. Rare classes are counted as independent of each other, as
/// they nearly are.
double planned_power(const PlannedTest& planned, double level);

}  // namespace speclab
