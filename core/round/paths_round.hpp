// A round with several drafted continuations: k i.i.d. paths of gamma tokens, verified position by position
// by a rule for k drafts (core/rules/recursive.hpp). Paths that begin with the accepted tokens remain
// candidates; given those tokens, their next tokens are again i.i.d. from the draft. Alternatively a rule
// selects one path, which is verified as a block (core/rules/gbv.hpp). Host only.
#pragma once

#include <cassert>
#include <concepts>
#include <cstddef>
#include <span>
#include <vector>

#include "core/distribution/owned_row.hpp"
#include "core/round/round.hpp"
#include "core/rules/block.hpp"
#include "core/rules/recursive.hpp"

namespace speclab {

template <class Rule>
concept CandidatesRule = requires(const Rule& rule, std::span<const Token> candidates, BasicRow<double> row,
                                  SampledRandomSource& random) {
  { rule.choose(candidates, row, row, std::uint16_t{}, random) } -> std::same_as<Choice>;
};

template <class Rule>
concept SelectingRule = requires(const Rule& rule, std::span<const Token> candidates, BasicRow<double> row) {
  rule.template selection<double>().step(candidates, row, row);
};

template <class Rule>
concept PathsRule = (CandidatesRule<Rule> || SelectingRule<Rule>)&&requires(const Rule& rule) {
  { rule.paths } -> std::convertible_to<std::int32_t>;
};

namespace detail {

inline std::vector<std::size_t> first_tokens_of_paths(std::int32_t paths, std::size_t length) {
  std::vector<std::size_t> first(static_cast<std::size_t>(paths));
  for (std::size_t k = 0; k < first.size(); ++k) first[k] = k * length;
  return first;
}

/// Follows the path that the rule selects, and applies block verification to it. Its draft rows are the
/// distributions from which the selection drew the path's tokens.
template <class Real, class Target, class Rule, class Random, class Watch>
Round selected_path_round(const Target& target, const Rule& rule, std::int32_t gamma,
                          std::vector<Token>& context, Random& random, RoundScratch<Real>& scratch,
                          const Watch& watch) {
  const std::size_t start = context.size();
  const auto length = static_cast<std::size_t>(gamma);
  scratch.reserve(0, length + 1);
  std::vector<std::size_t> alive = first_tokens_of_paths(rule.paths, length);
  auto selection = rule.template selection<Real>();
  std::vector<OwnedRow<Real>> drawn_from;
  std::vector<BasicRow<Real>> drafts;
  std::vector<Token> candidates;
  for (std::size_t i = 0; i < length; ++i) {
    candidates.clear();
    for (const std::size_t path : alive) candidates.push_back(scratch.tokens[path + i]);
    scratch.targets[i] = target.next(context, scratch.target_rows[i]);
    drafts.push_back(scratch.drafts[alive.front() + i]);
    auto step = selection.step(std::span<const Token>(candidates), scratch.targets[i], drafts.back());
    drawn_from.push_back(std::move(step.distribution));
    context.push_back(step.token);
    std::erase_if(alive, [&](std::size_t path) { return scratch.tokens[path + i] != step.token; });
  }
  scratch.targets[length] = target.next(context, scratch.target_rows[length]);
  const std::vector<Token> selected(context.begin() + static_cast<std::ptrdiff_t>(start), context.end());
  const Verdict verdict = verify_block(
      BlockRule{}, [&](std::int32_t i) { return scratch.targets[static_cast<std::size_t>(i)]; },
      [&](std::int32_t i) { return drawn_from[static_cast<std::size_t>(i)].view(); }, selected.data(), gamma,
      random);
  for (std::int32_t i = 0; i <= verdict.accepted; ++i) {
    const auto at = static_cast<std::size_t>(i);
    watch(std::span<const Token>(context).first(start + at), scratch.targets[at],
          i < gamma ? &drafts[at] : nullptr);
  }
  cut(context, start + static_cast<std::size_t>(verdict.accepted));
  if (verdict.next >= 0) context.push_back(verdict.next);
  return {rule.paths * gamma, gamma, verdict.examined, verdict.accepted, verdict.next};
}

template <class Real, class Target, class Rule, class Random, class Watch>
Round walked_round(const Target& target, const Rule& rule, std::int32_t gamma, std::vector<Token>& context,
                   Random& random, RoundScratch<Real>& scratch, const Watch& watch) {
  const auto length = static_cast<std::size_t>(gamma);
  Round round{rule.paths * gamma, gamma, 0, 0, invalid_token};
  std::vector<std::size_t> alive = first_tokens_of_paths(rule.paths, length);
  std::vector<Token> candidates;
  for (std::size_t i = 0; i < length; ++i) {
    candidates.clear();
    for (const std::size_t path : alive) candidates.push_back(scratch.tokens[path + i]);
    const BasicRow<Real> target_row = target.next(context, scratch.target_rows[0]);
    const BasicRow<Real> draft_row = scratch.drafts[alive.front() + i];
    const auto slot = static_cast<std::uint16_t>(i * static_cast<std::size_t>(rule.paths));
    const Choice choice =
        rule.choose(std::span<const Token>(candidates), target_row, draft_row, slot, random);
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

}  // namespace detail

/// Runs one round of k paths; arguments and result are those of a round with one draft. Rows of path k at
/// position i have number k * gamma + i, and draws have the same numbers as slots, so rule.paths * gamma <
/// 65536 (asserted).
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
      const bool first = at == k * length;  // all paths begin in one context, so its row is computed once
      scratch.drafts[at] = first && k > 0 ? scratch.drafts[0] : draft.next(context, scratch.draft_rows[at]);
      const Draw draw{Use::draft, static_cast<std::uint16_t>(at)};
      const Token token = [&] {
        // A planted fault draws from other rows than it verifies with.
        if constexpr (requires { rule.drawn_from(scratch.drafts[at]); }) {
          return random.categorical(draw, rule.drawn_from(scratch.drafts[at]));
        } else {
          return random.categorical(draw, scratch.drafts[at]);
        }
      }();
      if (token < 0) return cut(context, start), Round{};
      scratch.tokens[at] = token;
      context.push_back(token);
    }
    cut(context, start);
  }

  if constexpr (SelectingRule<Rule>) {
    return detail::selected_path_round(target, rule, gamma, context, random, scratch, watch);
  } else {
    return detail::walked_round(target, rule, gamma, context, random, scratch, watch);
  }
}

}  // namespace speclab
