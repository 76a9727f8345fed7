// User-defined ByPosition rules, for tests that the fast engine runs them without further code.
#pragma once

#include "core/rules/by_position.hpp"

namespace speclab {

/// Accepts with half of min(1, p/q). Lossless: the correction is norm(p - min(p, q)/2).
struct HalvingRule : ByPosition<HalvingRule> {
  static constexpr Correction correction = Correction::thinned;

  template <class Real>
  Real acceptance_probability(const Real& p, const Real& q) const {
    return acceptance_ratio(p, q, Real(1)) / Real(2);
  }
  template <class Real>
  Real share(const PositionNumbers<Real>&, const Real& p, const Real& q) const {
    return Real(1) - acceptance_ratio(q, p, Real(1)) / Real(2);
  }
};

/// Replaces by a token of the target, and not as its correction says.
struct UnthinnedRule : ByPosition<UnthinnedRule> {
  static constexpr Correction correction = Correction::thinned;

  template <class Real>
  Real acceptance_probability(const Real& p, const Real& q) const {
    return HalvingRule{}.acceptance_probability(p, q);
  }
  template <class Real>
  BasicRow<Real> replacement(BasicRow<Real> target, BasicRow<Real>) const {
    return target;
  }
};

/// Emits the target's argmax as the bonus, and not as its correction says.
struct OwnBonusRule : ByPosition<OwnBonusRule> {
  static constexpr Correction correction = Correction::target;

  template <class Real>
  Real acceptance_probability(const Real& p, const Real&) const {
    return p;
  }
  template <class Real>
  PointRow<Real> bonus(BasicRow<Real> target) const {
    return {argmax(target), target.size};
  }
};

/// Accepts with s min(1, p/q), where s is the sum of p^2, which no engine knows without a pass. Lossless.
struct ConcentrationRule : ByPosition<ConcentrationRule> {
  static constexpr Correction correction = Correction::thinned;

  template <class Rows>
  PositionNumbers<typename Rows::Real> numbers(const Rows& rows) const {
    return {typename Rows::Real(rows.sum([](double p, double) { return p * p; }))};
  }
  template <class Real>
  Real acceptance_probability(const PositionNumbers<Real>& here, Token, const Real& p, const Real& q) const {
    return here.number * acceptance_ratio(p, q, Real(1));
  }
  template <class Real>
  Real share(const PositionNumbers<Real>& here, const Real& p, const Real& q) const {
    return Real(1) - here.number * acceptance_ratio(q, p, Real(1));
  }
};

/// Accepts a token of at least half of the target's largest probability, else emits the target's argmax.
/// Lossy.
struct HalfAsLikelyRule : ByPosition<HalfAsLikelyRule> {
  static constexpr Correction correction = Correction::best;

  template <class Rows>
  PositionNumbers<typename Rows::Real> numbers(const Rows& rows) const {
    const auto best = rows.target_best();
    return {best.probability / 2, best.token};
  }
  template <class Real>
  Real acceptance_probability(const PositionNumbers<Real>& here, Token, const Real& p, const Real&) const {
    return p >= here.number ? Real(1) : Real(0);
  }
};

}  // namespace speclab
