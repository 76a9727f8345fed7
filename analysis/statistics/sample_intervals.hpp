// Computes intervals of the mean of few independent values, and of the difference to the best of several
// runs.
#pragma once

#include <optional>
#include <span>

#include "analysis/statistics/intervals.hpp"

namespace speclab {

/// Returns the interval of the mean of independent values within `support` (not empty, asserted):
/// bounded_mean_interval, which is conservative, if fewer than 100 of them differ from the most common value;
/// else Student's t, cut to the support, and at least so wide that a share of values that were not seen may
/// lie at its ends. For ten values with rare small ones, normal quantiles and Student's
/// t cover .13 to .95 at 95%.
Interval independent_mean_interval(std::span<const double> values, const Support& support, double confidence);

/// Returns the interval of `run` less the truly largest of `others` (at least one, asserted), for runs whose
/// batches are paired as in paired_difference. The estimate is the difference to the largest estimate. Others
/// that are significantly smaller than that one are left out; the bounds are the smallest bounds among the
/// differences to the rest. All these intervals hold jointly with `confidence`. An interval of the difference
/// to the largest estimate alone would ignore that it was selected partly by luck.
std::optional<Interval> difference_to_best(const BatchRatio& run, std::span<const BatchRatio> others,
                                           double confidence);

}  // namespace speclab
