// Rules that decide position by position by few numbers of a context: a threshold, the target's likeliest
// token. The row itself is only drawn from.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "core/distribution/number.hpp"
#include "core/fast/drafted_nodes.hpp"
#include "core/rules/greedy.hpp"
#include "core/rules/lenience.hpp"
#include "core/rules/match.hpp"
#include "core/rules/rejection.hpp"
#include "core/rules/token.hpp"
#include "core/rules/typical.hpp"

namespace speclab {

/// What such a rule needs of a context; what it does not need is 0 or `no_token`.
template <class Real>
struct PositionNumbers {
  Real number{0};
  Token best = no_token;  ///< the target's argmax
};

// By rule: its numbers from whole rows, and P(a drafted token of these probabilities is accepted).

template <class Real>
PositionNumbers<Real> position_numbers(const TypicalRule& rule, BasicRow<Real> target, BasicRow<Real>) {
  return {Real(rule.threshold(target))};
}
template <class Real>
Real position_acceptance(const TypicalRule&, const PositionNumbers<Real>& here, Token, const Real& p,
                         const Real&) {
  return static_cast<double>(p) > static_cast<double>(here.number) ? Real(1) : Real(0);
}

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

template <class Real>
PositionNumbers<Real> position_numbers(const MatchRule&, BasicRow<Real>, BasicRow<Real>) {
  return {};
}
/// P(a token drawn from the target is the drafted one); otherwise it is another.
template <class Real>
Real position_acceptance(const MatchRule&, const PositionNumbers<Real>&, Token, const Real& p, const Real&) {
  return p;
}

template <class Real>
PositionNumbers<Real> position_numbers(const GreedyRule&, BasicRow<Real> target, BasicRow<Real>) {
  return {Real(0), argmax(target)};
}
template <class Real>
Real position_acceptance(const GreedyRule&, const PositionNumbers<Real>& here, Token token, const Real&,
                         const Real&) {
  return token == here.best ? Real(1) : Real(0);
}

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

template <class Real>
PositionNumbers<Real> position_numbers(const TokenRule&, BasicRow<Real>, BasicRow<Real>) {
  return {};
}
template <class Real>
Real position_acceptance(const TokenRule& rule, const PositionNumbers<Real>&, Token, const Real& p,
                         const Real& q) {
  return rule.acceptance_probability(p, q);
}

template <class Rule>
concept PositionForm =
    std::same_as<Rule, TokenRule> || std::same_as<Rule, TypicalRule> || std::same_as<Rule, RejectionRule> ||
    std::same_as<Rule, MatchRule> || std::same_as<Rule, GreedyRule> || std::same_as<Rule, GreedyLenienceRule>;

template <class Real, PositionForm Rule>
class PositionVerification {
 public:
  using Numbers = std::function<PositionNumbers<Real>(std::int32_t node)>;

  PositionVerification(const Rule& rule, Numbers numbers) : rule_(rule), numbers_(std::move(numbers)) {}

  void begin(const DraftedNodes<Real>& drafted) {
    drafted_ = drafted;
    gamma_ = drafted.shape->size();
    at_ = 0;
  }

  template <class Accept>
  Wants advance(const Accept& accept) {
    for (; at_ < gamma_; ++at_) {
      if (drafted_.undrafted(at_)) return Wants::drafts;
      if (!accept(at_, acceptance(at_ - 1, drafted_.tokens[at_], drafted_.target[at_], drafted_.draft[at_])))
        break;
    }
    return Wants::nothing;
  }
  void wanted_drafts(std::vector<std::int32_t>& nodes) const { nodes.push_back(at_); }
  /// It never waits for totals.
  WantedTotal<Real> wanted_total() const { return {at_ - 1, Real(1)}; }
  void answer(const Real&) {}
  RoundEnd<Real> end() const {
    const bool all = at_ == gamma_;
    RoundEnd<Real> end{at_ - 1, at_, all ? at_ : at_ + 1, all ? Use::bonus : Use::replace};
    if constexpr (std::same_as<Rule, TokenRule>) {
      if (!all) end.scale = Real(1);
    }
    if constexpr (std::same_as<Rule, MatchRule>) {
      if (!all) end.excluded = drafted_.tokens[at_];
    }
    if constexpr (std::same_as<Rule, GreedyRule> || std::same_as<Rule, GreedyLenienceRule>) {
      end.emitted = numbers_(at_ - 1).best;
    }
    return end;
  }

  /// Of a token drafted after `node`.
  Real acceptance(std::int32_t node, Token token, const Real& p, const Real& q) const {
    return position_acceptance(rule_, numbers_(node), token, p, q);
  }

 private:
  Rule rule_;
  Numbers numbers_;
  DraftedNodes<Real> drafted_{};
  std::int32_t gamma_ = 0;
  std::int32_t at_ = 0;
};

}  // namespace speclab
