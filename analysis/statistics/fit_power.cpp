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

double noncentrality_needed(int degrees, double level, double power) {
  assert(degrees >= 1 && level > 0 && level < 1);
  using Alternative = boost::math::non_central_chi_squared_distribution<double>;
  const boost::math::chi_squared_distribution<double> null(degrees);
  const double critical = boost::math::quantile(boost::math::complement(null, level));
  return Alternative::find_non_centrality(degrees, critical, 1 - power);
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

}  // namespace

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
  const double total = std::accumulate(probabilities.begin(), probabilities.end(), 0.0);
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

}  // namespace speclab
