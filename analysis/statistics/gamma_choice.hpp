// How sure a choice of gamma is: the choices that inputs within rounding allow, and those that lose little.
#pragma once

#include <optional>
#include <span>

namespace speclab {

/// Values low..high of gamma; without `high` there is no largest.
struct GammaRange {
  int low = 0;
  std::optional<int> high;

  bool holds(int gamma) const { return gamma >= low && (!high || gamma <= *high); }
};

/// Every gamma that is optimal (optimal_gamma) for some alpha and c of the box, which is cut to alpha in [0,
/// 1] and c >= 0. The best gamma rises with alpha and falls with c, and on the way between two corners it
/// takes every value between: a tie of gamma and gamma + 1 is where speedups of two neighbours cross, and no
/// further speedup ties with them.
GammaRange optimal_gamma_range(double alpha_low, double alpha_high, double c_low, double c_high);

/// The gammas around the best of `speeds` (by gamma, from 0; not empty: asserted) whose speedup is at least
/// (1 - loss) of the best.
GammaRange near_best(std::span<const double> speeds, double loss);

}  // namespace speclab
