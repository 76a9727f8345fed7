// Finds the number of drafted tokens that maximises the walltime improvement of Leviathan et al. 2023, Thm
// 3.8.
#pragma once

#include <optional>
#include <string>

namespace speclab {

/// The best number of drafted tokens per round, or the reason why there is none.
struct OptimalGamma {
  std::optional<int> gamma;       ///< empty if more is always better; 0 means "do not speculate"
  std::optional<double> speedup;  ///< at `gamma`, or the limit as gamma grows; empty if infinite
  std::string reason;             ///< one sentence for a reader
};

/// Returns the smallest maximiser of speedup(alpha, gamma, c) over gamma >= 0, for alpha in [0, 1] and c >= 0
/// (asserted). Going from gamma to gamma + 1 helps iff alpha^(gamma+1) (1 + c gamma) > c A(alpha, gamma); the
/// left side less the right falls with gamma, so the first failure is the maximiser and bisection finds it.
/// Differences within a few units of rounding are ties, which go to the smaller gamma. There is no finite
/// maximiser if c = 0 < alpha or alpha = 1 > c; none is returned beyond 10^9.
OptimalGamma optimal_gamma(double alpha, double c);

}  // namespace speclab
