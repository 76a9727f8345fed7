// Speculative cascades with a deferral rule (Narasimhan et al. 2024, "Faster cascades via speculative
// decoding"): in each context the draft's row stands, or the cascade defers to the target. The token-specific
// cascade is core/rules/cascade.hpp.
#pragma once

#include "core/distribution/number.hpp"
#include "core/rules/token.hpp"

namespace speclab {

/// When the cascade defers to the target, with alpha the price of a deferral
/// (YichiCS/Secure-Speculative-Decoding, securesd/verifier/sc.py, has the three in these words).
enum class Deferral {
  chow,        ///< max q < 1 - alpha
  difference,  ///< max q < max p - alpha
  optimal      ///< max q < max p - alpha TV(p, q)
};

/// Token verification against pi = p where the cascade defers and pi = q elsewhere: a deferred context
/// accepts with min(1, p/q) and corrects from norm((p - q)+), any other accepts everything. Lossy. The bonus
/// is the target's; sc.py runs the draft once more there and takes it from pi.
struct DeferralRule : BonusFromTarget {
  using SaidByPosition = DeferralRule;
  Deferral deferral = Deferral::optimal;
  double alpha = 0.2;

  DeferralRule() = default;
  SPECLAB_HD DeferralRule(Deferral rule, double price) : deferral(rule), alpha(price) {}

  /// From max p and max q; `distance()` is TV(p, q).
  template <class Real, class Distance>
  SPECLAB_HD bool defers(const Real& target_best, const Real& draft_best, const Distance& distance) const {
    const Real price = from_decimal<Real>(alpha);
    if (deferral == Deferral::chow) return draft_best < Real(1) - price;
    if (deferral == Deferral::difference) return draft_best < target_best - price;
    return draft_best < target_best - price * distance();
  }
  template <class Real>
  SPECLAB_HD bool defers(BasicRow<Real> target, BasicRow<Real> draft) const {
    const Token best = argmax(target);
    const Token draft_best = argmax(draft);
    if (best < 0 || draft_best < 0) return true;
    return defers(target[best], draft[draft_best], [&] { return total_variation(target, draft); });
  }
  template <class Real>
  SPECLAB_HD auto acceptances(BasicRow<Real> target, BasicRow<Real> draft) const {
    return [target, draft, deferred = defers(target, draft)](Token token) {
      return acceptance_ratio(deferred ? target[token] : draft[token], draft[token], Real(1));
    };
  }
  template <class Real>
  SPECLAB_HD Real acceptance(Token token, BasicRow<Real> target, BasicRow<Real> draft) const {
    return acceptances(target, draft)(token);
  }
  template <class Real>
  SPECLAB_HD Real acceptance_rate(BasicRow<Real> target, BasicRow<Real> draft) const {
    return defers(target, draft) ? overlap(target, draft) : total_probability(draft);
  }
  template <class Real>
  SPECLAB_HD ResidualRow<Real> replacement(BasicRow<Real> target, BasicRow<Real> draft) const {
    return {target, draft, Real(1)};
  }
};

}  // namespace speclab
