#include "analysis/statistics/medians.hpp"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cstddef>
#include <limits>

namespace speclab {

double median(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::optional<Interval> median_interval(std::vector<double> values, double confidence) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const double middle = median(values);
  const boost::math::binomial_distribution<double> below(static_cast<double>(values.size()), 0.5);
  // This is the probability that the k-th value from either end lies beyond the median.
  std::size_t k = 0;
  while (boost::math::cdf(below, static_cast<double>(k)) <= (1 - confidence) / 2) ++k;
  if (k == 0) return unbounded(middle);
  return Interval{middle, values[k - 1], values[values.size() - k]};
}

}  // namespace speclab
