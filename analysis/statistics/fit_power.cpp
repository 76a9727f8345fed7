#include "analysis/statistics/fit_power.hpp"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/non_central_chi_squared.hpp>
#include <cassert>
#include <cmath>
#include <numeric>

#include "analysis/statistics/cell_layout.hpp"

namespace speclab {
namespace {

double sum_of(std::span<const double> values) { return std::accumulate(values.begin(), values.end(), 0.0); }

double critical_value(int degrees, double level) {
  assert(degrees >= 1 && level > 0 && level < 1);
  const boost::math::chi_squared_distribution<double> null(degrees);
  return boost::math::quantile(boost::math::complement(null, level));
}

double noncentrality_needed(int degrees, double level, double power) {
  using Alternative = boost::math::non_central_chi_squared_distribution<double>;
  return Alternative::find_non_centrality(degrees, critical_value(degrees, level), 1 - power);
}

/// Returns P(at least `count` of `samples` occur), each with this probability.
double at_least(double count, std::uint64_t samples, double probability) {
  if (count <= 0) return 1;
  if (count > static_cast<double>(samples)) return 0;
  const boost::math::binomial_distribution<double> counts(static_cast<double>(samples), probability);
  return boost::math::cdf(boost::math::complement(counts, count - 1));
}

/// Returns the smallest count above the mean that a two-sided tail test at `level` rejects.
double rejected_from(std::uint64_t samples, double probability, double level) {
  double count = std::floor(static_cast<double>(samples) * probability) + 1;
  double step = 1;
  for (; 2 * at_least(count + step, samples, probability) > level; step *= 2) count += step;
  for (; step >= 1; step /= 2) {
    if (2 * at_least(count + step - 1, samples, probability) > level) count += step;
  }
  return count;
}

/// Returns the smallest probability that a class of probability `null` must have to be found with `power` by
/// its tail at `level`.
double found_by_tail(std::uint64_t samples, double null, double level, double power) {
  const double count = rejected_from(samples, null, level);
  if (count > static_cast<double>(samples)) return 1;
  return boost::math::binomial_distribution<double>::find_upper_bound_on_p(static_cast<double>(samples),
                                                                           count - 1, 1 - power);
}

/// Returns the power of the exact tail test of `tail`, whose own level is `level` / tail.tests.
double tail_power(const PlannedTest::Tail& tail, std::uint64_t samples, double level) {
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

}  // namespace

double power_of(double effect, int degrees, std::uint64_t samples, double level) {
  assert(effect >= 0);
  const double critical = critical_value(degrees, level);
  const double noncentrality = static_cast<double>(samples) * effect * effect;
  // If the critical value is forty standard deviations below the mean, the power is 1 in double. Boost's
  // series, which counts to half the noncentrality in an int, is then not needed.
  const double spread = std::sqrt(2 * (degrees + 2 * noncentrality));
  if (degrees + noncentrality - critical > 40 * spread) return 1;
  const boost::math::non_central_chi_squared_distribution<double> alternative(degrees, noncentrality);
  return boost::math::cdf(boost::math::complement(alternative, critical));
}

double detectable_effect(int degrees, std::uint64_t samples, double level, double power) {
  assert(samples > 0 && power > level && power < 1);
  return std::sqrt(noncentrality_needed(degrees, level, power) / static_cast<double>(samples));
}

std::uint64_t planned_samples(double effect, int degrees, double level, double power) {
  assert(effect > 0 && power > level && power < 1);
  const double wanted = noncentrality_needed(degrees, level, power) / (effect * effect);
  return static_cast<std::uint64_t>(std::ceil(std::min(wanted, 1e18)));
}

double detectable_total_variation(int degrees, std::uint64_t samples, double level, double power) {
  return detectable_effect(degrees, samples, level, power) / 2;
}

DetectableDifference detectable_difference(std::span<const double> probabilities, std::uint64_t samples,
                                           double level, double power, double minimum) {
  const double total = sum_of(probabilities);
  assert(total > 0 && samples > 0);
  const auto size = static_cast<double>(samples);
  std::vector<double> expected;
  for (const double probability : probabilities) {
    if (probability > 0) expected.push_back(size * probability / total);
  }
  const CellLayout layout = lay_out(expected, minimum);
  const CellSums sums = layout.sums(expected, expected);
  DetectableDifference found{.degrees = layout.degrees(), .tails = layout.rare_classes > 0};
  // The total is at most the sum of these parts; each part of this size is detected by its own test.
  double sum = 0;
  // A single sample of an impossible class makes the test reject.
  if (expected.size() < probabilities.size()) sum -= std::expm1(std::log1p(-power) / size);
  double left = size;
  if (layout.has_pool) {
    if (layout.cells() == 0) return found;
    const double rare = std::min(sums.first_pool / size, 1.0);
    const double own_level = layout.tests_pool() ? level / CellLayout::pool_factor : level;
    const double from = found_by_tail(samples, rare, own_level, power);
    sum += from - rare;
    left *= 1 - from;
  }
  if (found.degrees > 0) {
    if (left < 1) return found;
    found.effect = detectable_effect(found.degrees, static_cast<std::uint64_t>(left), level, power);
    sum += found.effect / 2;
  }
  double shared = layout.tests_pool() ? sums.first_pool / size : 0;
  for (std::size_t i = 0; i < layout.members.size(); ++i) {
    if (layout.members[i] > 1) shared += sums.first[i] / size;
  }
  found.between_cells = std::min(sum, 1.0);
  found.total_variation = std::min(sum + shared, 1.0);
  return found;
}

PlannedTest planned_fit_test(std::span<const double> null, std::span<const double> alternative,
                             std::uint64_t samples, double minimum) {
  assert(null.size() == alternative.size());
  PlannedTest planned{.samples = samples};
  const auto size = static_cast<double>(samples);
  const double null_total = sum_of(null);
  const double alternative_total = sum_of(alternative);
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
    planned.effect = effect_between(sums, sums.second_total / size, [](double a, double) { return a; });
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (layout.rare[i])
      planned.single.push_back({expected[i] / size, coming[i] / size, layout.single_factor()});
  }
  if (layout.tests_pool())
    planned.pool.push_back({sums.first_pool / size, sums.second_pool / size, CellLayout::pool_factor});
  return planned;
}

PlannedTest planned_two_sample_test(std::span<const double> first, std::span<const double> second,
                                    std::uint64_t samples_each, double minimum) {
  assert(first.size() == second.size());
  PlannedTest planned{.samples = samples_each};
  const double first_total = sum_of(first);
  const double second_total = sum_of(second);
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
    planned.effect = effect_between(sums, (sums.first_total + sums.second_total) / 2,
                                    [](double a, double b) { return a + b; });
  }
  return planned;
}

double planned_power(const PlannedTest& planned, double level) {
  const double by_statistic =
      planned.degrees > 0 ? power_of(planned.effect, planned.degrees, planned.samples, level) : 0;
  const double none_impossible =
      std::exp(static_cast<double>(planned.samples) * std::log1p(-std::min(planned.impossible, 1.0)));
  double no_tail = 1;
  for (const PlannedTest::Tail& tail : planned.single)
    no_tail *= 1 - tail_power(tail, planned.samples, level);
  // The pool's test uses the same samples, so it is not independent of the single tails.
  for (const PlannedTest::Tail& tail : planned.pool)
    no_tail = std::min(no_tail, 1 - tail_power(tail, planned.samples, level));
  return 1 - none_impossible * (1 - by_statistic) * no_tail;
}

}  // namespace speclab
