// Finds the temperature at which a draft should sample: that of the largest acceptance rate, the mean of sum
// min(p_T, q_T') over contexts, for a target that samples at its own temperature T.
#pragma once

#include <functional>

namespace speclab {

/// Range of temperatures that are searched, besides 0, the argmax.
inline constexpr double least_draft_temperature = 0.02;
inline constexpr double max_draft_temperature = 20;

struct DraftTemperature {
  double temperature = 0;  ///< 0: the argmax
  double acceptance = 0;
  /// The highest temperature searched is the best: a hotter draft may be better still.
  bool at_limit = false;
};

/// Maximises `acceptance(temperature)` over 0 and that range. The rate need not have a single peak nor, with
/// top-p, be continuous: it is evaluated at 61 temperatures in equal ratios, and a golden section around the
/// three highest peaks among them follows, to 1e-4 of the temperature. If values are equal up to rounding,
/// the lowest temperature wins. A peak narrower than an eighth of its temperature can be missed.
DraftTemperature best_draft_temperature(const std::function<double(double)>& acceptance);

}  // namespace speclab
