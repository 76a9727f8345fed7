// Block verification (Sun et al. 2024, "Block verification accelerates speculative decoding", Algorithm 2).
// The drafted tokens are verified together, so that a token that would be rejected alone can be accepted
// because of later tokens. Lossless; it accepts at least as many tokens as token verification.
#pragma once

#include <algorithm>
#include <cassert>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "core/round/verify.hpp"

namespace speclab {

/// The longest block. Its state lives in registers or on the stack.
inline constexpr std::int32_t max_block = 64;

/// The rule has no acceptance rate of one position, because acceptance depends on the whole block.
struct BlockRule : BonusFromTarget {
  /// Returns h_i from Z_i and p_i. Z_i = 0 at p_i = 1 means target = draft there, where every later
  /// acceptance draw succeeds.
  template <class Real>
  SPECLAB_HD Real block_acceptance_probability(const Real& left_over, const Real& prefix) const {
    const Real below = left_over + Real(1) - prefix;
    return below > Real(0) ? Real(left_over / below) : Real(1);
  }
  /// Returns h_gamma from p_gamma; `ratio()` is the product of all p(x_i)/q(x_i).
  template <class Real, class Ratio>
  SPECLAB_HD Real whole_block_acceptance(const Real& prefix, const Ratio&) const {
    return prefix;
  }
};

/// Verifies a block. With p_0 = 1, p_i = min(1, p_{i-1} p(x_i)/q(x_i)) and Z_i = sum (p_i p - q)+ over the
/// rows after x_1..x_i: h_i = Z_i / (Z_i + 1 - p_i) for i < gamma, h_gamma = p_gamma. The longest prefix
/// whose acceptance draw, of probability h_i, succeeds is accepted; then norm((p_i p - q)+) is sampled (the
/// target if i = gamma). The draws are independent, so the search starts at the longest prefix and stops at
/// the accepted one.
template <class Rule, class Targets, class Drafts, class Random>
SPECLAB_HD Verdict verify_block(const Rule& rule, const Targets& targets, const Drafts& drafts,
                                const Token* drafted, std::int32_t gamma, Random& random) {
  using Real = std::remove_cvref_t<decltype(targets(0)[0])>;
  assert(gamma <= max_block);
  Real prefix[max_block + 1];
  Real acceptance[max_block + 1];
  prefix[0] = Real(1);
  for (std::int32_t i = 0; i < gamma; ++i) {
    const auto target = targets(i);
    const auto draft = drafts(i);
    if (i > 0) {
      const ScaledResidual<Real> residual{target, draft, prefix[i], target.size};
      acceptance[i] = rule.block_acceptance_probability(total_probability(residual), prefix[i]);
    }
    prefix[i + 1] = acceptance_ratio(Real(prefix[i] * target[drafted[i]]), draft[drafted[i]], Real(1));
  }
  acceptance[gamma] = rule.whole_block_acceptance(prefix[gamma], [&] {
    Real ratio(1);
    for (std::int32_t i = 0; i < gamma; ++i) {
      const Token token = drafted[i];
      ratio = drafts(i)[token] > Real(0) ? Real(ratio * targets(i)[token] / drafts(i)[token]) : Real(0);
    }
    return ratio;
  });

  std::int32_t accepted = gamma;
  while (accepted > 0 &&
         !random.bernoulli(Draw{Use::accept, static_cast<std::uint16_t>(accepted - 1)}, acceptance[accepted]))
    --accepted;
  if (accepted == gamma) return all_accepted(rule, targets, gamma, random);
  const auto target = targets(accepted);
  const ScaledResidual<Real> residual{target, drafts(accepted), prefix[accepted], target.size};
  return {accepted, accepted + 1,
          categorical_or(random, Draw{Use::replace, static_cast<std::uint16_t>(accepted)}, residual, target)};
}

template <std::derived_from<BlockRule> Rule, class Targets, class Drafts, class Random>
SPECLAB_HD Verdict verify(const Rule& rule, const Targets& targets, const Drafts& drafts,
                          const Token* drafted, std::int32_t gamma, Random& random) {
  return verify_block(rule, targets, drafts, drafted, gamma, random);
}

/// Computes, given that a round's next tokens are y_1 y_2 ..., the probability that the first k of them were
/// drafted and accepted. With w_0 = 1 and r_k = q(y_k)/p(y_k): P(k accepted | text) = P(k - 1 accepted |
/// text) min(1, r_k / w_{k-1}), and w_k = 1 where r_k <= w_{k-1}, else w_{k-1} / r_k. Checked by enumeration
/// in fractions (tests/analysis/recorded/expected_rounds_test).
struct BlockSurvival {
  double kept = 1;
  double weight = 1;

  void next(double ratio) {
    kept = weight > 0 ? kept * std::min(1.0, ratio / weight) : 0;
    weight = ratio <= weight ? 1 : weight / ratio;
  }
};

}  // namespace speclab
