// Computes the power of tests of fit whose samples come from a known alternative, so that tests can say how
// surely they find a planted fault.
#pragma once

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/non_central_chi_squared.hpp>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "analysis/exact/round_distribution.hpp"
#include "analysis/statistics/cell_layout.hpp"
#include "analysis/statistics/goodness_of_fit.hpp"

namespace speclab {

/// A test whose samples come from an alternative: the effect between its cells, and the classes that exact
/// tails test.
struct PlannedTest {
  /// A class that an exact tail tests: one rare class, or all rare classes together.
  struct Tail {
    double null = 0;         ///< its probability under the null
    double alternative = 0;  ///< its probability under the alternative
    double tests = 1;        ///< number of tests by which its p-value is multiplied
  };
  double effect = 0;              ///< w of power_of, with noncentrality samples w^2
  int degrees = 0;                ///< cells less 1
  double impossible = 0;          ///< probability of classes impossible under the null: one sample rejects
  std::uint64_t samples = 0;      ///< samples of fit_test, or of each of two samples
  std::vector<Tail> single = {};  ///< rare classes, one by one; only for fit_test
  std::vector<Tail> pool = {};    ///< all rare classes as one class, if tested: one element or none
};

namespace planning {

inline double sum_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// Returns P(at least `count` of `samples` occur), each with this probability.
inline double at_least(double count, std::uint64_t samples, double probability) {
  if (count <= 0) return 1;
  if (count > static_cast<double>(samples)) return 0;
  const boost::math::binomial_distribution<double> counts(static_cast<double>(samples), probability);
  return boost::math::cdf(boost::math::complement(counts, count - 1));
}

/// Returns the smallest count above the mean that a two-sided tail test at `level` rejects.
inline double rejected_from(std::uint64_t samples, double probability, double level) {
  double low = std::floor(static_cast<double>(samples) * probability) + 1;
  for (double high = static_cast<double>(samples) + 1; low < high;) {
    const double middle = std::floor((low + high) / 2);
    if (2 * at_least(middle, samples, probability) <= level) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/// Returns the power of the exact tail test of `tail`, whose own level is `level` / tail.tests.
inline double tail_power(const PlannedTest::Tail& tail, std::uint64_t samples, double level) {
  const double own_level = level / tail.tests;
  const double above = at_least(rejected_from(samples, tail.null, own_level), samples, tail.alternative);
  // Below the mean, a count of zero is the likeliest to be rejected; few levels allow that.
  double below = 0;
  const boost::math::binomial_distribution<double> null(static_cast<double>(samples), tail.null);
  double count = -1;
  while (2 * boost::math::cdf(null, count + 1) <= own_level) ++count;
  if (count >= 0) {
    const boost::math::binomial_distribution<double> counts(static_cast<double>(samples), tail.alternative);
    below = boost::math::cdf(counts, count);
  }
  return std::min(1.0, above + below);
}

/// Returns the effect w, for noncentrality samples w^2, if only the fraction `share` of the samples is in
/// cells. `null(a, b)` divides the squared difference of two probabilities of a cell, given that a sample is
/// in one.
template <class Null>
double effect_between(const CellSums& sums, double share, const Null& null) {
  if (!(sums.first_total > 0) || !(sums.second_total > 0)) return 0;
  double square = 0;
  for (std::size_t i = 0; i < sums.first.size(); ++i) {
    const double a = sums.first[i] / sums.first_total;
    const double b = sums.second[i] / sums.second_total;
    square += (b - a) * (b - a) / null(a, b);
  }
  return std::sqrt(share * square);
}

}  // namespace planning

/// Returns the power of a level-`level` chi-squared test: P(reject) for `samples` samples from a distribution
/// at effect w = sqrt(sum of (p_i - null_i)^2 / null_i), by the noncentral chi-squared distribution with
/// noncentrality samples w^2 (Cohen 1988, ch. 7). Asymptotic; degrees >= 1 (asserted).
inline double power_of(double effect, int degrees, std::uint64_t samples, double level) {
  assert(effect >= 0 && degrees >= 1 && level > 0 && level < 1);
  const double critical = boost::math::quantile(
      boost::math::complement(boost::math::chi_squared_distribution<double>(degrees), level));
  const double noncentrality = static_cast<double>(samples) * effect * effect;
  // If the critical value is forty standard deviations below the mean, the power is 1 in double. Boost's
  // series, which counts to half the noncentrality in an int, is then not needed.
  const double spread = std::sqrt(2 * (degrees + 2 * noncentrality));
  if (degrees + noncentrality - critical > 40 * spread) return 1;
  const boost::math::non_central_chi_squared_distribution<double> alternative(degrees, noncentrality);
  return boost::math::cdf(boost::math::complement(alternative, critical));
}

/// Plans fit_test of samples from `alternative` against `null` (probabilities of the same classes, each
/// divided by its total; lengths asserted).
inline PlannedTest planned_fit_test(std::span<const double> null, std::span<const double> alternative,
                                    std::uint64_t samples, double minimum = minimum_expectation) {
  assert(null.size() == alternative.size());
  PlannedTest planned{.samples = samples};
  const auto size = static_cast<double>(samples);
  const double null_total = planning::sum_of(null);
  const double alternative_total = planning::sum_of(alternative);
  std::vector<double> expected;
  std::vector<double> coming;
  for (std::size_t i = 0; i < null.size(); ++i) {
    const double probability = alternative[i] / alternative_total;
    if (null[i] > 0) {
      expected.push_back(size * null[i] / null_total);
      coming.push_back(size * probability);
    } else {
      planned.impossible += probability;
    }
  }
  const CellLayout layout = lay_out(expected, minimum);
  const CellSums sums = layout.sums(expected, coming);
  planned.degrees = layout.degrees();
  if (planned.degrees > 0)
    planned.effect =
        planning::effect_between(sums, sums.second_total / size, [](double a, double) { return a; });
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (layout.rare[i])
      planned.single.push_back({expected[i] / size, coming[i] / size, layout.single_factor()});
  }
  if (layout.tests_pool())
    planned.pool.push_back({sums.first_pool / size, sums.second_pool / size, CellLayout::pool_factor});
  return planned;
}

/// Plans two_sample_test with `samples_each` from either distribution. The noncentrality of the test of
/// homogeneity is samples_each w^2 with w^2 = sum of (p - q)^2 / (p + q); classes are rare by their
/// expectation. Tails are left out, so the power is a lower bound if some classes are rare.
inline PlannedTest planned_two_sample_test(std::span<const double> first, std::span<const double> second,
                                           std::uint64_t samples_each, double minimum = minimum_expectation) {
  assert(first.size() == second.size());
  PlannedTest planned{.samples = samples_each};
  const double first_total = planning::sum_of(first);
  const double second_total = planning::sum_of(second);
  std::vector<double> from_first;
  std::vector<double> from_second;
  std::vector<double> expected;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (!(first[i] + second[i] > 0)) continue;
    from_first.push_back(first[i] / first_total);
    from_second.push_back(second[i] / second_total);
    expected.push_back((from_first.back() + from_second.back()) / 2 * static_cast<double>(samples_each));
  }
  const CellLayout layout = lay_out(expected, minimum);
  const CellSums sums = layout.sums(from_first, from_second);
  planned.degrees = layout.degrees();
  if (planned.degrees > 0) {
    planned.effect = planning::effect_between(sums, (sums.first_total + sums.second_total) / 2,
                                              [](double a, double b) { return a + b; });
  }
  return planned;
}

/// Returns P(Pearson's statistic or the tails reject, each at `level`): by an impossible sample, the
/// noncentral chi-squared tail of power_of, or binomial tails. Rare classes are treated as independent, as
/// they nearly are.
inline double planned_power(const PlannedTest& planned, double level) {
  const double by_statistic =
      planned.degrees > 0 ? power_of(planned.effect, planned.degrees, planned.samples, level) : 0;
  const double none_impossible =
      std::exp(static_cast<double>(planned.samples) * std::log1p(-std::min(planned.impossible, 1.0)));
  double no_tail = 1;
  for (const PlannedTest::Tail& tail : planned.single)
    no_tail *= 1 - planning::tail_power(tail, planned.samples, level);
  // The pool's test uses the same samples, so it is not independent of the single tails.
  for (const PlannedTest::Tail& tail : planned.pool)
    no_tail = std::min(no_tail, 1 - planning::tail_power(tail, planned.samples, level));
  return 1 - none_impossible * (1 - by_statistic) * no_tail;
}

/// Plans the joint test of ExactSequenceTests against `null`, for samples from `alternative`; `two_samples`:
/// that of two samples, of this size each, from the two distributions.
inline PlannedTest planned_sequence_test(const SequenceDistribution<double>& null,
                                         const SequenceDistribution<double>& alternative,
                                         std::uint64_t samples, bool two_samples = false,
                                         double minimum = minimum_expectation_for_power) {
  std::map<std::vector<Token>, std::pair<double, double>> both;
  for (const auto& [sequence, probability] : null) both[sequence].first = probability;
  for (const auto& [sequence, probability] : alternative) both[sequence].second = probability;
  std::vector<double> first;
  std::vector<double> second;
  for (const auto& [sequence, probabilities] : both) {
    first.push_back(probabilities.first);
    second.push_back(probabilities.second);
  }
  return two_samples ? planned_two_sample_test(first, second, samples, minimum)
                     : planned_fit_test(first, second, samples, minimum);
}

}  // namespace speclab
