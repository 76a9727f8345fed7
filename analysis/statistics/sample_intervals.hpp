// Intervals of the mean of independent values, few as they may be, and of the difference to the best of
// several runs.
#pragma once

#include <optional>
#include <span>

#include "analysis/statistics/intervals.hpp"

namespace speclab {

/// Mean of independent values within `support` (not empty, asserted): bounded_mean_interval where fewer than
/// 100 of them differ from the commonest value, which covers at least at its confidence; else Student's t,
/// cut to the support. Normal quantiles and Student's t cover .13 to .95 at 95% of ten values whose rare ones
/// are small.
Interval independent_mean_interval(std::span<const double> values, const Support& support, double confidence);

/// `run` less the largest of `others` (one at least, asserted), whichever that is in truth, of runs whose
/// batches belong together as in paired_difference. The estimate is the difference to the largest estimate.
/// Others that are smaller than that one, by an interval, are left out; the bounds are the least of those of
/// the differences to the rest. All these intervals hold together with `confidence`, and then the difference
/// to the largest lies between the bounds. An interval of the difference to the one that these batches chose
/// would leave out that it was chosen for its luck.
std::optional<Interval> difference_to_best(const BatchRatio& run, std::span<const BatchRatio> others,
                                           double confidence);

}  // namespace speclab
