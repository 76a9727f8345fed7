#include "analysis/statistics/intervals.hpp"

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

}  // namespace

std::optional<Interval> mean_interval(std::span<const double> values, double confidence) {
  const std::vector<double> ones(values.size(), 1.0);
  return ratio_interval(values, ones, confidence);
}

std::optional<Interval> ratio_interval(std::span<const double> numerators,
                                       std::span<const double> denominators, double confidence) {
  assert(confidence > 0 && confidence < 1);
  const auto linear = linearised({numerators, denominators});
  if (!linear) return std::nullopt;
  const auto& errors = linear->errors;
  const double squares = std::inner_product(errors.begin(), errors.end(), errors.begin(), 0.0);
  return around(linear->ratio, t_half_width(squares, errors.size(), confidence));
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
  using Beta = boost::math::beta_distribution<double>;
  const auto hits = static_cast<double>(successes);
  const auto misses = static_cast<double>(trials - successes);
  const double tail = (1 - confidence) / 2;
  const double low = hits == 0 ? 0 : boost::math::quantile(Beta(hits, misses + 1), tail);
  const double high =
      misses == 0 ? 1 : boost::math::quantile(boost::math::complement(Beta(hits + 1, misses), tail));
  return Interval{hits / static_cast<double>(trials), low, high};
}

double family_confidence(double confidence, int comparisons) {
  assert(confidence > 0 && confidence < 1 && comparisons >= 1);
  return std::pow(confidence, 1.0 / comparisons);
}

}  // namespace speclab
