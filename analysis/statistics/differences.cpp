#include "analysis/statistics/differences.hpp"

#include <algorithm>
#include <array>
#include <boost/math/distributions/non_central_t.hpp>
#include <cmath>
#include <map>
#include <utility>

namespace speclab {

namespace {

/// Boost's limit on noncentral t. Beyond it the test misses nothing, except at extreme levels.
constexpr double largest_shift = 5e4;

}  // namespace

double t_test_power(double noncentrality, double degrees, double confidence) {
  const double bound = student_quantile(degrees, confidence);
  const boost::math::non_central_t_distribution<double> law(degrees, std::min(noncentrality, largest_shift));
  return boost::math::cdf(boost::math::complement(law, bound)) + boost::math::cdf(law, -bound);
}

double t_test_noncentrality(double degrees, double confidence, double power) {
  // A comparison needs the same one for each of its numbers.
  thread_local std::map<std::array<double, 3>, double> known;
  const auto found = known.find({degrees, confidence, power});
  if (found != known.end()) return found->second;
  const auto missed = [&](double shift) { return t_test_power(shift, degrees, confidence) < power; };
  return known[{degrees, confidence, power}] = halved(0, largest_shift, 80, missed).second;
}

IntervalAt independent_difference(IntervalAt first, IntervalAt second) {
  return
      [first = std::move(first), second = std::move(second)](double confidence) -> std::optional<Interval> {
        const auto a = first(confidence);
        const auto b = second(confidence);
        if (!a || !b) return std::nullopt;
        const double estimate = b->estimate - a->estimate;
        if (!a->bounded() || !b->bounded()) return unbounded(estimate);
        return Interval{estimate, estimate - std::hypot(b->estimate - b->low, a->high - a->estimate),
                        estimate + std::hypot(b->high - b->estimate, a->estimate - a->low)};
      };
}

std::optional<Difference> judged(const IntervalAt& difference, double confidence, double power,
                                 double units) {
  const auto value = difference(confidence);
  if (!value) return std::nullopt;
  Difference result{*value};
  if (!value->bounded()) return result;
  // The level is sought as a power of ten.
  const auto excludes_0 = [&](double digits) {
    const auto wider = difference(1 - std::pow(10, -digits));
    return wider->low > 0 || wider->high < 0;
  };
  result.p = std::pow(10, -halved(0, 12, 40, excludes_0).second);
  // Beyond this number of degrees the distributions are normal for every purpose here.
  constexpr double max_degrees = 1e5;
  const double degrees = std::min(units - 1, max_degrees);
  result.found = value->half_width() * t_test_noncentrality(degrees, confidence, power) /
                 student_quantile(degrees, confidence);
  return result;
}

}  // namespace speclab
