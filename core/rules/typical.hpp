// Typical acceptance (Cai et al. 2024, "Medusa", section 2.3.1): accept whatever the target finds likely
// enough, where "enough" depends on how sure the target is.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/rules/token.hpp"

namespace speclab {

/// Accept iff p(x) > min(epsilon, delta * exp(-H(p))), H the entropy in nats; after a rejection sample the
/// target. Lossy. The threshold is a real function, computed in double whatever the arithmetic; branch
/// weights stay exact. Host only.
struct TypicalRule : BonusFromTarget {
  using SaidByPosition = TypicalRule;
  double epsilon = 0.3;
  double delta = 0.09;

  TypicalRule() = default;
  TypicalRule(double hard, double relative) : epsilon(hard), delta(relative) {}

  template <class Real>
  double threshold(BasicRow<Real> target) const {
    const double minus_entropy = sum_terms<double>(0, target.size, [&](Token id) {
      const auto probability = static_cast<double>(target[id]);
      return probability > 0 ? probability * std::log(probability) : probability;
    });
    return std::min(epsilon, delta * std::exp(minus_entropy));
  }

  /// Without the entropy where its bound says enough: exp(-H) is at most the largest probability. So one that
  /// watches the round and asks for `acceptance_rate` has one pass of logarithms a row, and not two.
  template <class Real>
  Real acceptance(Token token, BasicRow<Real> target, BasicRow<Real>) const {
    const auto probability = static_cast<double>(target[token]);
    const Token best = argmax(target);
    if (best < 0) return Real(0);
    if (probability > std::min(epsilon, delta * static_cast<double>(target[best]))) return Real(1);
    return probability > threshold(target) ? Real(1) : Real(0);
  }
  template <class Real>
  auto acceptances(BasicRow<Real> target, BasicRow<Real>) const {
    return [target, bar = threshold(target)](Token token) {
      return static_cast<double>(target[token]) > bar ? Real(1) : Real(0);
    };
  }
  template <class Real>
  Real acceptance_rate(BasicRow<Real> target, BasicRow<Real> draft) const {
    const double bar = threshold(target);
    return sum_terms<Real>(
        0, draft.size, [&](Token id) { return static_cast<double>(target[id]) > bar ? draft[id] : Real(0); });
  }
  template <class Real>
  BasicRow<Real> replacement(BasicRow<Real> target, BasicRow<Real>) const {
    return target;
  }
};

}  // namespace speclab
