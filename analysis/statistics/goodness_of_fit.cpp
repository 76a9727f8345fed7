#include "analysis/statistics/goodness_of_fit.hpp"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cassert>
#include <cmath>
#include <numeric>

#include "analysis/statistics/cell_layout.hpp"

namespace speclab {
namespace {

/// Returns the two-sided p-value of `value` under a discrete distribution: twice the smaller tail, `value`
/// included. Returns 1 in place of any p-value of `below` or more, which most often needs only the
/// probability of `value`.
template <class Distribution>
double two_sided(const Distribution& distribution, double value, double below) {
  if (2 * boost::math::pdf(distribution, value) >= below) return 1;
  const auto support = boost::math::support(distribution);
  const double lower = value >= support.second ? 1 : boost::math::cdf(distribution, value);
  const double upper =
      value <= support.first ? 1 : boost::math::cdf(boost::math::complement(distribution, value - 1));
  return std::min(1.0, 2 * std::min(lower, upper));
}

/// Returns the two-sided p-value of `value` marked items among `drawn`, if `marked` of `all` items are
/// marked; `below` as above. At 400,000 samples, which may have as many classes, Boost's function takes 300
/// µs and this one 1 µs, with a relative error of 1e-9.
double two_sided_hypergeometric(double value, double drawn, double marked, double all, double below) {
  const auto log_choose = [](double n, double k) {
    return boost::math::lgamma(n + 1) - boost::math::lgamma(k + 1) - boost::math::lgamma(n - k + 1);
  };
  const double others = all - marked;
  const double here =
      std::exp(log_choose(marked, value) + log_choose(others, drawn - value) - log_choose(all, drawn));
  if (2 * here >= below) return 1;
  // P(k + 1) / P(k)
  const auto ratio = [&](double k) {
    return (drawn - k) * (marked - k) / ((k + 1) * (others - drawn + k + 1));
  };
  double upper = here;
  double term = here;
  for (double k = value; k < std::min(drawn, marked) && term > upper * 1e-17; ++k) upper += term *= ratio(k);
  double lower = here;
  term = here;
  for (double k = value; k > std::max(0.0, drawn - others) && term > lower * 1e-17; --k)
    lower += term /= ratio(k - 1);
  return std::min(1.0, 2 * std::min(lower, upper));
}

/// Sets the cells and adds the tails of rare classes. `observed` and `whole` are by class, `sums` by cell;
/// `p_of(observed, whole, below)` is a tail's p-value.
template <class POf>
void set_classes(FitTest& test, const CellLayout& layout, const CellSums& sums,
                 std::span<const double> observed, std::span<const double> whole, const POf& p_of) {
  test.cells = layout.cells();
  test.rare_classes = layout.rare_classes;
  const auto add = [&](double factor, double seen, double all) {
    ++test.tails;
    test.tail_p = std::min(test.tail_p, factor * p_of(seen, all, test.tail_p / factor));
  };
  for (std::size_t i = 0; i < observed.size(); ++i) {
    if (layout.rare[i]) add(layout.single_factor(), observed[i], whole[i]);
  }
  if (layout.tests_pool()) add(CellLayout::pool_factor, sums.first_pool, sums.second_pool);
}

std::uint64_t rare_total(const CellLayout& layout, std::span<const double> counts) {
  double total = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) total += layout.rare[i] ? counts[i] : 0;
  return static_cast<std::uint64_t>(total);
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

}  // namespace

double FitTest::cells_p() const { return std::max(pearson_p, g_p); }

double FitTest::p() const {
  if (tails == 0) return cells_p();
  return degrees == 0 ? tail_p : std::min(1.0, 2 * std::min(cells_p(), tail_p));
}

FitTest fit_test(std::span<const std::uint64_t> counts, std::span<const double> probabilities,
                 double minimum) {
  assert(counts.size() == probabilities.size());
  const double total = std::accumulate(probabilities.begin(), probabilities.end(), 0.0);
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
  const CellSums sums = layout.sums(observed, expected);
  test.rare_samples = rare_total(layout, observed);
  if (sums.first_total > 0) {
    const double scale = layout.has_pool ? sums.first_total / sums.second_total : 1;
    for (std::size_t i = 0; i < sums.first.size(); ++i) add_cell(test, sums.first[i], sums.second[i] * scale);
    test.degrees = layout.degrees();
  }
  set_classes(test, layout, sums, observed, expected, [&](double seen, double mean, double below) {
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
  const CellSums sums = layout.sums(observed_first, observed_both);
  test.rare_samples = rare_total(layout, observed_both);
  if (sums.first_total > 0 && sums.first_total < sums.second_total) {
    const double share = sums.first_total / sums.second_total;
    for (std::size_t i = 0; i < sums.first.size(); ++i) {
      add_cell(test, sums.first[i], sums.second[i] * share);
      add_cell(test, sums.second[i] - sums.first[i], sums.second[i] * (1 - share));
    }
    test.degrees = layout.degrees();
  }
  set_classes(test, layout, sums, observed_first, observed_both, [&](double seen, double both, double below) {
    return two_sided_hypergeometric(seen, both, static_cast<double>(first_size),
                                    static_cast<double>(test.samples), below);
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

}  // namespace speclab
