#include "analysis/statistics/goodness_of_fit.hpp"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/non_central_chi_squared.hpp>
#include <cassert>
#include <cmath>
#include <numeric>

namespace speclab {
namespace {

/// Which cells share the pool, for expectations that are all positive.
struct Pooling {
  std::vector<bool> pooled;
  int size = 0;
};

Pooling pool_cells(std::span<const double> expected, double minimum) {
  std::vector<std::size_t> order(expected.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return expected[a] < expected[b]; });
  Pooling pooling{std::vector<bool>(expected.size()), 0};
  double total = 0;
  for (const std::size_t cell : order) {
    const bool too_small = expected[cell] < minimum;
    const bool pool_needs_it = pooling.size > 0 && total < minimum;
    if (!too_small && !pool_needs_it) break;
    pooling.pooled[cell] = true;
    ++pooling.size;
    total += expected[cell];
  }
  return pooling;
}

/// Moves the pooled cells of `values` into one at the end.
std::vector<double> merge_pooled(const Pooling& pooling, std::span<const double> values) {
  std::vector<double> retained;
  double pool = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (pooling.pooled[i]) {
      pool += values[i];
    } else {
      retained.push_back(values[i]);
    }
  }
  if (pooling.size > 0) retained.push_back(pool);
  return retained;
}

void add_cell(FitTest& test, double observed, double expected) {
  const double difference = observed - expected;
  test.pearson += difference * difference / expected;
  if (observed > 0) test.g += 2 * observed * std::log(observed / expected);
}

double upper_tail(double statistic, int degrees) {
  if (degrees == 0) return 1;
  const boost::math::chi_squared_distribution<double> null(degrees);
  return boost::math::cdf(boost::math::complement(null, std::max(statistic, 0.0)));
}

void set_p_value(FitTest& test) {
  test.pearson_p = test.impossible > 0 ? 0 : upper_tail(test.pearson, test.degrees);
  test.g_p = test.impossible > 0 ? 0 : upper_tail(test.g, test.degrees);
}

void finish(FitTest& test, const Pooling& pooling, std::size_t cells) {
  test.cells = static_cast<int>(cells);
  test.pooled_cells = pooling.size;
  test.degrees = std::max(test.cells - 1, 0);
  set_p_value(test);
}

double critical_value(int degrees, double level) {
  assert(degrees >= 1 && level > 0 && level < 1);
  const boost::math::chi_squared_distribution<double> null(degrees);
  return boost::math::quantile(boost::math::complement(null, level));
}

double noncentrality_needed(int degrees, double level, double power) {
  using Alternative = boost::math::non_central_chi_squared_distribution<double>;
  return Alternative::find_non_centrality(degrees, critical_value(degrees, level), 1 - power);
}

double sum_of(std::span<const double> values) { return std::accumulate(values.begin(), values.end(), 0.0); }

/// Sets the effect between two distributions, each normalised over all its cells. `expected(a, b)` is what a
/// cell of these probabilities expects in the (smaller) sample; `null(a, b)` divides its squared difference,
/// and only cells where it is positive stand.
template <class Expected, class Null>
void set_effect(PlannedTest& planned, std::span<const double> first, std::span<const double> second,
                double minimum, const Expected& expected, const Null& null) {
  assert(first.size() == second.size());
  const double first_total = sum_of(first);
  const double second_total = sum_of(second);
  std::vector<double> first_cells;
  std::vector<double> second_cells;
  std::vector<double> expectations;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const double a = first[i] / first_total;
    const double b = second[i] / second_total;
    if (!(null(a, b) > 0)) continue;
    first_cells.push_back(a);
    second_cells.push_back(b);
    expectations.push_back(expected(a, b));
  }
  const Pooling pooling = pool_cells(expectations, minimum);
  first_cells = merge_pooled(pooling, first_cells);
  second_cells = merge_pooled(pooling, second_cells);
  planned.degrees = std::max(static_cast<int>(first_cells.size()) - 1, 0);
  double square = 0;
  for (std::size_t i = 0; i < first_cells.size(); ++i) {
    const double difference = second_cells[i] - first_cells[i];
    square += difference * difference / null(first_cells[i], second_cells[i]);
  }
  if (planned.degrees > 0) planned.effect = std::sqrt(square);
}

}  // namespace

FitTest fit_test(std::span<const std::uint64_t> counts, std::span<const double> probabilities,
                 double minimum) {
  assert(counts.size() == probabilities.size());
  const double probability = std::accumulate(probabilities.begin(), probabilities.end(), 0.0);
  assert(probability > 0);
  FitTest test;
  test.samples = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  std::vector<double> observed;
  std::vector<double> expected;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (probabilities[i] > 0) {
      observed.push_back(static_cast<double>(counts[i]));
      expected.push_back(static_cast<double>(test.samples) * probabilities[i] / probability);
    } else {
      test.impossible += counts[i];
    }
  }
  if (test.samples == 0) return test;

  const Pooling pooling = pool_cells(expected, minimum);
  observed = merge_pooled(pooling, observed);
  expected = merge_pooled(pooling, expected);
  for (std::size_t i = 0; i < observed.size(); ++i) add_cell(test, observed[i], expected[i]);
  finish(test, pooling, observed.size());
  return test;
}

FitTest two_sample_test(std::span<const std::uint64_t> first, std::span<const std::uint64_t> second,
                        double minimum) {
  assert(first.size() == second.size());
  const std::uint64_t first_size = std::accumulate(first.begin(), first.end(), std::uint64_t{0});
  const std::uint64_t second_size = std::accumulate(second.begin(), second.end(), std::uint64_t{0});
  FitTest test;
  test.samples = first_size + second_size;
  if (first_size == 0 || second_size == 0) return test;
  const double first_share = static_cast<double>(first_size) / static_cast<double>(test.samples);
  const double smaller_share = std::min(first_share, 1 - first_share);

  std::vector<double> observed_first;
  std::vector<double> observed_both;
  std::vector<double> expected_in_smaller;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const std::uint64_t both = first[i] + second[i];
    if (both == 0) continue;
    observed_first.push_back(static_cast<double>(first[i]));
    observed_both.push_back(static_cast<double>(both));
    expected_in_smaller.push_back(static_cast<double>(both) * smaller_share);
  }
  const Pooling pooling = pool_cells(expected_in_smaller, minimum);
  observed_first = merge_pooled(pooling, observed_first);
  observed_both = merge_pooled(pooling, observed_both);
  for (std::size_t i = 0; i < observed_both.size(); ++i) {
    add_cell(test, observed_first[i], observed_both[i] * first_share);
    add_cell(test, observed_both[i] - observed_first[i], observed_both[i] * (1 - first_share));
  }
  finish(test, pooling, observed_both.size());
  return test;
}

FitTest sum_of_tests(std::span<const FitTest> tests) {
  FitTest sum;
  for (const FitTest& test : tests) {
    sum.pearson += test.pearson;
    sum.g += test.g;
    sum.degrees += test.degrees;
    sum.cells += test.cells;
    sum.pooled_cells += test.pooled_cells;
    sum.samples += test.samples;
    sum.impossible += test.impossible;
  }
  set_p_value(sum);
  return sum;
}

double power_of(double effect, int degrees, std::uint64_t samples, double level) {
  assert(effect >= 0);
  const double critical = critical_value(degrees, level);
  const double noncentrality = static_cast<double>(samples) * effect * effect;
  // Forty standard deviations above the critical value the power is 1 in double, and Boost's series, which
  // counts to half the noncentrality in an int, is not needed.
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

PlannedTest planned_fit_test(std::span<const double> null, std::span<const double> alternative,
                             std::uint64_t samples, double minimum) {
  PlannedTest planned{.samples = samples};
  const auto size = static_cast<double>(samples);
  set_effect(
      planned, null, alternative, minimum, [&](double a, double) { return a * size; },
      [](double a, double) { return a; });
  const double probability = sum_of(alternative);
  for (std::size_t i = 0; i < null.size(); ++i) {
    if (!(null[i] > 0)) planned.impossible += alternative[i] / probability;
  }
  return planned;
}

PlannedTest planned_two_sample_test(std::span<const double> first, std::span<const double> second,
                                    std::uint64_t samples_each, double minimum) {
  PlannedTest planned{.samples = samples_each};
  const auto size = static_cast<double>(samples_each);
  set_effect(
      planned, first, second, minimum, [&](double a, double b) { return (a + b) / 2 * size; },
      [](double a, double b) { return a + b; });
  return planned;
}

double planned_power(const PlannedTest& planned, double level) {
  const double by_statistic =
      planned.degrees > 0 ? power_of(planned.effect, planned.degrees, planned.samples, level) : 0;
  const double none_impossible =
      std::exp(static_cast<double>(planned.samples) * std::log1p(-std::min(planned.impossible, 1.0)));
  return 1 - none_impossible * (1 - by_statistic);
}

}  // namespace speclab
