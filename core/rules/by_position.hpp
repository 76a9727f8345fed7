// Defines a rule that decides position by position from a few numbers. It is a struct R that derives from
// ByPosition<R> and defines
//     acceptance_probability(p, q)               P(a drafted token of these probabilities is accepted), or
//     acceptance_probability(here, token, p, q)  the same, if it also depends on PositionNumbers `here`
//     numbers(rows)                              the PositionNumbers of a context, from its two rows
//     correction                                 how a rejected token is replaced
//     share(here, p, q)                          for Correction::thinned
// ByPosition derives the members that a round over dense rows calls (core/rules/token.hpp).
// core/fast/position_verification.hpp is the round that reads only single probabilities; sim/fast runs it
// over stored rows and n-grams. A member of R hides the derived one, for instance to give a closed form of
// the acceptance rate.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "core/distribution/divergence.hpp"
#include "core/distribution/row.hpp"

namespace speclab {

/// Returns min(1, p / (scale * q)), with q = 0 and NaN counting as 0.
template <class Real>
SPECLAB_HD Real acceptance_ratio(const Real& p, const Real& q, const Real& scale) {
  const Real bound = scale * q;
  if constexpr (std::is_floating_point_v<Real>) {
    // Branchless: in loops over rows half of the branches would be mispredicted.
    const Real ratio = p / bound;
    const Real capped = ratio < Real(1) ? ratio : Real(1);
    return ((bound > Real(0)) & (p > Real(0))) ? capped : Real(0);
  } else {
    if (!(bound > Real(0)) || !(p > Real(0))) return Real(0);
    return p >= bound ? Real(1) : Real(p / bound);
  }
}

/// The common base of most rules: when every drafted token was accepted, the bonus comes from the target.
struct BonusFromTarget {
  template <class Real>
  SPECLAB_HD BasicRow<Real> bonus(BasicRow<Real> target) const {
    return target;
  }
};

/// How a rejected token is replaced.
enum class Correction : std::uint8_t {
  target,    ///< a token of the target
  another,   ///< a token of the target other than the rejected one (rules that couple, core/rules/match.hpp)
  residual,  ///< a token of norm((p - s q)+), with s from the rule's `residual_scale`, else 1
  thinned,   ///< a token of the target that is kept with probability `share`, or else drawn again
  best       ///< the target's argmax, which is the bonus token, too
};

/// Numbers that a rule computes once per context from the two rows. Those it does not need are 0 or
/// `no_token`.
template <class Real>
struct PositionNumbers {
  Real number{0};
  Token best = no_token;  ///< the target's argmax
  Real other{0};
  Token second = no_token;  ///< a second token that is accepted like `best`
};

/// A token and its probability. In an invalid row the token is below 0 and the probability 0.
template <class Real>
struct LikelyToken {
  Token token = no_token;
  Real probability{0};
};

/// The statistics of a context's two rows that a rule may request, computed by passes over the rows. sim/fast
/// computes most of them for n-grams without a pass (sim/position_program.hpp).
template <class RealNumber>
struct DenseRows {
  using Real = RealNumber;
  BasicRow<Real> target;
  BasicRow<Real> draft;

  /// Returns the target's likeliest token; among equal ones the lowest id.
  SPECLAB_HD LikelyToken<Real> target_best() const { return likeliest(target); }
  SPECLAB_HD LikelyToken<Real> draft_best() const { return likeliest(draft); }
  /// Returns the target's k-th likeliest token, k >= 1; among equal ones the lower id comes first. A row with
  /// fewer tokens has none, of probability 0.
  SPECLAB_HD LikelyToken<Real> target_ranked(std::int32_t k) const {
    LikelyToken<Real> found;
    for (std::int32_t rank = 0; rank < k; ++rank) {
      LikelyToken<Real> next;
      for (Token id = 0; id < target.size; ++id) {
        const bool before = rank > 0 && (target[id] > found.probability ||
                                         (target[id] == found.probability && id <= found.token));
        if (!before && (next.token < 0 || target[id] > next.probability)) next = {id, target[id]};
      }
      found = next;
      if (found.token < 0) break;
    }
    return found;
  }
  SPECLAB_HD Real total_variation() const { return speclab::total_variation(target, draft); }
  /// Returns sum p ln p, in double for any arithmetic.
  double minus_entropy() const {
    return sum([](double p, double) { return p > 0 ? p * std::log(p) : p; });
  }
  /// Returns min q/p over the target's support, at most 1; 0 if a probability is NaN.
  SPECLAB_HD Real smallest_ratio() const {
    Real least(1);
    for (Token id = 0; id < target.size; ++id) {
      if (target[id] > Real(0)) {
        const Real ratio = draft[id] / target[id];
        if (!(ratio >= least)) least = ratio;
      } else if (!(target[id] == Real(0))) {
        return Real(0);
      }
    }
    return least;
  }
  /// Returns the draft's probability of the tokens with p < bar.
  SPECLAB_HD Real draft_below(const Real& bar) const {
    return sum_terms<Real>(0, draft.size, [&](Token id) { return target[id] >= bar ? Real(0) : draft[id]; });
  }
  /// Returns the sum of term(p, q) over all tokens, in double for any arithmetic. sim/fast needs a pass for
  /// this one, too.
  template <class Term>
  double sum(const Term& term) const {
    return sum_terms<double>(0, target.size, [&](Token id) {
      return term(static_cast<double>(target[id]), static_cast<double>(draft[id]));
    });
  }

 private:
  SPECLAB_HD static LikelyToken<Real> likeliest(BasicRow<Real> row) {
    const Token best = argmax(row);
    return {best, best < 0 ? Real(0) : row[best]};
  }
};

template <class Rule>
struct ByPosition;

template <class Class, class Result, class... Arguments>
Class class_of_member(Result (Class::*)(Arguments...) const);

/// A rule that defines `replacement` and `bonus` itself, because no `correction` describes them.
template <class Rule>
concept OwnWeights = requires {
  class_of_member(&Rule::template replacement<double>);
  class_of_member(&Rule::template bonus<double>);
}
&&!(std::same_as<decltype(class_of_member(&Rule::template replacement<double>)), ByPosition<Rule>> &&
    std::same_as<decltype(class_of_member(&Rule::template bonus<double>)), ByPosition<Rule>>);

/// A rule that ByPosition describes. Its `SaidByPosition` is the rule itself, so that a rule derived from it,
/// which may differ anywhere, does not match.
template <class Rule>
concept PositionForm =
    std::same_as<typename Rule::SaidByPosition, Rule> && !OwnWeights<Rule> && requires(const Rule& rule) {
  { rule.correction } -> std::convertible_to<Correction>;
};

template <class Rule>
concept ReadsNumbers = requires(const Rule& rule, const DenseRows<double>& rows) {
  rule.numbers(rows);
};

template <class Rule, class Rows>
SPECLAB_HD PositionNumbers<typename Rows::Real> position_numbers(const Rule& rule, const Rows& rows) {
  if constexpr (ReadsNumbers<Rule>) {
    return rule.numbers(rows);
  } else {
    return {};
  }
}

template <class Rule, class Real>
SPECLAB_HD Real position_acceptance(const Rule& rule, const PositionNumbers<Real>& here, Token token,
                                    const Real& p, const Real& q) {
  if constexpr (requires { rule.acceptance_probability(p, q); }) {
    return rule.acceptance_probability(p, q);
  } else {
    static_assert(ReadsNumbers<Rule>, "a rule that decides from a context's numbers defines numbers(rows)");
    return rule.acceptance_probability(here, token, p, q);
  }
}

/// The row p share(here, p, q), computed when it is read.
template <class Rule, class Real>
struct ThinnedRow {
  using value_type = Real;
  Rule rule;
  PositionNumbers<Real> here;
  BasicRow<Real> target;
  BasicRow<Real> draft;
  std::int32_t size;

  SPECLAB_HD Real operator[](Token id) const { return target[id] * rule.share(here, target[id], draft[id]); }
};

/// Derives the members of an acceptance rule (core/rules/token.hpp) from those of `Rule`.
template <class Rule>
struct ByPosition {
  using SaidByPosition = Rule;

  template <class Real>
  SPECLAB_HD Real acceptance(Token token, BasicRow<Real> target, BasicRow<Real> draft) const {
    return position_acceptance(rule(), position_numbers(rule(), DenseRows<Real>{target, draft}), token,
                               target[token], draft[token]);
  }
  // `Own` is `Rule`, named as a template parameter: clang 14 otherwise checks the constraint while `Rule` is
  // still incomplete, and takes every rule for one that reads no numbers.
  template <class Real, class Own = Rule>
  auto acceptances(BasicRow<Real> target, BasicRow<Real> draft) const requires ReadsNumbers<Own> {
    return [rule = rule(), here = position_numbers(rule(), DenseRows<Real>{target, draft}), target,
            draft](Token token) -> Real {
      return position_acceptance(rule, here, token, target[token], draft[token]);
    };
  }
  template <class Real>
  SPECLAB_HD Real acceptance_rate(BasicRow<Real> target, BasicRow<Real> draft) const {
    const auto here = position_numbers(rule(), DenseRows<Real>{target, draft});
    return sum_terms<Real>(0, draft.size, [&](Token id) {
      return Real(draft[id] * position_acceptance(rule(), here, id, target[id], draft[id]));
    });
  }
  template <class Real>
  SPECLAB_HD auto replacement(BasicRow<Real> target, BasicRow<Real> draft) const {
    if constexpr (Rule::correction == Correction::residual) {
      return ResidualRow<Real>(target, draft, rule().template residual_scale<Real>());
    } else if constexpr (Rule::correction == Correction::thinned) {
      return ThinnedRow<Rule, Real>{rule(), position_numbers(rule(), DenseRows<Real>{target, draft}), target,
                                    draft, target.size};
    } else {
      static_assert(Rule::correction == Correction::target || Rule::correction == Correction::best);
      return ByPosition::bonus(target);
    }
  }
  template <class Real>
  SPECLAB_HD Real residual_scale() const {
    return Real(1);
  }
  template <class Real>
  SPECLAB_HD auto bonus(BasicRow<Real> target) const {
    if constexpr (Rule::correction == Correction::best) {
      return PointRow<Real>{argmax(target), target.size};
    } else {
      return target;
    }
  }

 private:
  SPECLAB_HD const Rule& rule() const { return static_cast<const Rule&>(*this); }
};

}  // namespace speclab
