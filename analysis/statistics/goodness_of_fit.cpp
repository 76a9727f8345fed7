#include "analysis/statistics/goodness_of_fit.hpp"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/hypergeometric.hpp>
#include <boost/math/distributions/non_central_chi_squared.hpp>
#include <cassert>
#include <cmath>
#include <numeric>

namespace speclab {
namespace {

double sum_of(std::span<const double> values) { return std::accumulate(values.begin(), values.end(), 0.0); }

/// Where classes go, by their expectations.
struct CellLayout {
  static constexpr int pool = -1;  ///< stands for no cell of the chi-squared statistic

  std::vector<int> cell_of;       ///< of each class, or `pool`
  std::vector<bool> rare;         ///< whether a class expects too little for a cell of its own
  std::vector<int> members = {};  ///< classes in each cell
  int rare_classes = 0;

  int cells() const { return static_cast<int>(members.size()); }
  bool pooled() const { return std::find(cell_of.begin(), cell_of.end(), pool) != cell_of.end(); }
  /// Whether all rare classes together are tested by an exact tail: a single one is tested by its own, and
  /// all classes together are certain.
  bool tests_pool() const { return rare_classes > 1 && cells() > 0 && pooled(); }

  /// Sums by cell; a last entry has the classes without one.
  std::vector<double> by_cell(std::span<const double> values) const {
    std::vector<double> sums(members.size() + 1);
    for (std::size_t i = 0; i < values.size(); ++i) {
      sums[cell_of[i] == pool ? members.size() : static_cast<std::size_t>(cell_of[i])] += values[i];
    }
    return sums;
  }
};

/// `expected` are positive.
CellLayout lay_out(std::span<const double> expected, double minimum) {
  CellLayout layout{std::vector<int>(expected.size(), CellLayout::pool), std::vector<bool>(expected.size())};
  double rare_left = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] >= minimum) continue;
    layout.rare[i] = true;
    ++layout.rare_classes;
    rare_left += expected[i];
  }
  const bool grouped = layout.rare_classes > 0 && rare_left >= minimum;
  const double enough = std::max(minimum, rare_left / max_rare_groups);
  const auto new_cell = [&] {
    layout.members.push_back(0);
    return layout.cells() - 1;
  };
  int group = grouped ? new_cell() : CellLayout::pool;
  double in_group = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (layout.rare[i] && in_group >= enough && rare_left >= enough) {
      group = new_cell();
      in_group = 0;
    }
    layout.cell_of[i] = layout.rare[i] ? group : new_cell();
    if (layout.cell_of[i] != CellLayout::pool) ++layout.members[static_cast<std::size_t>(layout.cell_of[i])];
    if (layout.rare[i] && grouped) {
      in_group += expected[i];
      rare_left -= expected[i];
    }
  }
  return layout;
}

/// By how much the p-values of the single rare classes, and that of all as one, are multiplied.
double single_factor(const CellLayout& layout) {
  return layout.rare_classes * (layout.tests_pool() ? 2.0 : 1.0);
}
constexpr double pool_factor = 2;

/// Both tails of a discrete distribution from `value` on: twice the smaller one. Only a p-value below `below`
/// is of interest; 1 stands for the others, most of which the probability of the value alone settles.
template <class Distribution>
double two_sided(const Distribution& distribution, double value, double below) {
  if (2 * boost::math::pdf(distribution, value) >= below) return 1;
  const auto support = boost::math::support(distribution);
  const double lower = value >= support.second ? 1 : boost::math::cdf(distribution, value);
  const double upper =
      value <= support.first ? 1 : boost::math::cdf(boost::math::complement(distribution, value - 1));
  return std::min(1.0, 2 * std::min(lower, upper));
}

/// Adds a tail, `p(below)` being its p-value, multiplied by `factor`.
template <class P>
void add_tail(FitTest& test, double factor, const P& p) {
  ++test.tails;
  test.tail_p = std::min(test.tail_p, factor * p(test.tail_p / factor));
}

/// The tails of the rare classes: `p_of(cell values of the class, below)`.
template <class POf>
void add_tails(FitTest& test, const CellLayout& layout, const std::vector<double>& observed,
               const std::vector<double>& whole, const POf& p_of) {
  double pool_observed = 0;
  double pool_whole = 0;
  for (std::size_t i = 0; i < observed.size(); ++i) {
    if (!layout.rare[i]) continue;
    pool_observed += observed[i];
    pool_whole += whole[i];
    add_tail(test, single_factor(layout), [&](double below) { return p_of(observed[i], whole[i], below); });
  }
  if (layout.tests_pool()) {
    add_tail(test, pool_factor, [&](double below) { return p_of(pool_observed, pool_whole, below); });
  }
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

void set_p_values(FitTest& test) {
  test.pearson_p = test.impossible > 0 ? 0 : upper_tail(test.pearson, test.degrees);
  test.g_p = test.impossible > 0 ? 0 : upper_tail(test.g, test.degrees);
  test.tail_p = test.impossible > 0 ? 0 : std::min(test.tail_p, 1.0);
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

/// P(at least `count` of `samples`, each with this probability).
double at_least(double count, std::uint64_t samples, double probability) {
  if (count <= 0) return 1;
  if (count > static_cast<double>(samples)) return 0;
  const boost::math::binomial_distribution<double> counts(static_cast<double>(samples), probability);
  return boost::math::cdf(boost::math::complement(counts, count - 1));
}

/// The least count above the mean that a two-sided tail test at `level` rejects.
double rejected_from(std::uint64_t samples, double probability, double level) {
  double count = std::floor(static_cast<double>(samples) * probability) + 1;
  double step = 1;
  for (; 2 * at_least(count + step, samples, probability) > level; step *= 2) count += step;
  for (; step >= 1; step /= 2) {
    if (2 * at_least(count + step - 1, samples, probability) > level) count += step;
  }
  return count;
}

/// The probability from which on a class of `null` is found with `power` by its tail at `level`.
double found_by_tail(std::uint64_t samples, double null, double level, double power) {
  const double count = rejected_from(samples, null, level);
  if (count > static_cast<double>(samples)) return 1;
  return boost::math::binomial_distribution<double>::find_upper_bound_on_p(static_cast<double>(samples),
                                                                           count - 1, 1 - power);
}

/// P(a tail rejects at `level`).
double tail_power(const PlannedTest::Tail& tail, std::uint64_t samples, double level) {
  const double own_level = level / tail.tests;
  const double above = at_least(rejected_from(samples, tail.null, own_level), samples, tail.alternative);
  // Below the mean a count of zero is the likeliest to be rejected; few levels are so lenient.
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

/// The effect between two distributions over cells, given that a sample is in one: `null(a, b)` divides the
/// squared difference.
template <class Null>
double effect_between(std::span<const double> first, std::span<const double> second, const Null& null) {
  const double first_total = sum_of(first);
  const double second_total = sum_of(second);
  if (!(first_total > 0) || !(second_total > 0)) return 0;
  double square = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const double a = first[i] / first_total;
    const double b = second[i] / second_total;
    square += (b - a) * (b - a) / null(a, b);
  }
  return std::sqrt(square);
}

}  // namespace

double FitTest::p() const {
  if (tails == 0) return pearson_p;
  return degrees == 0 ? tail_p : std::min(1.0, 2 * std::min(pearson_p, tail_p));
}

FitTest fit_test(std::span<const std::uint64_t> counts, std::span<const double> probabilities,
                 double minimum) {
  assert(counts.size() == probabilities.size());
  const double total = sum_of(probabilities);
  assert(total > 0);
  FitTest test;
  test.samples = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  const auto size = static_cast<double>(test.samples);
  std::vector<double> observed;
  std::vector<double> expected;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (probabilities[i] > 0) {
      observed.push_back(static_cast<double>(counts[i]));
      expected.push_back(size * probabilities[i] / total);
    } else {
      test.impossible += counts[i];
    }
  }
  if (test.samples == 0) return test;

  const CellLayout layout = lay_out(expected, minimum);
  test.rare_classes = layout.rare_classes;
  for (std::size_t i = 0; i < observed.size(); ++i) {
    if (layout.rare[i]) test.rare_samples += static_cast<std::uint64_t>(observed[i]);
  }
  const std::vector<double> in_cells = layout.by_cell(observed);
  const std::vector<double> expected_in_cells = layout.by_cell(expected);
  const auto cells = static_cast<std::size_t>(layout.cells());
  const double all_in_cells = sum_of(std::span(in_cells).first(cells));
  const double scale = layout.pooled() ? all_in_cells / sum_of(std::span(expected_in_cells).first(cells)) : 1;
  test.cells = layout.cells();
  if (all_in_cells > 0) {
    for (std::size_t i = 0; i < cells; ++i) add_cell(test, in_cells[i], expected_in_cells[i] * scale);
    test.degrees = std::max(test.cells - 1, 0);
  }
  add_tails(test, layout, observed, expected, [&](double seen, double mean, double below) {
    return two_sided(boost::math::binomial_distribution<double>(size, std::min(mean / size, 1.0)), seen,
                     below);
  });
  set_p_values(test);
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
  const CellLayout layout = lay_out(expected_in_smaller, minimum);
  test.rare_classes = layout.rare_classes;
  for (std::size_t i = 0; i < observed_both.size(); ++i) {
    if (layout.rare[i]) test.rare_samples += static_cast<std::uint64_t>(observed_both[i]);
  }
  const std::vector<double> first_cells = layout.by_cell(observed_first);
  const std::vector<double> both_cells = layout.by_cell(observed_both);
  const auto cells = static_cast<std::size_t>(layout.cells());
  const double first_in_cells = sum_of(std::span(first_cells).first(cells));
  const double both_in_cells = sum_of(std::span(both_cells).first(cells));
  test.cells = layout.cells();
  if (first_in_cells > 0 && first_in_cells < both_in_cells) {
    const double share = first_in_cells / both_in_cells;
    for (std::size_t i = 0; i < cells; ++i) {
      add_cell(test, first_cells[i], both_cells[i] * share);
      add_cell(test, both_cells[i] - first_cells[i], both_cells[i] * (1 - share));
    }
    test.degrees = std::max(test.cells - 1, 0);
  }
  add_tails(test, layout, observed_first, observed_both, [&](double seen, double both, double below) {
    // Of so many samples a rare class is binomial in the first one to a relative error of 1e-7.
    if (test.samples > 1'000'000'000)
      return two_sided(boost::math::binomial_distribution<double>(both, first_share), seen, below);
    return two_sided(boost::math::hypergeometric_distribution<double>(static_cast<unsigned>(both),
                                                                      static_cast<unsigned>(first_size),
                                                                      static_cast<unsigned>(test.samples)),
                     seen, below);
  });
  set_p_values(test);
  return test;
}

FitTest sum_of_tests(std::span<const FitTest> tests) {
  FitTest sum;
  double with_tails = 0;
  for (const FitTest& test : tests) {
    sum.pearson += test.pearson;
    sum.g += test.g;
    sum.degrees += test.degrees;
    sum.cells += test.cells;
    sum.rare_classes += test.rare_classes;
    sum.samples += test.samples;
    sum.rare_samples += test.rare_samples;
    sum.impossible += test.impossible;
    if (test.tails == 0) continue;
    ++with_tails;
    sum.tails += test.tails;
    sum.tail_p = std::min(sum.tail_p, test.tail_p);
  }
  if (with_tails > 0) sum.tail_p *= with_tails;
  set_p_values(sum);
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
  DetectableDifference found{.degrees = std::max(layout.cells() - 1, 0), .tails = layout.rare_classes > 0};
  // A sum of what each part of the test finds by itself: a difference is the sum of its parts at most.
  double sum = 0;
  // One sample of a class that is impossible settles it.
  if (expected.size() < probabilities.size()) sum -= std::expm1(std::log1p(-power) / size);
  const std::vector<double> in_cells = layout.by_cell(expected);
  double left = size;
  if (layout.pooled()) {
    if (layout.cells() == 0) return found;
    const double rare = std::min(in_cells.back() / size, 1.0);
    const double own_level = layout.tests_pool() ? level / pool_factor : level;
    const double from = found_by_tail(samples, rare, own_level, power);
    sum += from - rare;
    left *= 1 - from;
  }
  if (found.degrees > 0) {
    if (left < 1) return found;
    found.effect = detectable_effect(found.degrees, static_cast<std::uint64_t>(left), level, power);
    sum += found.effect / 2;
  }
  double shared = layout.tests_pool() ? in_cells.back() / size : 0;
  for (std::size_t i = 0; i < layout.members.size(); ++i) {
    if (layout.members[i] > 1) shared += in_cells[i] / size;
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
  const auto cells = static_cast<std::size_t>(layout.cells());
  const std::vector<double> expected_in_cells = layout.by_cell(expected);
  const std::vector<double> coming_in_cells = layout.by_cell(coming);
  planned.degrees = std::max(layout.cells() - 1, 0);
  if (planned.degrees > 0) {
    // Samples outside of the cells do not count for the statistic.
    const double share = sum_of(std::span(coming_in_cells).first(cells)) / size;
    planned.effect = std::sqrt(share) * effect_between(std::span(expected_in_cells).first(cells),
                                                       std::span(coming_in_cells).first(cells),
                                                       [](double a, double) { return a; });
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (layout.rare[i])
      planned.single.push_back({expected[i] / size, coming[i] / size, single_factor(layout)});
  }
  if (layout.tests_pool())
    planned.pool.push_back({expected_in_cells.back() / size, coming_in_cells.back() / size, pool_factor});
  return planned;
}

PlannedTest planned_two_sample_test(std::span<const double> first, std::span<const double> second,
                                    std::uint64_t samples_each, double minimum) {
  assert(first.size() == second.size());
  PlannedTest planned{.samples = samples_each};
  const double first_total = sum_of(first);
  const double second_total = sum_of(second);
  std::vector<double> of_first;
  std::vector<double> of_second;
  std::vector<double> expected;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (!(first[i] + second[i] > 0)) continue;
    of_first.push_back(first[i] / first_total);
    of_second.push_back(second[i] / second_total);
    expected.push_back((of_first.back() + of_second.back()) / 2 * static_cast<double>(samples_each));
  }
  const CellLayout layout = lay_out(expected, minimum);
  const auto cells = static_cast<std::size_t>(layout.cells());
  const std::vector<double> first_cells = layout.by_cell(of_first);
  const std::vector<double> second_cells = layout.by_cell(of_second);
  planned.degrees = std::max(layout.cells() - 1, 0);
  if (planned.degrees > 0) {
    const auto first_in_cells = std::span(first_cells).first(cells);
    const auto second_in_cells = std::span(second_cells).first(cells);
    planned.effect =
        std::sqrt((sum_of(first_in_cells) + sum_of(second_in_cells)) / 2) *
        effect_between(first_in_cells, second_in_cells, [](double a, double b) { return a + b; });
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
  // All as one is no independent witness of the same samples.
  for (const PlannedTest::Tail& tail : planned.pool)
    no_tail = std::min(no_tail, 1 - tail_power(tail, planned.samples, level));
  return 1 - none_impossible * (1 - by_statistic) * no_tail;
}

}  // namespace speclab
