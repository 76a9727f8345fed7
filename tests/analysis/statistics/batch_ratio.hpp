// The interval of a ratio, for batches of any values.
#pragma once

#include <optional>
#include <vector>

#include "analysis/statistics/estimates.hpp"
#include "analysis/statistics/intervals.hpp"

namespace speclab {

/// Returns the interval of a ratio of sums, one numerator and denominator from each batch's tally
/// (ratio_interval).
inline std::optional<Interval> ratio_over_batches(const std::vector<Tally>& batches,
                                                  const TallyPart& numerator, const TallyPart& denominator,
                                                  double confidence) {
  std::vector<double> above, below;
  for (const Tally& batch : batches) {
    above.push_back(numerator(batch));
    below.push_back(denominator(batch));
  }
  return ratio_interval(above, below, confidence);
}

}  // namespace speclab
