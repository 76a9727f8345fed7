// Coupling rules draw the emitted token itself, given the drafted one, and accept the draft if both agree:
//     coupled(token, target, draft)   weights of the emitted token when `token` was drafted
//     acceptance_rate, bonus          as for acceptance rules
// The rule is lossless if the mean of these rows over the draft is the target.
#pragma once

#include "core/rules/token.hpp"

namespace speclab {

/// Same-sample verification: draws Y ~ p independently of the draft, accepts iff Y = x, and emits Y, as
/// engines do that sample the target first and then compare. Lossless; accepts with sum p q.
struct MatchRule : BonusFromTarget {
  using SaidByPosition = MatchRule;
  static constexpr Correction correction = Correction::another;

  template <class Real>
  SPECLAB_HD BasicRow<Real> coupled(Token, BasicRow<Real> target, BasicRow<Real>) const {
    return target;
  }
  template <class Real>
  SPECLAB_HD Real acceptance_rate(BasicRow<Real> target, BasicRow<Real> draft) const {
    return sum_terms<Real>(0, target.size, [&](Token id) { return Real(target[id] * draft[id]); });
  }
  /// Returns P(Y is the drafted token); otherwise Y is another token.
  template <class Real>
  SPECLAB_HD Real acceptance_probability(const Real& p, const Real&) const {
    return p;
  }
};

}  // namespace speclab
