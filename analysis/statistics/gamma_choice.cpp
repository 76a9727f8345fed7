#include "analysis/statistics/gamma_choice.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>

namespace speclab {

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

}  // namespace speclab
