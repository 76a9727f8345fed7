// How far the distribution of the token that a rule emits at a position is from the target, in total
// variation, without that distribution: from totals T(G) = sum (p - G q)+ and from the target's likely
// tokens. `facts` is about the two rows:
//     total(G)
//     likely(bar, visit)     visit(p, q) of the tokens with p >= bar
//     of(token)              {p, q}
// Rows sum to 1. With a(x) the acceptance probability, A = sum q a and r the normalised replacement, the rule
// emits e = q a + (1 - A) r, and the distance is sum (e - p)+ = sum (p - e)+.
#pragma once

#include <concepts>

#include "core/distribution/number.hpp"
#include "core/fast/position_forms.hpp"

namespace speclab {

namespace detail {

template <class Real>
Real positive(const Real& value) {
  return value > Real(0) ? value : Real(0);
}

/// Of a rule that accepts `best`, and the tokens of p >= bar where there is a bar, else `second`, and
/// replaces by `best`.
template <class Real, class Facts>
Real distance_by_best(const PositionNumbers<Real>& here, const Facts& facts, const Real* bar) {
  const auto [best_target, best_draft] = facts.of(here.best);
  Real others(0);  // the draft's probability of accepted tokens beside the best
  Real above(0);
  const auto add = [&](const Real& p, const Real& q) {
    others += q;
    above += positive(Real(q - p));
  };
  if (bar != nullptr) {
    facts.likely(*bar, add);
    if (best_target >= *bar) {
      others -= best_draft;
      above -= positive(Real(best_draft - best_target));
    }
  } else if (here.second >= 0 && here.second != here.best) {
    const auto [p, q] = facts.of(here.second);
    add(p, q);
  }
  return above + positive(Real(Real(1) - others - best_target));
}

}  // namespace detail

/// Lossless.
template <class Rule, class Real, class Facts>
Real emitted_distance(const Rule&, const PositionNumbers<Real>&, const Facts&) {
  static_assert(std::same_as<Rule, TokenRule> || std::same_as<Rule, MatchRule> ||
                std::same_as<Rule, RejectionRule>);
  return Real(0);
}

/// A = (1 - T(l)) / l.
template <class Real, class Facts>
Real emitted_distance(const LenienceRule& rule, const PositionNumbers<Real>&, const Facts& facts) {
  const Real l = from_decimal<Real>(rule.lenience);
  const Real total = facts.total(l);
  const Real accepted = (Real(1) - total) / l;
  if (!(accepted > Real(0)) || !(total > Real(0))) return Real(0);  // p, or equal rows
  switch (rule.residual) {
    case Residual::target_minus_draft:
      return detail::positive(Real(accepted - Real(1) + facts.total(Real(1))));
    case Residual::target:
      return accepted * facts.total(Real(Real(1) / accepted));
    case Residual::literal:
      break;
  }
  const Real share = (Real(1) - accepted) / total;
  const Real rest = Real(1) - share;
  return rest > Real(0) ? Real(rest * facts.total(Real((Real(1) - share * l) / rest))) : Real(0);
}

/// e = q on the accepted tokens, beside (1 - A) p.
template <class Real, class Facts>
Real emitted_distance(const TypicalRule&, const PositionNumbers<Real>& here, const Facts& facts) {
  Real accepted(0);
  facts.likely(here.number, [&](const Real& p, const Real& q) {
    if (p > here.number) accepted += q;
  });
  Real above(0);
  facts.likely(here.number, [&](const Real& p, const Real& q) {
    if (p > here.number) above += detail::positive(Real(q - accepted * p));
  });
  return above;
}

template <class Real, class Facts>
Real emitted_distance(const FuzzyRule&, const PositionNumbers<Real>& here, const Facts& facts) {
  return here.number > Real(0) ? facts.total(Real(1)) : Real(0);
}

template <class Real, class Facts>
Real emitted_distance(const EnsembleRule& rule, const PositionNumbers<Real>&, const Facts& facts) {
  return (Real(1) - from_decimal<Real>(rule.weight)) * facts.total(Real(1));
}

/// A = 1 - T(1 - a) + a.
template <class Real, class Facts>
Real emitted_distance(const TolerantRule&, const PositionNumbers<Real>& here, const Facts& facts) {
  const Real& addend = here.number;
  const Real refused = addend < Real(1) ? Real(facts.total(Real(Real(1) - addend)) - addend) : Real(0);
  return detail::positive(Real(facts.total(Real(1)) - detail::positive(refused)));
}

template <class Real, class Facts>
Real emitted_distance(const DeferralRule&, const PositionNumbers<Real>& here, const Facts& facts) {
  return here.number > Real(0) ? Real(0) : facts.total(Real(1));
}

/// e = q + eta p on the tokens above the bar, else eta p.
template <class Real, class Facts>
Real emitted_distance(const CascadeRule&, const PositionNumbers<Real>& here, const Facts& facts) {
  Real above(0);
  facts.likely(here.number, [&](const Real& p, const Real& q) {
    above += detail::positive(Real(q + here.other * p - p));
  });
  return above;
}

template <class Real, class Facts>
Real emitted_distance(const GreedyRule&, const PositionNumbers<Real>& here, const Facts& facts) {
  return Real(1) - facts.of(here.best)[0];
}

template <class Real, class Facts>
Real emitted_distance(const GreedyLenienceRule&, const PositionNumbers<Real>& here, const Facts& facts) {
  return detail::distance_by_best(here, facts, &here.number);
}

template <class Real, class Facts>
Real emitted_distance(const MarsRule&, const PositionNumbers<Real>& here, const Facts& facts) {
  return detail::distance_by_best(here, facts, static_cast<const Real*>(nullptr));
}

template <class Real, class Facts>
Real emitted_distance(const BildRule& rule, const PositionNumbers<Real>& here, const Facts& facts) {
  if (!(here.number > Real(0))) return Real(1) - facts.of(here.best)[0];
  const Real bar(rule.bar());
  return detail::distance_by_best(here, facts, &bar);
}

}  // namespace speclab
