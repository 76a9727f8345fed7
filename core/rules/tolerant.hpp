// Acceptance with an added tolerance. It is fixed (`lossy_sd` of YichiCS/Secure-Speculative-Decoding,
// securesd/verifier/common.py), or grows with the target's uncertainty (Sun et al. 2025, "EARS", arXiv
// 2512.13194: a tolerance in proportion to 1 - max p; the abstract does not say more).
#pragma once

#include "core/distribution/number.hpp"
#include "core/rules/by_position.hpp"

namespace speclab {

/// Accepts with min(1, p/q + epsilon + beta (1 - max p)), else samples norm((p - q)+). Lossy.
struct TolerantRule : ByPosition<TolerantRule> {
  static constexpr Correction correction = Correction::residual;
  double epsilon = 0;
  double beta = 0.2;

  TolerantRule() = default;
  SPECLAB_HD TolerantRule(double fixed, double of_uncertainty) : epsilon(fixed), beta(of_uncertainty) {}

  /// Returns the tolerance.
  template <class Rows>
  SPECLAB_HD PositionNumbers<typename Rows::Real> numbers(const Rows& rows) const {
    using Real = typename Rows::Real;
    const LikelyToken<Real> best = rows.target_best();
    const Real likeliest = best.token < 0 ? Real(1) : best.probability;
    return {Real(from_decimal<Real>(epsilon) + from_decimal<Real>(beta) * Real(Real(1) - likeliest))};
  }
  template <class Real>
  SPECLAB_HD Real acceptance_probability(const PositionNumbers<Real>& here, Token, const Real& p,
                                         const Real& q) const {
    return acceptance_ratio(Real(p + here.number * q), q, Real(1));
  }
};

}  // namespace speclab
