// Lenience (Leviathan et al. 2023, appendix A.5): accept more, at the price of another output distribution.
#pragma once

#include "core/distribution/number.hpp"
#include "core/rules/token.hpp"

namespace speclab {

/// The three readings of A.5's residual; the paper leaves it open.
enum class Residual { target_minus_draft, literal, target };

/// At temperature > 0: accept with min(1, p/(l q)), l in (0, 1]. Lossy for l < 1.
/// `target_minus_draft` and `literal` keep the output below p / l everywhere; `target` does not.
struct LenienceRule : BonusFromTarget {
  using SaidByPosition = LenienceRule;
  using Pointwise = LenienceRule;

  double lenience = 1;
  Residual residual = Residual::target_minus_draft;

  LenienceRule() = default;
  SPECLAB_HD explicit LenienceRule(double l, Residual reading = Residual::target_minus_draft)
      : lenience(l), residual(reading) {}

  template <class Real>
  SPECLAB_HD Real acceptance_probability(const Real& p, const Real& q) const {
    return acceptance_ratio(p, q, from_decimal<Real>(lenience));
  }
  template <class Real>
  SPECLAB_HD Real residual_scale() const {
    if (residual == Residual::literal) return from_decimal<Real>(lenience);
    return residual == Residual::target ? Real(0) : Real(1);
  }
  template <class Real>
  SPECLAB_HD Real acceptance(Token token, BasicRow<Real> target, BasicRow<Real> draft) const {
    return acceptance_probability(target[token], draft[token]);
  }
  template <class Real>
  SPECLAB_HD Real acceptance_rate(BasicRow<Real> target, BasicRow<Real> draft) const {
    return lenient_overlap(target, draft, from_decimal<Real>(lenience));
  }
  template <class Real>
  SPECLAB_HD ResidualRow<Real> replacement(BasicRow<Real> target, BasicRow<Real> draft) const {
    return {target, draft, residual_scale<Real>()};
  }
};

/// At temperature 0, over the target's row before argmax: accept iff p(x) >= l * max p, else emit argmax p.
/// (The paper prints <=, a typo: at l = 1 that would accept everything, yet it reports alpha = 0.75 there.)
struct GreedyLenienceRule {
  using SaidByPosition = GreedyLenienceRule;
  double lenience = 1;

  template <class Real>
  SPECLAB_HD Real acceptance(Token token, BasicRow<Real> target, BasicRow<Real>) const {
    const Token best = argmax(target);
    if (best < 0) return Real(0);
    return target[token] >= from_decimal<Real>(lenience) * target[best] ? Real(1) : Real(0);
  }
  template <class Real>
  auto acceptances(BasicRow<Real> target, BasicRow<Real>) const {
    const Token best = argmax(target);
    const Real bar = best < 0 ? Real(0) : Real(from_decimal<Real>(lenience) * target[best]);
    return [target, bar, best](Token token) { return best >= 0 && target[token] >= bar ? Real(1) : Real(0); };
  }
  template <class Real>
  SPECLAB_HD Real acceptance_rate(BasicRow<Real> target, BasicRow<Real> draft) const {
    const Token best = argmax(target);
    if (best < 0) return Real(0);
    const Real bar = from_decimal<Real>(lenience) * target[best];
    return sum_terms<Real>(0, draft.size, [&](Token id) { return target[id] >= bar ? draft[id] : Real(0); });
  }
  template <class Real>
  SPECLAB_HD PointRow<Real> replacement(BasicRow<Real> target, BasicRow<Real>) const {
    return bonus(target);
  }
  template <class Real>
  SPECLAB_HD PointRow<Real> bonus(BasicRow<Real> target) const {
    return plain(target);
  }
  /// Plain decoding at temperature 0, which the rule stands beside.
  template <class Real>
  SPECLAB_HD PointRow<Real> plain(BasicRow<Real> target) const {
    return {argmax(target), target.size};
  }
};

}  // namespace speclab
