// The difference of two ratios that were measured on the same batches.
#pragma once

#include <optional>
#include <span>

#include "speclab/analysis/intervals.hpp"

namespace speclab {

/// A ratio of sums over batches, as for ratio_interval.
struct BatchRatio {
  std::span<const double> numerators;
  std::span<const double> denominators;
};

/// first - second, where batch i of both saw the same random numbers: the linearised ratios are subtracted
/// batch by batch, so that what both share cancels. Student's t on n - 1 degrees. Lengths are equal
/// (asserted); empty when the denominators of either sum to 0.
std::optional<Interval> paired_difference(const BatchRatio& first, const BatchRatio& second,
                                          double confidence);

}  // namespace speclab
