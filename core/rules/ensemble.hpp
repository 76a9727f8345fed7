// Verification against a mixture of target and draft (DIVERSED, comeusr/diversed, method `sd_static`; the
// dynamic form, which learns the weight by context, is not implemented).
#pragma once

#include "core/distribution/number.hpp"
#include "core/rules/by_position.hpp"

namespace speclab {

/// Token verification against v = w p + (1 - w) q: accepts with min(1, w p/q + 1 - w), else samples norm((v -
/// q)+), which is norm((p - q)+). Lossless for v at the drafted positions; the bonus comes from the target,
/// because no draft row exists there. Lossy for w < 1, by (1 - w) times the total variation of p and q per
/// token.
struct EnsembleRule : ByPosition<EnsembleRule> {
  static constexpr Correction correction = Correction::residual;
  double weight = 0.7;

  EnsembleRule() = default;
  SPECLAB_HD explicit EnsembleRule(double of_target) : weight(of_target) {}

  template <class Real>
  SPECLAB_HD Real acceptance_probability(const Real& p, const Real& q) const {
    const Real w = from_decimal<Real>(weight);
    return acceptance_ratio(Real(w * p + (Real(1) - w) * q), q, Real(1));
  }
  template <class Real>
  SPECLAB_HD Real acceptance_rate(BasicRow<Real> target, BasicRow<Real> draft) const {
    const Real w = from_decimal<Real>(weight);
    return w * overlap(target, draft) + (Real(1) - w) * total_probability(draft);
  }
};

}  // namespace speclab
