// Goes on after another token than the drafted one, as ztxz16/fastllm#728 describes in its comment of 12
// September 2026 ("S3"): one target run has rows for the drafted text only, so later tokens are drawn as if
// the drafted token had been emitted.
#pragma once

#include <cstdint>

#include "core/round/verify.hpp"
#include "core/rules/by_position.hpp"

namespace speclab {

/// Draws y from the target's row after the drafted text. If y is the drafted token or one of the draft's
/// `top_k` likeliest, y is emitted and the round goes on; else y ends it. Lossy where rows depend on the
/// text. Host only.
struct SubstituteRule : BonusFromTarget {
  static constexpr bool substitutes = true;  ///< a round goes on after tokens that were not drafted
  std::int32_t top_k = 20;

  SubstituteRule() = default;
  explicit SubstituteRule(std::int32_t candidates) : top_k(candidates) {}
};

/// Writes the emitted tokens in place of the drafted ones.
template <class Targets, class Drafts, class Random>
Verdict verify(const SubstituteRule& rule, const Targets& targets, const Drafts& drafts, Token* drafted,
               std::int32_t gamma, Random& random) {
  const auto last = targets(gamma);  // all rows are computed before a token is replaced
  for (std::int32_t i = 0; i < gamma; ++i) {
    const auto target = targets(i);
    const auto draft = drafts(i);
    const Token token = random.categorical(Draw{Use::accept, static_cast<std::uint16_t>(i)}, target);
    if (token < 0) return {i, i + 1, token};
    std::int32_t before = 0;  // tokens that the draft ranks before it
    for (Token id = 0; id < draft.size; ++id)
      before += draft[id] > draft[token] || (draft[id] == draft[token] && id < token) ? 1 : 0;
    if (token != drafted[i] && before >= rule.top_k) return {i, i + 1, token};
    drafted[i] = token;
  }
  return {gamma, gamma,
          categorical_or(random, Draw{Use::bonus, static_cast<std::uint16_t>(gamma)}, last, last)};
}

}  // namespace speclab
