// One-shot rejection sampling, the classical way to turn draws from q into draws from p (Leviathan et al.
// 2023, appendix A.2), against which the paper holds its own rule.
#pragma once

#include "core/rules/token.hpp"

namespace speclab {

/// Accept with p / (M q), M = max p/q, else sample p afresh. Lossless; accepts with 1/M = min q/p over the
/// target's support, never more than the overlap. Where the draft misses a token of the target M is infinite
/// and nothing is accepted.
struct RejectionRule : BonusFromTarget {
  using SaidByPosition = RejectionRule;
  /// min q/p over the target's support; 0 when a probability is NaN.
  template <class Real>
  SPECLAB_HD Real acceptance_rate(BasicRow<Real> target, BasicRow<Real> draft) const {
    Real least(1);
    for (Token id = 0; id < target.size; ++id) {
      if (target[id] > Real(0)) {
        const Real ratio = draft[id] / target[id];
        if (!(ratio >= least)) least = ratio;
      } else if (!(target[id] == Real(0))) {
        return Real(0);
      }
    }
    return least;
  }
  template <class Real>
  SPECLAB_HD Real acceptance(Token token, BasicRow<Real> target, BasicRow<Real> draft) const {
    if (!(draft[token] > Real(0)) || !(target[token] > Real(0))) return Real(0);
    return acceptance_rate(target, draft) * target[token] / draft[token];
  }
  template <class Real>
  auto acceptances(BasicRow<Real> target, BasicRow<Real> draft) const {
    return [target, draft, rate = acceptance_rate(target, draft)](Token token) -> Real {
      return draft[token] > Real(0) ? rate * target[token] / draft[token] : Real(0);
    };
  }
  template <class Real>
  SPECLAB_HD BasicRow<Real> replacement(BasicRow<Real> target, BasicRow<Real>) const {
    return target;
  }
};

}  // namespace speclab
