// Speculative cascade (Narasimhan et al. 2024, "Faster cascades via speculative decoding"): where the target
// finds a token nearly as good as its best, the draft's choice stands.
#pragma once

#include "core/distribution/number.hpp"
#include "core/rules/token.hpp"

namespace speclab {

/// The distribution that a cascade aims at, from rows p and q: with A the ids of p(x) >= (1 - slack) max p
/// and eta = q(not in A),
///     pi(x) = q(x) [x in A] + eta p(x):
/// the draft's token where it is admissible, else one of the target.
template <class Real>
struct CascadeDistribution {
  BasicRow<Real> target;
  BasicRow<Real> draft;
  Real bar;  ///< (1 - slack) max p
  Real eta;

  SPECLAB_HD CascadeDistribution(BasicRow<Real> p, BasicRow<Real> q, Real slack)
      : target(p), draft(q), bar(0), eta(0) {
    for (Token id = 0; id < p.size; ++id) bar = p[id] > bar ? p[id] : bar;
    bar *= Real(1) - slack;
    eta = sum_terms<Real>(0, q.size, [&](Token id) { return p[id] >= bar ? Real(0) : q[id]; });
  }
  SPECLAB_HD Real operator()(Token id) const {
    const Real deferred = eta * target[id];
    return target[id] >= bar ? Real(draft[id] + deferred) : deferred;
  }
};

/// norm((pi - q)+) where it is read.
template <class Real>
struct CascadeResidual {
  using value_type = Real;
  CascadeDistribution<Real> distribution;
  std::int32_t size;

  SPECLAB_HD Real operator[](Token id) const {
    const Real difference = distribution(id) - distribution.draft[id];
    return difference <= Real(0) ? Real(0) : difference;
  }
};

/// Token verification against pi: tokens of A are always accepted, the others with min(1, eta p/q). Lossless
/// for pi, hence lossy for the target unless no drafted token is admissible.
struct CascadeRule : BonusFromTarget {
  using SaidByPosition = CascadeRule;
  double slack = 0.1;

  CascadeRule() = default;
  SPECLAB_HD explicit CascadeRule(double a) : slack(a) {}

  template <class Real>
  SPECLAB_HD Real acceptance(Token token, BasicRow<Real> target, BasicRow<Real> draft) const {
    return acceptance_ratio(distribution(target, draft)(token), draft[token], Real(1));
  }
  template <class Real>
  auto acceptances(BasicRow<Real> target, BasicRow<Real> draft) const {
    return [pi = distribution(target, draft)](Token token) {
      return acceptance_ratio(pi(token), pi.draft[token], Real(1));
    };
  }
  template <class Real>
  SPECLAB_HD Real acceptance_rate(BasicRow<Real> target, BasicRow<Real> draft) const {
    const CascadeDistribution<Real> pi = distribution(target, draft);
    return sum_terms<Real>(0, target.size, [&](Token id) {
      const Real wanted = pi(id);
      return draft[id] < wanted ? draft[id] : wanted;
    });
  }
  template <class Real>
  SPECLAB_HD CascadeResidual<Real> replacement(BasicRow<Real> target, BasicRow<Real> draft) const {
    return {distribution(target, draft), target.size};
  }

 private:
  template <class Real>
  SPECLAB_HD CascadeDistribution<Real> distribution(BasicRow<Real> target, BasicRow<Real> draft) const {
    return {target, draft, from_decimal<Real>(slack)};
  }
};

}  // namespace speclab
