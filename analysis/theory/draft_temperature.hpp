// The temperature at which a draft should sample: that of the largest acceptance rate, mean of
// sum min(p_T, q_T') over contexts, for a target that samples at its own temperature T.
#pragma once

#include <functional>

namespace speclab {

/// Temperatures among which it is looked for, besides 0, the argmax.
inline constexpr double least_draft_temperature = 0.02;
inline constexpr double max_draft_temperature = 20;

struct DraftTemperature {
  double temperature = 0;  ///< 0: the argmax
  double acceptance = 0;
  /// The most that was looked at is the best: a hotter draft may be better still.
  bool at_limit = false;
};

/// Maximises `acceptance(temperature)` over 0 and that range. The rate need have neither one peak nor, with
/// top-p, be continuous: it is taken at 61 temperatures in equal ratios, and around the three highest peaks
/// of those a golden section follows, to 1e-4 of the temperature. Of values that are equal to rounding the
/// lowest temperature counts. A peak narrower than an eighth of its temperature can be missed.
DraftTemperature best_draft_temperature(const std::function<double(double)>& acceptance);

}  // namespace speclab
