// A round of speculative decoding whose work does not grow with the vocabulary, as a program over a random
// source. Each categorical draw reads a prepared row (an alias table: one look-up) or, for rules that read
// only two probabilities, accepts or rejects proposals from such a row. Drafting stops at the first
// rejection, because later drafts are never read. sim/fast is the optimised implementation; with exact rows
// the enumerator proves its distribution.
#pragma once

#include <cassert>
#include <cstdint>
#include <vector>

#include "core/round/round.hpp"
#include "core/rules/pointwise_rules.hpp"
#include "core/rules/position_rules.hpp"

namespace speclab {

/// Draws from norm((p - scale q)+): y ~ p is accepted with (1 - scale q(y)/p(y))+, which takes 1/(1 - beta)
/// proposals on average for scale 1. After `proposals` failures it draws from the residual itself. The
/// distribution is the same for any number of proposals.
template <class Real, PointwiseRule Rule, class Random>
Token draw_replacement(const Rule& rule, BasicRow<Real> target, BasicRow<Real> draft, std::uint16_t slot,
                       std::uint32_t proposals, Random& random) {
  for (std::uint32_t attempt = 0; attempt < proposals; ++attempt) {
    const Draw draw{Use::replace, slot, attempt};
    const Token token = random.categorical(draw, target);
    if (token < 0) return token;
    Draw second = draw;  // BlockRandomSource reads the second word of the same block; an enumeration has none
    if constexpr (requires { random.next_round(); }) second.slot = slot + 0x8000U;
    if (random.bernoulli(second, residual_acceptance(rule, target[token], draft[token]))) return token;
  }
  return categorical_or(random, Draw{Use::replace, slot, proposals}, rule.replacement(target, draft), target);
}

/// Draws from the rule's `replacement` row, for all other rules.
template <class Real, AcceptanceRule Rule, class Random>
Token draw_replacement(const Rule& rule, BasicRow<Real> target, BasicRow<Real> draft, std::uint16_t slot,
                       std::uint32_t, Random& random) {
  return categorical_or(random, Draw{Use::replace, slot}, rule.replacement(target, draft), target);
}

/// Runs one round, and appends the emitted tokens to `context`. With the same answers of the random source it
/// drafts, accepts and emits the same tokens as `speculative_round`, except for the replacement after a
/// rejection, which has the same distribution.
template <class Real, LanguageModel<Real> Target, LanguageModel<Real> Draft, AcceptanceRule Rule,
          class Random>
Round fast_round(const Target& target, const Draft& draft, const Rule& rule, std::int32_t gamma,
                 std::uint32_t proposals, std::vector<Token>& context, Random& random,
                 RoundScratch<Real>& scratch) {
  assert(gamma >= 0);
  scratch.reserve(1, 1);
  Round round{gamma, gamma, 0, 0, invalid_token};
  for (std::uint16_t slot = 0;; ++slot) {
    const BasicRow<Real> target_row = target.next(context, scratch.target_rows[0]);
    if (slot == gamma) {
      round.next = categorical_or(random, Draw{Use::bonus, slot}, rule.bonus(target_row), target_row);
      break;
    }
    const BasicRow<Real> draft_row = draft.next(context, scratch.draft_rows[0]);
    const Token token = random.categorical(Draw{Use::draft, slot}, draft_row);
    if (token < 0) break;
    ++round.examined;
    if (!random.bernoulli(Draw{Use::accept, slot}, rule.acceptance(token, target_row, draft_row))) {
      round.next = draw_replacement(rule, target_row, draft_row, slot, proposals, random);
      break;
    }
    ++round.accepted;
    context.push_back(token);
  }
  if (round.next >= 0) context.push_back(round.next);
  return round;
}

}  // namespace speclab
