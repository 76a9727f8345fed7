// Finds the draft temperature T' with the largest acceptance rate, the mean of sum min(p_T, q_T') over
// contexts, for a target that samples at temperature T.
#pragma once

#include <functional>

namespace speclab {

/// Range of temperatures that are searched, besides 0, the argmax.
inline constexpr double least_draft_temperature = 0.02;
inline constexpr double max_draft_temperature = 20;

struct DraftTemperature {
  double temperature = 0;  ///< 0: the argmax
  double acceptance = 0;
  /// whether the highest temperature searched is the best, so that a higher one may be better still.
  bool at_limit = false;
};

/// Maximises `acceptance(temperature)` over 0 and that range. The rate need not be unimodal nor, with top-p,
/// continuous: it is evaluated at 61 temperatures in equal ratios, followed by golden-section searches around
/// the three highest peaks, to 1e-4 of the temperature. Among values equal up to rounding the lowest
/// temperature wins. A peak narrower than an eighth of its temperature can be missed.
DraftTemperature best_draft_temperature(const std::function<double(double)>& acceptance);

}  // namespace speclab
