// Acceptance with an addend: a fixed one (`lossy_sd` of YichiCS/Secure-Speculative-Decoding,
// securesd/verifier/common.py), or one that grows with the target's uncertainty (Sun et al. 2025, "EARS",
// arXiv 2512.13194: a tolerance in proportion to 1 - max p; the abstract does not say more).
#pragma once

#include "core/distribution/number.hpp"
#include "core/rules/token.hpp"

namespace speclab {

/// Accept with min(1, p/q + epsilon + beta (1 - max p)), else sample norm((p - q)+). Lossy.
struct TolerantRule : BonusFromTarget {
  using SaidByPosition = TolerantRule;
  double epsilon = 0;
  double beta = 0.2;

  TolerantRule() = default;
  SPECLAB_HD TolerantRule(double fixed, double of_uncertainty) : epsilon(fixed), beta(of_uncertainty) {}

  /// `likeliest`: max p.
  template <class Real>
  SPECLAB_HD Real addend(const Real& likeliest) const {
    return from_decimal<Real>(epsilon) + from_decimal<Real>(beta) * Real(Real(1) - likeliest);
  }
  template <class Real>
  SPECLAB_HD Real addend(BasicRow<Real> target) const {
    const Token best = argmax(target);
    return addend(best < 0 ? Real(1) : target[best]);
  }
  template <class Real>
  SPECLAB_HD auto acceptances(BasicRow<Real> target, BasicRow<Real> draft) const {
    return [target, draft, more = addend(target)](Token token) {
      return acceptance_ratio(Real(target[token] + more * draft[token]), draft[token], Real(1));
    };
  }
  template <class Real>
  SPECLAB_HD Real acceptance(Token token, BasicRow<Real> target, BasicRow<Real> draft) const {
    return acceptances(target, draft)(token);
  }
  template <class Real>
  SPECLAB_HD Real acceptance_rate(BasicRow<Real> target, BasicRow<Real> draft) const {
    const auto accepted = acceptances(target, draft);
    return sum_terms<Real>(0, draft.size, [&](Token id) { return Real(draft[id] * accepted(id)); });
  }
  template <class Real>
  SPECLAB_HD ResidualRow<Real> replacement(BasicRow<Real> target, BasicRow<Real> draft) const {
    return {target, draft, Real(1)};
  }
};

}  // namespace speclab
