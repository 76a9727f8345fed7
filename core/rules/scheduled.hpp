// Verification of a scheduled prefix (the prefix scheduler of DSpark, DeepSpec's DSpark_paper.pdf, Algorithm
// 1, for one request): only those drafted tokens are verified that are likely to survive.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/distribution/number.hpp"
#include "core/rules/block.hpp"
#include "core/rules/token.hpp"

namespace speclab {

/// Returns the number of drafted tokens with a survival c_1 ... c_l of at least `bar`; `confidence(i)` is
/// c_{i+1}.
template <class Real, class Confidence>
std::int32_t surviving_prefix(std::int32_t gamma, const Real& bar, const Confidence& confidence) {
  Real survival(1);
  std::int32_t length = 0;
  for (; length < gamma; ++length) {
    survival *= confidence(length);
    if (survival < bar) break;
  }
  return length;
}

/// Verifies the longest prefix of survival >= `survival`, with c_i the largest probability of the row from
/// which the i-th token was drawn. Lossless, because only the tokens before a token decide whether it is
/// verified (AnticipatingFault looks at the token itself). Tokens after the prefix are dropped without being
/// read.
struct ScheduledRule : BonusFromTarget {
  double survival = 0.3;
  bool as_block = false;  ///< true: block verification; false: token verification

  ScheduledRule() = default;
  ScheduledRule(double bar, bool block) : survival(bar), as_block(block) {}
};

template <class Targets, class Drafts, class Random>
Verdict verify(const ScheduledRule& rule, const Targets& targets, const Drafts& drafts, const Token* drafted,
               std::int32_t gamma, Random& random) {
  using Real = std::remove_cvref_t<decltype(targets(0)[0])>;
  const std::int32_t length = surviving_prefix(gamma, from_decimal<Real>(rule.survival), [&](std::int32_t i) {
    const auto draft = drafts(i);
    return Real(draft[argmax(draft)]);
  });
  if (rule.as_block) return verify(BlockRule{}, targets, drafts, drafted, length, random);
  return verify(TokenRule{}, targets, drafts, drafted, length, random);
}

}  // namespace speclab
