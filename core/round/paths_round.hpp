// A round with several drafted continuations: k i.i.d. paths of gamma tokens, verified position by position
// by a rule for k drafts (core/rules/recursive.hpp). Paths that begin with the accepted tokens stay in play;
// given those tokens, what they hold next is again i.i.d. from the draft. Host only.
#pragma once

#include <cassert>
#include <concepts>
#include <cstddef>
#include <span>
#include <vector>

#include "core/round/round.hpp"
#include "core/rules/recursive.hpp"

namespace speclab {

template <class Rule>
concept PathsRule = requires(const Rule& rule, std::span<const Token> candidates, BasicRow<double> row,
                             SampledRandomSource& random) {
  { rule.paths } -> std::convertible_to<std::int32_t>;
  { rule.choose(candidates, row, row, std::uint16_t{}, random) } -> std::same_as<Choice>;
};

/// As for one draft. Rows of path k at position i are number k * gamma + i; draws have the same numbers as
/// slots, so rule.paths * gamma < 65536 (asserted).
template <class Real, LanguageModel<Real> Target, LanguageModel<Real> Draft, PathsRule Rule,
          RandomSourceOver<BasicRow<Real>> Random, class Watch>
Round speculative_round(const Target& target, const Draft& draft, const Rule& rule, std::int32_t gamma,
                        std::vector<Token>& context, Random& random, RoundScratch<Real>& scratch,
                        const Watch& watch) {
  assert(gamma >= 0 && rule.paths >= 1 && rule.paths * gamma < 65536);
  const std::size_t start = context.size();
  const auto length = static_cast<std::size_t>(gamma);
  const auto count = static_cast<std::size_t>(rule.paths);
  scratch.reserve(count * length, 1);
  scratch.tokens.resize(count * length);
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t at = k * length; at < (k + 1) * length; ++at) {
      const bool first = at == k * length;  // all paths begin in one context, whose row is computed once
      scratch.drafts[at] = first && k > 0 ? scratch.drafts[0] : draft.next(context, scratch.draft_rows[at]);
      const Token token =
          random.categorical(Draw{Use::draft, static_cast<std::uint16_t>(at)}, scratch.drafts[at]);
      if (token < 0) return cut(context, start), Round{};
      scratch.tokens[at] = token;
      context.push_back(token);
    }
    cut(context, start);
  }

  Round round{rule.paths * gamma, gamma, 0, 0, invalid_token};
  std::vector<std::size_t> alive(count);
  for (std::size_t k = 0; k < count; ++k) alive[k] = k * length;
  std::vector<Token> candidates;
  for (std::size_t i = 0; i < length; ++i) {
    candidates.clear();
    for (const std::size_t path : alive) candidates.push_back(scratch.tokens[path + i]);
    const BasicRow<Real> target_row = target.next(context, scratch.target_rows[0]);
    const BasicRow<Real> draft_row = scratch.drafts[alive.front() + i];
    const Choice choice = rule.choose(std::span<const Token>(candidates), target_row, draft_row,
                                      static_cast<std::uint16_t>(i * count), random);
    watch(std::span<const Token>(context), target_row, &draft_row);
    ++round.examined;
    if (!choice.accepted) {
      round.next = choice.token;
      if (choice.token >= 0) context.push_back(choice.token);
      return round;
    }
    ++round.accepted;
    context.push_back(choice.token);
    std::erase_if(alive, [&](std::size_t path) { return scratch.tokens[path + i] != choice.token; });
  }
  const BasicRow<Real> last = target.next(context, scratch.target_rows[0]);
  round.next =
      categorical_or(random, Draw{Use::bonus, static_cast<std::uint16_t>(gamma)}, rule.bonus(last), last);
  watch(std::span<const Token>(context), last, static_cast<const BasicRow<Real>*>(nullptr));
  if (round.next >= 0) context.push_back(round.next);
  return round;
}

}  // namespace speclab
