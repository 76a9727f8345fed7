// Speculative cascades with a deferral rule (Narasimhan et al. 2024, "Faster cascades via speculative
// decoding"): in each context the cascade either keeps the draft's row or defers to the target. The
// token-specific cascade is core/rules/cascade.hpp.
#pragma once

#include "core/distribution/number.hpp"
#include "core/rules/by_position.hpp"

namespace speclab {

/// The condition under which the cascade defers to the target, with alpha the price of a deferral
/// (YichiCS/Secure-Speculative-Decoding, securesd/verifier/sc.py, has the same three).
enum class Deferral {
  chow,        ///< max q < 1 - alpha
  difference,  ///< max q < max p - alpha
  optimal      ///< max q < max p - alpha TV(p, q)
};

/// Token verification against pi = p where the cascade defers and pi = q elsewhere: a context that defers
/// accepts with min(1, p/q) and corrects from norm((p - q)+); any other accepts everything. Lossy. The bonus
/// is the target's; sc.py instead runs the draft once more there and takes the bonus from pi.
struct DeferralRule : ByPosition<DeferralRule> {
  static constexpr Correction correction = Correction::residual;
  Deferral deferral = Deferral::optimal;
  double alpha = 0.2;

  DeferralRule() = default;
  SPECLAB_HD DeferralRule(Deferral rule, double price) : deferral(rule), alpha(price) {}

  /// Returns whether the cascade defers to the target.
  template <class Rows>
  SPECLAB_HD PositionNumbers<typename Rows::Real> numbers(const Rows& rows) const {
    using Real = typename Rows::Real;
    const LikelyToken<Real> target = rows.target_best();
    const LikelyToken<Real> draft = rows.draft_best();
    if (target.token < 0 || draft.token < 0) return {Real(1)};
    const Real price = from_decimal<Real>(alpha);
    Real bar = (deferral == Deferral::chow ? Real(1) : target.probability) - price;
    if (deferral == Deferral::optimal) bar = target.probability - price * rows.total_variation();
    return {draft.probability < bar ? Real(1) : Real(0)};
  }
  template <class Real>
  SPECLAB_HD Real acceptance_probability(const PositionNumbers<Real>& here, Token, const Real& p,
                                         const Real& q) const {
    return acceptance_ratio(here.number > Real(0) ? p : q, q, Real(1));
  }
  template <class Real>
  SPECLAB_HD Real acceptance_rate(BasicRow<Real> target, BasicRow<Real> draft) const {
    const bool defers = numbers(DenseRows<Real>{target, draft}).number > Real(0);
    return defers ? overlap(target, draft) : total_probability(draft);
  }
};

}  // namespace speclab
