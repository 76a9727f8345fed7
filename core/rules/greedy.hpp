// Greedy verification: what serving engines do at temperature 0.
#pragma once

#include "core/rules/token.hpp"

namespace speclab {

/// Accept iff the drafted token is the target's argmax (lowest id on ties), else emit the argmax. Emits
/// greedy decoding's tokens: lossless when the target's rows are points (temperature 0), whatever the draft.
struct GreedyRule {
  using SaidByPosition = GreedyRule;
  template <class Real>
  SPECLAB_HD Real acceptance(Token token, BasicRow<Real> target, BasicRow<Real>) const {
    return token == argmax(target) ? Real(1) : Real(0);
  }
  template <class Real>
  auto acceptances(BasicRow<Real> target, BasicRow<Real>) const {
    return [best = argmax(target)](Token token) { return token == best ? Real(1) : Real(0); };
  }
  template <class Real>
  SPECLAB_HD Real acceptance_rate(BasicRow<Real> target, BasicRow<Real> draft) const {
    const Token best = argmax(target);
    return best < 0 ? Real(0) : draft[best];
  }
  template <class Real>
  SPECLAB_HD PointRow<Real> replacement(BasicRow<Real> target, BasicRow<Real>) const {
    return bonus(target);
  }
  template <class Real>
  SPECLAB_HD PointRow<Real> bonus(BasicRow<Real> target) const {
    return {argmax(target), target.size};
  }
};

}  // namespace speclab
