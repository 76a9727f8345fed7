// Defines rules that decide position by position, so that one context determines everything that they emit
// there.
#pragma once

#include <concepts>
#include <cstddef>
#include <vector>

#include "core/round/verify.hpp"

namespace speclab {

/// A rule that accepts a drafted token with some probability, or else replaces it.
template <class Rule>
concept AcceptanceRule = requires(const Rule& rule, Row row, Token token) {
  { rule.acceptance(token, row, row) } -> std::convertible_to<double>;
  { rule.replacement(row, row)[token] } -> std::convertible_to<double>;
};

/// Rules that decide about one draft, position by position. Others, such as block verification, read more
/// than one context.
template <class Rule>
concept PositionRule = CouplingRule<Rule, double> || AcceptanceRule<Rule>;

/// A rule that its acceptance members describe completely: drafted tokens come from the draft's rows, and
/// every decision has its own random number. Its `SaidByPosition` is the rule itself, so that a rule derived
/// from it, which may draft or verify otherwise, does not match.
template <class Rule>
concept RuleSaidByPosition = AcceptanceRule<Rule> && std::same_as<typename Rule::SaidByPosition, Rule>;

/// Returns the acceptance probabilities of one context, callable with a token.
template <AcceptanceRule Rule, class Real>
auto acceptances_of(const Rule& rule, BasicRow<Real> target, BasicRow<Real> draft) {
  if constexpr (requires { rule.acceptances(target, draft); }) {
    return rule.acceptances(target, draft);
  } else {
    return [&rule, target, draft](Token token) { return rule.acceptance(token, target, draft); };
  }
}

/// All that a RuleSaidByPosition does in one context, by token.
struct PositionWeights {
  std::vector<double> acceptance;   ///< acceptance probability of each drafted token
  std::vector<double> replacement;  ///< weights of the token emitted at a rejection
  std::vector<double> bonus;        ///< weights of the token emitted when every drafted token was accepted
};

template <AcceptanceRule Rule>
void fill_position_weights(const Rule& rule, Row target, Row draft, PositionWeights& weights) {
  const auto size = static_cast<std::size_t>(target.size);
  weights.acceptance.resize(size);
  weights.replacement.resize(size);
  weights.bonus.resize(size);
  const auto acceptance = acceptances_of(rule, target, draft);
  const auto replacement = rule.replacement(target, draft);
  const auto bonus = rule.bonus(target);
  // If all replacement weights are 0 the target replaces them, as in `categorical_or`.
  const bool some = total_probability(replacement) > 0;
  for (std::size_t i = 0; i < size; ++i) {
    const auto id = static_cast<Token>(i);
    weights.acceptance[i] = acceptance(id);
    weights.replacement[i] = some ? replacement[id] : target[id];
    weights.bonus[i] = bonus[id];
  }
}

}  // namespace speclab
