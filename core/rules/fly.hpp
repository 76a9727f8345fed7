// FLy (Li et al. 2025, "Training-free loosely speculative decoding", arXiv 2511.22972): a token that is not
// the target's argmax is accepted if the target is unsure there and the next tokens are its argmaxes.
// Decisions, defaults and correction are those of YichiCS/Secure-Speculative-Decoding,
// securesd/verifier/fly.py and methods.py.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/round/verify.hpp"
#include "core/rules/by_position.hpp"

namespace speclab {

/// Rejects a drafted token i of gamma (from 0) that is not the argmax of its row if H(p)/log V < `entropy`,
/// if i + `window` > gamma, or if one of the next `window` tokens is not an argmax either. After the first
/// rejection it samples the target. Lossy. The entropy is computed in double. Host only.
struct FlyRule : BonusFromTarget {
  double entropy = 0.3;
  std::int32_t window = 6;

  FlyRule() = default;
  FlyRule(double least, std::int32_t positions) : entropy(least), window(positions) {}

  template <class Real>
  double normalised_entropy(BasicRow<Real> target) const {
    if (target.size < 2) return 0;
    return -sum_terms<double>(0, target.size, [&](Token id) {
      const auto p = static_cast<double>(target[id]);
      return p > 0 ? p * std::log(p) : p;
    }) / std::log(static_cast<double>(target.size));
  }
};

template <class Targets, class Drafts, class Random>
Verdict verify(const FlyRule& rule, const Targets& targets, const Drafts&, const Token* drafted,
               std::int32_t gamma, Random& random) {
  // The first mismatch at position i or later.
  std::vector<std::int32_t> next_mismatch(static_cast<std::size_t>(gamma) + 1, gamma);
  for (std::int32_t i = gamma; i-- > 0;) {
    const auto at = static_cast<std::size_t>(i);
    next_mismatch[at] = drafted[i] == argmax(targets(i)) ? next_mismatch[at + 1] : i;
  }
  for (std::int32_t i = 0; i < gamma; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (next_mismatch[at] != i) continue;
    const std::int32_t later = next_mismatch[at + 1];
    const bool passes = i + rule.window <= gamma && !(later < gamma && later <= i + rule.window) &&
                        rule.normalised_entropy(targets(i)) >= rule.entropy;
    if (passes) continue;
    const auto target = targets(i);
    return {i, i + 1,
            categorical_or(random, Draw{Use::replace, static_cast<std::uint16_t>(i)}, target, target)};
  }
  return all_accepted(rule, targets, gamma, random);
}

}  // namespace speclab
