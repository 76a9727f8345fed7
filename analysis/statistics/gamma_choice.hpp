// Computes how certain a choice of gamma is: all gammas that are optimal for inputs within rounding, and all
// that lose little.
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

/// Returns every gamma that is optimal (optimal_gamma) for some alpha and c in the ranges, which are cut to
/// alpha in [0, 1] and c >= 0. The best gamma rises with alpha, falls with c, and takes every value between
/// those of the two extreme corners, because only neighbouring gammas tie.
GammaRange optimal_gamma_range(double alpha_low, double alpha_high, double c_low, double c_high);

/// Returns the gammas around the best of `speeds` (by gamma, from 0; not empty: asserted) whose speedup is at
/// least (1 - loss) of the best.
GammaRange near_best(std::span<const double> speeds, double loss);

enum class ChoiceVerdict { same, optimal_within_rounding, ours_is_faster, more_is_always_better };

/// A given gamma, compared with the best. Speedups are by Theorem 3.8.
struct JudgedGamma {
  double speedup = 0;
  std::optional<int> best_gamma = {};       ///< none: more is always better
  std::optional<double> best_speedup = {};  ///< none: unlimited
  double loss = 1;                          ///< share of the best speedup that the choice loses
  std::optional<GammaRange> optimal = {};   ///< for inputs within rounding; none without rounding
  ChoiceVerdict verdict = ChoiceVerdict::ours_is_faster;
};

/// Judges a gamma. Roundings are half a unit of the last printed digit of alpha and c; 0: exact.
JudgedGamma judge_gamma(int gamma, double alpha, double c, double alpha_rounding, double c_rounding);

}  // namespace speclab
