// The verification program of one round (Leviathan et al. 2023, Algorithm 1, steps 3 and 4), over any rule
// and any random source. This is the definition; faster versions must agree with it and never replace it.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "core/random/random_source.hpp"
#include "core/rules/by_position.hpp"

namespace speclab {

/// The decision of verification about gamma drafted tokens.
struct Verdict {
  std::int32_t accepted;  ///< length of the accepted prefix, 0..gamma
  std::int32_t examined;  ///< tokens that verification reached: accepted, plus the rejected one if any
  Token next;             ///< the correction or bonus token; `invalid_token` if a row it needed holds NaN
};

/// Draws from `weights`, or from `fallback` if they sum to 0. A residual of exactly 0 means target = draft:
/// only rounding can have rejected, and the target is the right distribution. The weights of an invalid row's
/// argmax also sum to 0; the fallback then reports the invalid row.
template <class Random, class Weights, class Fallback>
SPECLAB_HD Token categorical_or(Random& random, Draw draw, const Weights& weights, const Fallback& fallback) {
  const Token token = random.categorical(draw, weights);
  return token == no_token ? random.categorical(draw, fallback) : token;
}

/// Returns the weights that decoding without speculation samples: the target, unless the rule defines others
/// (argmax decoding).
template <class Rule, class Real>
SPECLAB_HD auto plain_weights(const Rule& rule, BasicRow<Real> target) {
  if constexpr (requires { rule.plain(target); }) {
    return rule.plain(target);
  } else {
    return target;
  }
}

/// A rule that draws the emitted token given the drafted one and accepts the draft if both agree
/// (core/rules/match.hpp), instead of making an acceptance draw (core/rules/token.hpp).
template <class Rule, class Real>
concept CouplingRule = requires(const Rule& rule, Token token, BasicRow<Real> row) {
  { rule.coupled(token, row, row)[token] } -> std::convertible_to<Real>;
};

/// Returns the decision to accept all gamma tokens, with the bonus token after them.
template <class Rule, class Targets, class Random>
SPECLAB_HD Verdict all_accepted(const Rule& rule, const Targets& targets, std::int32_t gamma,
                                Random& random) {
  const auto target = targets(gamma);
  const Draw bonus{Use::bonus, static_cast<std::uint16_t>(gamma)};
  return {gamma, gamma, categorical_or(random, bonus, rule.bonus(target), target)};
}

/// Verifies gamma drafted tokens. `targets(i)` gives the target's row after i drafted tokens, for i =
/// 0..gamma; it is called in order and only as far as the verdict needs. `drafts(i)` gives the row that
/// drafted[i] was drawn from, for i < gamma. A rule that neither accepts with a probability nor couples
/// overloads this function (core/rules/block.hpp).
template <class Rule, class Targets, class Drafts, class Random>
SPECLAB_HD Verdict verify(const Rule& rule, const Targets& targets, const Drafts& drafts,
                          const Token* drafted, std::int32_t gamma, Random& random) {
  for (std::int32_t i = 0; i < gamma; ++i) {
    const auto slot = static_cast<std::uint16_t>(i);
    const auto target = targets(i);
    const auto draft = drafts(i);
    using Real = typename std::remove_cvref_t<decltype(target)>::value_type;
    if constexpr (CouplingRule<Rule, Real>) {
      const Token emitted =
          categorical_or(random, Draw{Use::accept, slot}, rule.coupled(drafted[i], target, draft), target);
      if (emitted != drafted[i]) return {i, i + 1, emitted};
    } else {
      if (random.bernoulli(Draw{Use::accept, slot}, rule.acceptance(drafted[i], target, draft))) continue;
      return {i, i + 1,
              categorical_or(random, Draw{Use::replace, slot}, rule.replacement(target, draft), target)};
    }
  }
  return all_accepted(rule, targets, gamma, random);
}

}  // namespace speclab
