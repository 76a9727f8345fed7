// Estimates the median of repeated measurements, such as times, whose distribution is unknown.
#pragma once

#include <optional>
#include <vector>

#include "analysis/statistics/intervals.hpp"

namespace speclab {

/// Returns the middle value, or the mean of the middle two; NaN without values.
double median(std::vector<double> values);

/// Returns the median with the interval between two order statistics that contains the distribution's median
/// with at least `confidence`, for any distribution (Thompson 1936). Unbounded if there are too few values,
/// fewer than 6 at 0.95. Empty without values.
std::optional<Interval> median_interval(std::vector<double> values, double confidence);

}  // namespace speclab
