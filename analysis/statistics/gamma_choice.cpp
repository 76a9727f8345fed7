#include "analysis/statistics/gamma_choice.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>

#include "analysis/theory/optimal_gamma.hpp"
#include "analysis/theory/theorems.hpp"

namespace speclab {

GammaRange optimal_gamma_range(double alpha_low, double alpha_high, double c_low, double c_high) {
  const OptimalGamma least = optimal_gamma(std::max(alpha_low, 0.0), c_high);
  const OptimalGamma most = optimal_gamma(std::min(alpha_high, 1.0), std::max(c_low, 0.0));
  constexpr int beyond_all = 1'000'000'000;  // optimal_gamma searches no further
  return {least.gamma.value_or(beyond_all), most.gamma};
}

GammaRange near_best(std::span<const double> speeds, double loss) {
  assert(!speeds.empty());
  const auto best = std::max_element(speeds.begin(), speeds.end());
  const double enough = *best * (1 - loss);
  auto low = static_cast<std::size_t>(best - speeds.begin());
  std::size_t high = low;
  while (low > 0 && speeds[low - 1] >= enough) --low;
  while (high + 1 < speeds.size() && speeds[high + 1] >= enough) ++high;
  return {static_cast<int>(low), static_cast<int>(high)};
}

JudgedGamma judge_gamma(int gamma, double alpha, double c, double alpha_rounding, double c_rounding) {
  const OptimalGamma best = optimal_gamma(alpha, c);
  JudgedGamma judged{
      .speedup = speedup(alpha, gamma, c), .best_gamma = best.gamma, .best_speedup = best.speedup};
  // If there is no best speedup (free drafts that are never rejected), every choice loses everything.
  if (best.speedup) judged.loss = 1 - judged.speedup / *best.speedup;
  if (alpha_rounding > 0 || c_rounding > 0) {
    judged.optimal =
        optimal_gamma_range(alpha - alpha_rounding, alpha + alpha_rounding, c - c_rounding, c + c_rounding);
  }
  if (!best.gamma) {
    judged.verdict = ChoiceVerdict::more_is_always_better;
  } else if (*best.gamma == gamma) {
    judged.verdict = ChoiceVerdict::same;
  } else if (judged.optimal && judged.optimal->holds(gamma)) {
    judged.verdict = ChoiceVerdict::optimal_within_rounding;
  }
  return judged;
}

}  // namespace speclab
