#include "analysis/statistics/intervals.hpp"

#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace speclab {
namespace {

Interval around(double estimate, double half_width) {
  return {estimate, estimate - half_width, estimate + half_width};
}

/// Half-width of the interval of a mean whose n residuals sum to 0 and have these squares summed.
double t_half_width(double squares, std::size_t n, double confidence) {
  if (n < 2) return std::numeric_limits<double>::infinity();
  const double degrees = static_cast<double>(n) - 1;
  const boost::math::students_t_distribution<double> student(degrees);
  const double quantile = boost::math::quantile(boost::math::complement(student, (1 - confidence) / 2));
  return quantile * std::sqrt(squares / (degrees * static_cast<double>(n)));
}

/// A ratio of sums, and each batch's share in its error, to first order.
struct LinearisedRatio {
  double ratio;
  std::vector<double> errors;
};

std::optional<LinearisedRatio> linearised(const BatchRatio& batches) {
  assert(batches.numerators.size() == batches.denominators.size());
  const double below = std::accumulate(batches.denominators.begin(), batches.denominators.end(), 0.0);
  if (below == 0) return std::nullopt;
  const double ratio = std::accumulate(batches.numerators.begin(), batches.numerators.end(), 0.0) / below;
  const double mean_denominator = below / static_cast<double>(batches.denominators.size());
  LinearisedRatio linear{ratio, {}};
  for (std::size_t i = 0; i < batches.numerators.size(); ++i) {
    linear.errors.push_back((batches.numerators[i] - ratio * batches.denominators[i]) / mean_denominator);
  }
  return linear;
}

/// Bounds of a success probability: Clopper and Pearson 1934.
Support binomial_bounds(double successes, double failures, double confidence) {
  using Beta = boost::math::beta_distribution<double>;
  const double tail = (1 - confidence) / 2;
  return {successes == 0 ? 0 : boost::math::quantile(Beta(successes, failures + 1), tail),
          failures == 0
              ? 1
              : boost::math::quantile(boost::math::complement(Beta(successes + 1, failures), tail))};
}

/// Values that differ by so much of their size are one.
constexpr double rounding = 1e-12;

/// Values of batches that have any, counted.
std::map<double, std::uint64_t> value_counts(const BatchRatio& batches) {
  std::map<double, std::uint64_t> counts;
  for (std::size_t i = 0; i < batches.numerators.size(); ++i) {
    if (batches.denominators[i] == 0) continue;
    const double value = batches.numerators[i] / batches.denominators[i];
    const auto next = counts.lower_bound(value - rounding * std::abs(value));
    const bool known = next != counts.end() && next->first <= value + rounding * std::abs(value);
    ++(known ? next->second : counts[value]);
  }
  return counts;
}

bool varied(const std::map<double, std::uint64_t>& counts) {
  std::uint64_t all = 0;
  std::uint64_t alike = 0;
  for (const auto& [value, count] : counts) {
    all += count;
    alike = std::max(alike, count);
  }
  return all > 1 && (alike == 1 || 2 * alike < all);
}

}  // namespace

bool varies(const BatchRatio& batches) { return varied(value_counts(batches)); }

bool Interval::bounded() const { return std::isfinite(low) && std::isfinite(high); }

bool Interval::holds(double value) const {
  const double margin = rounding * std::abs(value);
  return low - margin <= value && value <= high + margin;
}

Interval unbounded(double estimate) { return around(estimate, std::numeric_limits<double>::infinity()); }

std::optional<Interval> ratio_interval(std::span<const double> numerators,
                                       std::span<const double> denominators, double confidence) {
  assert(confidence > 0 && confidence < 1);
  const auto linear = linearised({numerators, denominators});
  if (!linear) return std::nullopt;
  const auto& errors = linear->errors;
  const double squares = std::inner_product(errors.begin(), errors.end(), errors.begin(), 0.0);
  return around(linear->ratio, t_half_width(squares, errors.size(), confidence));
}

Interval bounded_mean_interval(const std::map<double, std::uint64_t>& counts, const Support& support,
                               double confidence) {
  assert(!counts.empty() && confidence > 0 && confidence < 1);
  double total = 0;
  double sum = 0;
  for (const auto& [value, count] : counts) {
    total += static_cast<double>(count);
    sum += value * static_cast<double>(count);
  }
  double from = std::min(support.low, counts.begin()->first);
  Interval mean{sum / total, from, from};
  double above = total;  // values > from
  const auto integrate = [&](double to) {
    const Support bounds = binomial_bounds(above, total - above, confidence);
    mean.low += (to - from) * bounds.low;
    mean.high += (to - from) * bounds.high;
    from = to;
  };
  for (const auto& [value, count] : counts) {
    integrate(value);
    above -= static_cast<double>(count);
  }
  integrate(std::max(support.high, from));
  return {mean.estimate, std::min(mean.low, mean.estimate), std::max(mean.high, mean.estimate)};
}

std::optional<Interval> bounded_ratio_interval(std::span<const double> numerators,
                                               std::span<const double> denominators, const Support& support,
                                               double confidence) {
  const auto ratio = ratio_interval(numerators, denominators, confidence);
  if (!ratio || !ratio->bounded()) return ratio;
  const auto counts = value_counts({numerators, denominators});
  if (varied(counts)) return ratio;
  const Interval mean = bounded_mean_interval(counts, support, confidence);
  return Interval{ratio->estimate, std::min(mean.low, ratio->estimate), std::max(mean.high, ratio->estimate)};
}

std::optional<Interval> paired_difference(const BatchRatio& first, const BatchRatio& second,
                                          double confidence) {
  assert(first.numerators.size() == second.numerators.size() && confidence > 0 && confidence < 1);
  const auto one = linearised(first);
  const auto other = linearised(second);
  if (!one || !other) return std::nullopt;
  double squares = 0;
  for (std::size_t i = 0; i < one->errors.size(); ++i) {
    const double error = one->errors[i] - other->errors[i];
    squares += error * error;
  }
  return around(one->ratio - other->ratio, t_half_width(squares, one->errors.size(), confidence));
}

std::optional<Interval> binomial_interval(std::uint64_t successes, std::uint64_t trials, double confidence) {
  assert(successes <= trials && confidence > 0 && confidence < 1);
  if (trials == 0) return std::nullopt;
  const auto hits = static_cast<double>(successes);
  const Support bounds = binomial_bounds(hits, static_cast<double>(trials - successes), confidence);
  return Interval{hits / static_cast<double>(trials), bounds.low, bounds.high};
}

double family_confidence(double confidence, int comparisons) {
  assert(confidence > 0 && confidence < 1 && comparisons >= 1);
  return std::pow(confidence, 1.0 / comparisons);
}

}  // namespace speclab
