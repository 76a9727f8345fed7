// Speculative cascade (Narasimhan et al. 2024, "Faster cascades via speculative decoding"): where the target
// finds a token nearly as good as its best, the draft's choice is kept.
#pragma once

#include "core/distribution/number.hpp"
#include "core/rules/by_position.hpp"

namespace speclab {

/// Token verification against the cascade's distribution. Let A be the ids with p(x) >= (1 - slack) max p,
/// and eta = q(not in A). The distribution
///     pi(x) = q(x) [x in A] + eta p(x)
/// is that of a token of the draft, replaced by one of the target if it is not in A. Tokens of A are always
/// accepted, the others with min(1, eta p/q); after a rejection norm((pi - q)+) is sampled. Lossless for pi,
/// hence lossy for the target unless no drafted token is in A.
struct CascadeRule : ByPosition<CascadeRule> {
  static constexpr Correction correction = Correction::thinned;
  double slack = 0.1;

  CascadeRule() = default;
  SPECLAB_HD explicit CascadeRule(double a) : slack(a) {}

  /// Returns (1 - slack) max p, and eta.
  template <class Rows>
  SPECLAB_HD PositionNumbers<typename Rows::Real> numbers(const Rows& rows) const {
    using Real = typename Rows::Real;
    const Real bar = rows.target_best().probability * (Real(1) - from_decimal<Real>(slack));
    return {bar, no_token, rows.draft_below(bar)};
  }
  /// Returns pi.
  template <class Real>
  SPECLAB_HD Real wanted(const PositionNumbers<Real>& here, const Real& p, const Real& q) const {
    const Real deferred = here.other * p;
    return p >= here.number ? Real(q + deferred) : deferred;
  }
  template <class Real>
  SPECLAB_HD Real acceptance_probability(const PositionNumbers<Real>& here, Token, const Real& p,
                                         const Real& q) const {
    return acceptance_ratio(wanted(here, p, q), q, Real(1));
  }
  /// Returns (pi - q)+ / (eta p).
  template <class Real>
  SPECLAB_HD Real share(const PositionNumbers<Real>& here, const Real& p, const Real& q) const {
    if (p >= here.number) return Real(1);
    const Real deferred = here.other * p;
    return deferred > q ? Real((deferred - q) / deferred) : Real(0);
  }
  template <class Real>
  SPECLAB_HD Real acceptance_rate(BasicRow<Real> target, BasicRow<Real> draft) const {
    const PositionNumbers<Real> here = numbers(DenseRows<Real>{target, draft});
    return sum_terms<Real>(0, target.size, [&](Token id) {
      const Real pi = wanted(here, target[id], draft[id]);
      return draft[id] < pi ? draft[id] : pi;
    });
  }
};

}  // namespace speclab
