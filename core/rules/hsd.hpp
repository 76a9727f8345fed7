// Hierarchical speculative decoding (Zhou et al. 2026, "Overcoming joint intractability with lossless
// hierarchical speculative decoding", arXiv 2601.05724), from the authors' repository
// ZhouYuxuanYX/Hierarchical-Speculative-Decoding at b8575e2.
//
// With r_t = prod_{i<=t} p(x_i)/q(x_i), the capped ratio rho_t = r_t / max(1, r_1, ..., r_t), and sums over
// the rows after x_1..x_t, position t < gamma is accepted with
//     sum (rho_t p - q)+ / max(sum (rho_t p - q)+, sum (q - rho_t p)+),
// then norm((rho_t p - q)+) is sampled; the whole block is accepted with min(1, r_gamma). As rho_t = min(1,
// rho_{t-1} p(x_t)/q(x_t)) and rho_t <= 1, the positions below gamma are those of block verification. Its
// last position, however, is accepted with rho_gamma, which is smaller if a prefix had a ratio above 1.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/rules/block.hpp"

namespace speclab {

enum class HsdReading {
  program,    ///< transformers/generation/utils.py, _speculative_sampling
  pseudocode  ///< algorithm.py of the same repository, as written; see below
};

/// Lossy: it accepts more than block verification, which accepts the most of all lossless schemes.
struct HsdRule : BlockRule {
  HsdReading reading = HsdReading::program;

  HsdRule() = default;
  explicit HsdRule(HsdReading text) : reading(text) {}

  template <class Real, class Ratio>
  Real whole_block_acceptance(const Real&, const Ratio& ratio) const {
    const Real uncapped = ratio();
    return uncapped < Real(1) ? uncapped : Real(1);
  }
};

/// Verifies as the authors' pseudocode does, the file algorithm.py of their repository. It sets the capped
/// acceptance probability only inside an `if`, and the probability stays 1 wherever r_t is not above all
/// earlier ratios. So every position below gamma is accepted. After a rejection at the last position it
/// samples the residual (p - Q q)+, with Q = q(x_1) ... q(x_{gamma-1}), or (p - q)+ if r_{gamma-1} is above
/// all earlier ratios.
template <class Targets, class Drafts, class Random>
Verdict verify_as_in_pseudocode(const HsdRule& rule, const Targets& targets, const Drafts& drafts,
                                const Token* drafted, std::int32_t gamma, Random& random) {
  using Real = std::remove_cvref_t<decltype(targets(0)[0])>;
  Real ratio(1);
  Real largest(1);
  Real scale(1);
  bool rises = true;
  for (std::int32_t i = 0; i < gamma; ++i) {
    const Real p = targets(i)[drafted[i]];
    const Real q = drafts(i)[drafted[i]];
    ratio = q > Real(0) ? Real(ratio * p / q) : Real(0);
    if (i + 1 == gamma) break;
    rises = ratio > largest;
    if (rises) largest = ratio;
    scale *= q;
  }
  const auto last = static_cast<std::uint16_t>(gamma > 0 ? gamma - 1 : 0);
  if (gamma == 0 || random.bernoulli(Draw{Use::accept, last}, ratio < Real(1) ? ratio : Real(1)))
    return all_accepted(rule, targets, gamma, random);
  const auto target = targets(gamma - 1);
  const ResidualRow<Real> residual{target, drafts(gamma - 1), rises ? Real(1) : scale};
  return {gamma - 1, gamma, categorical_or(random, Draw{Use::replace, last}, residual, target)};
}

template <class Targets, class Drafts, class Random>
Verdict verify(const HsdRule& rule, const Targets& targets, const Drafts& drafts, const Token* drafted,
               std::int32_t gamma, Random& random) {
  if (rule.reading == HsdReading::pseudocode)
    return verify_as_in_pseudocode(rule, targets, drafts, drafted, gamma, random);
  return verify_block(rule, targets, drafts, drafted, gamma, random);
}

}  // namespace speclab
