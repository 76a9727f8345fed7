// Typical acceptance (Cai et al. 2024, "Medusa", section 2.3.1): accepts tokens that the target finds likely
// enough, where "enough" depends on how sure the target is.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/rules/by_position.hpp"

namespace speclab {

/// Accepts iff p(x) > min(epsilon, delta * exp(-H(p))), H the entropy in nats; after a rejection samples the
/// target. Lossy. The threshold is a real function, computed in double for any arithmetic; branch weights
/// stay exact. Host only.
struct TypicalRule : ByPosition<TypicalRule> {
  static constexpr Correction correction = Correction::target;
  double epsilon = 0.3;
  double delta = 0.09;

  TypicalRule() = default;
  TypicalRule(double hard, double relative) : epsilon(hard), delta(relative) {}

  /// Returns the threshold.
  template <class Rows>
  PositionNumbers<typename Rows::Real> numbers(const Rows& rows) const {
    return {typename Rows::Real(std::min(epsilon, delta * std::exp(rows.minus_entropy())))};
  }
  template <class Real>
  Real acceptance_probability(const PositionNumbers<Real>& here, Token, const Real& p, const Real&) const {
    return static_cast<double>(p) > static_cast<double>(here.number) ? Real(1) : Real(0);
  }
  /// Skips the entropy where a bound decides: exp(-H) is at most the largest probability. A caller that also
  /// asks for `acceptance_rate` then makes one pass of logarithms per row instead of two.
  template <class Real>
  Real acceptance(Token token, BasicRow<Real> target, BasicRow<Real> draft) const {
    const LikelyToken<Real> best = DenseRows<Real>{target, draft}.target_best();
    if (best.token < 0) return Real(0);
    const double enough = std::min(epsilon, delta * static_cast<double>(best.probability));
    if (static_cast<double>(target[token]) > enough) return Real(1);
    return ByPosition::acceptance(token, target, draft);
  }
};

}  // namespace speclab
