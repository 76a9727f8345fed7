#include "speclab/analysis/intervals.hpp"

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

}  // namespace

std::optional<Interval> mean_interval(std::span<const double> values, double confidence) {
  const std::vector<double> ones(values.size(), 1.0);
  return ratio_interval(values, ones, confidence);
}

std::optional<Interval> ratio_interval(std::span<const double> numerators,
                                       std::span<const double> denominators, double confidence) {
  assert(numerators.size() == denominators.size() && confidence > 0 && confidence < 1);
  const double below = std::accumulate(denominators.begin(), denominators.end(), 0.0);
  if (below == 0) return std::nullopt;
  const double ratio = std::accumulate(numerators.begin(), numerators.end(), 0.0) / below;
  double squares = 0;
  for (std::size_t i = 0; i < numerators.size(); ++i) {
    const double residual = numerators[i] - ratio * denominators[i];
    squares += residual * residual;
  }
  const double mean_denominator = below / static_cast<double>(denominators.size());
  return around(ratio, t_half_width(squares, numerators.size(), confidence) / std::abs(mean_denominator));
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
