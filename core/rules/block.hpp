// Block verification (Sun et al. 2024, "Block verification accelerates speculative decoding", Algorithm 2):
// the drafted tokens are judged together, so that a token which alone would be rejected can be kept for what
// follows it. Lossless, and never fewer tokens than token verification.
#pragma once

#include <cassert>
#include <cstdint>
#include <type_traits>

#include "core/round/verify.hpp"

namespace speclab {

/// Longest block; its state lives in registers or on the stack.
inline constexpr std::int32_t max_block = 64;

/// The rule. It has no acceptance rate of one position: what is kept depends on the whole block.
struct BlockRule : BonusFromTarget {
  /// h_i from Z_i and p_i. Z_i = 0 at p_i = 1 means target = draft there, where every later coin comes up.
  template <class Real>
  SPECLAB_HD Real keep_probability(const Real& left_over, const Real& prefix) const {
    const Real below = left_over + Real(1) - prefix;
    return below > Real(0) ? Real(left_over / below) : Real(1);
  }
};

/// With p_0 = 1, p_i = min(1, p_{i-1} p(x_i)/q(x_i)) and Z_i = sum (p_i p - q)+ over the rows after x_1..x_i:
/// h_i = Z_i / (Z_i + 1 - p_i) for i < gamma, h_gamma = p_gamma. The longest prefix whose coin of probability
/// h_i comes up is kept, then norm((p_i p - q)+) is sampled (the target when i = gamma). The coins are
/// independent, so the longest is found from the end, and the shorter ones are not flipped.
template <class Rule, class Targets, class Drafts, class Chance>
SPECLAB_HD Verdict verify_block(const Rule& rule, const Targets& targets, const Drafts& drafts,
                                const Token* drafted, std::int32_t gamma, Chance& chance) {
  using Real = std::remove_cvref_t<decltype(targets(0)[0])>;
  assert(gamma <= max_block);
  Real prefix[max_block + 1];
  Real keep[max_block + 1];
  prefix[0] = Real(1);
  for (std::int32_t i = 0; i < gamma; ++i) {
    const auto target = targets(i);
    const auto draft = drafts(i);
    if (i > 0) {
      const ScaledResidual<Real> residual{target, draft, prefix[i], target.size};
      keep[i] = rule.keep_probability(total_mass(residual), prefix[i]);
    }
    prefix[i + 1] = acceptance_ratio(Real(prefix[i] * target[drafted[i]]), draft[drafted[i]], Real(1));
  }
  keep[gamma] = prefix[gamma];

  std::int32_t kept = gamma;
  while (kept > 0 && !chance.flip(Draw{Use::accept, static_cast<std::uint16_t>(kept - 1)}, keep[kept]))
    --kept;
  const auto target = targets(kept);
  if (kept == gamma) {
    return {gamma, gamma,
            pick_or(chance, Draw{Use::bonus, static_cast<std::uint16_t>(gamma)}, rule.bonus(target), target)};
  }
  const ScaledResidual<Real> residual{target, drafts(kept), prefix[kept], target.size};
  return {kept, kept + 1,
          pick_or(chance, Draw{Use::replace, static_cast<std::uint16_t>(kept)}, residual, target)};
}

template <class Targets, class Drafts, class Chance>
SPECLAB_HD Verdict verify(const BlockRule& rule, const Targets& targets, const Drafts& drafts,
                          const Token* drafted, std::int32_t gamma, Chance& chance) {
  return verify_block(rule, targets, drafts, drafted, gamma, chance);
}

}  // namespace speclab
