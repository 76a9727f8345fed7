// Finds the choices of gamma that lose little.
#pragma once

#include <optional>
#include <span>

namespace speclab {

/// Values low..high of gamma; without `high` there is no largest.
struct GammaRange {
  int low = 0;
  std::optional<int> high;
};

/// Returns the gammas around the best of `speeds` (indexed by gamma; not empty: asserted) whose speedup is at
/// least (1 - loss) of the best.
GammaRange near_best(std::span<const double> speeds, double loss);

}  // namespace speclab
