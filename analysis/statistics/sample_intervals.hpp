// Computes intervals of the mean of independent values, even if there are few, and of the difference to the
// best of several runs.
#pragma once

#include <optional>
#include <span>

#include "analysis/statistics/intervals.hpp"

namespace speclab {

/// Returns the interval of the mean of independent values within `support` (not empty, asserted):
/// bounded_mean_interval if fewer than 100 of them differ from the most common value, whose coverage is at
/// least its confidence; else Student's t, cut to the support. For ten values whose rare ones are small,
/// normal quantiles and Student's t cover .13 to .95 at 95%.
Interval independent_mean_interval(std::span<const double> values, const Support& support, double confidence);

/// Returns the interval of `run` less the largest of `others` (at least one, asserted), whichever is truly
/// the largest, for runs whose batches are paired as in paired_difference. The estimate is the difference to
/// the largest estimate. Others that are smaller than that one, by an interval, are left out; the bounds are
/// the smallest bounds among the differences to the rest. All these intervals hold together with
/// `confidence`, and then the difference to the largest lies between the bounds. An interval of the
/// difference to the run with the largest estimate alone would ignore that it was chosen partly by luck.
std::optional<Interval> difference_to_best(const BatchRatio& run, std::span<const BatchRatio> others,
                                           double confidence);

}  // namespace speclab
