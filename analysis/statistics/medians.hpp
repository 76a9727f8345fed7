// The median of repeated measurements, such as times, of whose distribution nothing is known.
#pragma once

#include <optional>
#include <vector>

#include "analysis/statistics/intervals.hpp"

namespace speclab {

/// The middle value, or the mean of the middle two; NaN of none.
double median(std::vector<double> values);

/// With the interval between two order statistics that holds the median of the distribution at least so
/// often, whatever that distribution is (Thompson 1936): unbounded where there are too few values, at 0.95
/// fewer than
/// 6. Empty without values.
std::optional<Interval> median_interval(std::vector<double> values, double confidence);

}  // namespace speclab
