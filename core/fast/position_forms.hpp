// Rules that decide position by position by few numbers of a context: a threshold, the target's likeliest
// token. The rows themselves are only drawn from.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <variant>

#include "core/distribution/number.hpp"
#include "core/rules/cascade.hpp"
#include "core/rules/deferral.hpp"
#include "core/rules/ensemble.hpp"
#include "core/rules/fuzzy.hpp"
#include "core/rules/greedy.hpp"
#include "core/rules/lenience.hpp"
#include "core/rules/margin.hpp"
#include "core/rules/match.hpp"
#include "core/rules/rejection.hpp"
#include "core/rules/token.hpp"
#include "core/rules/tolerant.hpp"
#include "core/rules/typical.hpp"

namespace speclab {

/// What such a rule needs of a context; what it does not need is 0 or `no_token`.
template <class Real>
struct PositionNumbers {
  Real number{0};
  Token best = no_token;  ///< the target's argmax
  Real other{0};
  Token second = no_token;  ///< accepted as well as `best`
};

/// How a rejected token is replaced.
enum class Correction : std::uint8_t {
  target,    ///< by a token of the target
  another,   ///< by one of the target that is not the rejected one
  residual,  ///< by one of norm((p - s q)+), with s of `residual_scale`
  thinned,   ///< by one of the target that is kept with probability `position_share`, else drawn again
  best       ///< by the target's argmax, which is the bonus token, too
};

// By rule: how it replaces; its numbers from whole rows; P(a drafted token of these probabilities is
// accepted).

/// TokenRule, LenienceRule and EnsembleRule: two probabilities say all.
template <class Rule>
concept JudgedByProbabilities = requires(const Rule& rule, double m) {
  rule.acceptance_probability(m, m);
};
template <JudgedByProbabilities Rule>
constexpr Correction correction_of(const Rule&) {
  return Correction::residual;
}
template <class Real, JudgedByProbabilities Rule>
PositionNumbers<Real> position_numbers(const Rule&, BasicRow<Real>, BasicRow<Real>) {
  return {};
}
template <class Real, JudgedByProbabilities Rule>
Real position_acceptance(const Rule& rule, const PositionNumbers<Real>&, Token, const Real& p,
                         const Real& q) {
  return rule.acceptance_probability(p, q);
}

constexpr Correction correction_of(const MatchRule&) { return Correction::another; }
template <class Real>
PositionNumbers<Real> position_numbers(const MatchRule&, BasicRow<Real>, BasicRow<Real>) {
  return {};
}
/// P(a token drawn from the target is the drafted one); otherwise it is another.
template <class Real>
Real position_acceptance(const MatchRule&, const PositionNumbers<Real>&, Token, const Real& p, const Real&) {
  return p;
}

constexpr Correction correction_of(const RejectionRule&) { return Correction::target; }
template <class Real>
PositionNumbers<Real> position_numbers(const RejectionRule& rule, BasicRow<Real> target,
                                       BasicRow<Real> draft) {
  return {rule.acceptance_rate(target, draft)};
}
template <class Real>
Real position_acceptance(const RejectionRule&, const PositionNumbers<Real>& here, Token, const Real& p,
                         const Real& q) {
  return q > Real(0) ? Real(here.number * p / q) : Real(0);
}

constexpr Correction correction_of(const TypicalRule&) { return Correction::target; }
template <class Real>
PositionNumbers<Real> position_numbers(const TypicalRule& rule, BasicRow<Real> target, BasicRow<Real>) {
  return {Real(rule.threshold(target))};
}
template <class Real>
Real position_acceptance(const TypicalRule&, const PositionNumbers<Real>& here, Token, const Real& p,
                         const Real&) {
  return static_cast<double>(p) > static_cast<double>(here.number) ? Real(1) : Real(0);
}

constexpr Correction correction_of(const FuzzyRule&) { return Correction::target; }
/// Whether the rows are near.
template <class Real>
PositionNumbers<Real> position_numbers(const FuzzyRule& rule, BasicRow<Real> target, BasicRow<Real> draft) {
  return {rule.near(target, draft) ? Real(1) : Real(0)};
}
template <class Real>
Real position_acceptance(const FuzzyRule&, const PositionNumbers<Real>& here, Token, const Real&,
                         const Real& q) {
  return q > Real(0) ? here.number : Real(0);
}

constexpr Correction correction_of(const TolerantRule&) { return Correction::residual; }
template <class Real>
PositionNumbers<Real> position_numbers(const TolerantRule& rule, BasicRow<Real> target, BasicRow<Real>) {
  return {rule.addend(target)};
}
template <class Real>
Real position_acceptance(const TolerantRule&, const PositionNumbers<Real>& here, Token, const Real& p,
                         const Real& q) {
  return acceptance_ratio(Real(p + here.number * q), q, Real(1));
}

constexpr Correction correction_of(const DeferralRule&) { return Correction::residual; }
/// Whether it defers to the target.
template <class Real>
PositionNumbers<Real> position_numbers(const DeferralRule& rule, BasicRow<Real> target,
                                       BasicRow<Real> draft) {
  return {rule.defers(target, draft) ? Real(1) : Real(0)};
}
template <class Real>
Real position_acceptance(const DeferralRule&, const PositionNumbers<Real>& here, Token, const Real& p,
                         const Real& q) {
  return acceptance_ratio(here.number > Real(0) ? p : q, q, Real(1));
}

constexpr Correction correction_of(const CascadeRule&) { return Correction::thinned; }
/// The bar of tokens that are always accepted, and the draft's probability of the others.
template <class Real>
PositionNumbers<Real> position_numbers(const CascadeRule& rule, BasicRow<Real> target, BasicRow<Real> draft) {
  const CascadeDistribution<Real> wanted(target, draft, from_decimal<Real>(rule.slack));
  return {wanted.bar, no_token, wanted.eta};
}
template <class Real>
Real position_acceptance(const CascadeRule&, const PositionNumbers<Real>& here, Token, const Real& p,
                         const Real& q) {
  const Real deferred = here.other * p;
  return acceptance_ratio(p >= here.number ? Real(q + deferred) : deferred, q, Real(1));
}
/// The residual over eta p.
template <class Real>
Real position_share(const CascadeRule&, const PositionNumbers<Real>& here, const Real& p, const Real& q) {
  if (p >= here.number) return Real(1);
  const Real deferred = here.other * p;
  return deferred > q ? Real((deferred - q) / deferred) : Real(0);
}

constexpr Correction correction_of(const GreedyRule&) { return Correction::best; }
template <class Real>
PositionNumbers<Real> position_numbers(const GreedyRule&, BasicRow<Real> target, BasicRow<Real>) {
  return {Real(0), argmax(target)};
}
template <class Real>
Real position_acceptance(const GreedyRule&, const PositionNumbers<Real>& here, Token token, const Real&,
                         const Real&) {
  return token == here.best ? Real(1) : Real(0);
}

constexpr Correction correction_of(const GreedyLenienceRule&) { return Correction::best; }
template <class Real>
PositionNumbers<Real> position_numbers(const GreedyLenienceRule& rule, BasicRow<Real> target,
                                       BasicRow<Real>) {
  const Token best = argmax(target);
  return {best < 0 ? Real(0) : Real(from_decimal<Real>(rule.lenience) * target[best]), best};
}
template <class Real>
Real position_acceptance(const GreedyLenienceRule&, const PositionNumbers<Real>& here, Token, const Real& p,
                         const Real&) {
  return here.best >= 0 && p >= here.number ? Real(1) : Real(0);
}

constexpr Correction correction_of(const MarsRule&) { return Correction::best; }
template <class Real>
PositionNumbers<Real> position_numbers(const MarsRule& rule, BasicRow<Real> target, BasicRow<Real>) {
  const auto [best, second] = rule.accepted(target);
  return {Real(0), best, Real(0), second};
}
template <class Real>
Real position_acceptance(const MarsRule&, const PositionNumbers<Real>& here, Token token, const Real&,
                         const Real&) {
  return token == here.best || token == here.second ? Real(1) : Real(0);
}

constexpr Correction correction_of(const BildRule&) { return Correction::best; }
/// Whether the draft is sure enough.
template <class Real>
PositionNumbers<Real> position_numbers(const BildRule& rule, BasicRow<Real> target, BasicRow<Real> draft) {
  return {rule.drafts(draft) ? Real(1) : Real(0), argmax(target)};
}
template <class Real>
Real position_acceptance(const BildRule& rule, const PositionNumbers<Real>& here, Token token, const Real& p,
                         const Real&) {
  const bool kept = here.best >= 0 && (token == here.best || static_cast<double>(p) >= rule.bar());
  return kept ? here.number : Real(0);
}

/// Any of them. What derives from one is none: it may differ anywhere.
using PositionForms =
    std::variant<TokenRule, LenienceRule, MatchRule, RejectionRule, TypicalRule, FuzzyRule, EnsembleRule,
                 TolerantRule, DeferralRule, CascadeRule, GreedyRule, GreedyLenienceRule, MarsRule, BildRule>;

template <class Real>
PositionNumbers<Real> position_numbers(const PositionForms& rule, BasicRow<Real> target,
                                       BasicRow<Real> draft) {
  return std::visit([&](const auto& one) { return position_numbers(one, target, draft); }, rule);
}
/// Whether its numbers are those of a context.
inline bool reads_rows(const PositionForms& rule) {
  return std::visit(
      []<class Rule>(const Rule&) { return !JudgedByProbabilities<Rule> && !std::same_as<Rule, MatchRule>; },
      rule);
}
template <class Real>
Real residual_scale(const PositionForms& rule) {
  const auto* lenience = std::get_if<LenienceRule>(&rule);
  return lenience != nullptr ? lenience->residual_scale<Real>() : Real(1);
}

template <class Rule, class Forms>
inline constexpr bool is_alternative = false;
template <class Rule, class... Rules>
inline constexpr bool is_alternative<Rule, std::variant<Rules...>> = (std::same_as<Rule, Rules> || ...);

template <class Rule>
concept PositionForm = std::same_as<Rule, PositionForms> || is_alternative<Rule, PositionForms>;

}  // namespace speclab
