// One-shot rejection sampling, the classical way to turn draws from q into draws from p (Leviathan et al.
// 2023, appendix A.2), with which the paper compares its own rule.
#pragma once

#include "core/rules/by_position.hpp"

namespace speclab {

/// Accepts with p / (M q), M = max p/q, else samples p afresh. Lossless; accepts with 1/M = min q/p over the
/// target's support, never more than the overlap. If the draft misses a token of the target, M is infinite
/// and nothing is accepted.
struct RejectionRule : ByPosition<RejectionRule> {
  static constexpr Correction correction = Correction::target;

  /// Returns 1/M.
  template <class Rows>
  SPECLAB_HD PositionNumbers<typename Rows::Real> numbers(const Rows& rows) const {
    return {rows.smallest_ratio()};
  }
  template <class Real>
  SPECLAB_HD Real acceptance_probability(const PositionNumbers<Real>& here, Token, const Real& p,
                                         const Real& q) const {
    return q > Real(0) && p > Real(0) ? Real(here.number * p / q) : Real(0);
  }
  template <class Real>
  SPECLAB_HD Real acceptance_rate(BasicRow<Real> target, BasicRow<Real> draft) const {
    return DenseRows<Real>{target, draft}.smallest_ratio();
  }
};

}  // namespace speclab
