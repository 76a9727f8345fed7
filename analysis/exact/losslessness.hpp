// Is a verification rule lossless? One round is followed along every branch, what it leaves open is filled up
// by plain decoding, and the joint distribution of gamma + 1 tokens is compared with that of plain decoding
// alone. If they agree from every context, decoding by rounds has the target's distribution. In exact
// rationals the answer is a proof for the instance at hand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/exact/round_distribution.hpp"

namespace speclab {

/// What one round from one context does, and how its distribution compares.
template <class Real>
struct Losslessness {
  SequenceDistribution<Real> distribution;  ///< of the first gamma + 1 tokens: one round, then plain decoding
  SequenceDistribution<Real> target_distribution;    ///< the same tokens by plain decoding
  Real distance{0};                                  ///< total variation between the two
  std::optional<std::vector<Token>> counterexample;  ///< where they differ most; empty when they agree
  std::vector<Real> accepted;                        ///< accepted[k] = P(exactly k drafted tokens accepted)
  Real expected_accepted{0};
  Real expected_emitted{0};
  Real rejection{0};  ///< P(the round ended in a rejection)
  std::uint64_t branches = 0;

  /// P(a token is accepted at the first position).
  Real acceptance() const { return Real(1) - accepted.front(); }
};

template <class Real, class Target, class Draft, class Rule>
Losslessness<Real> examine(const Target& target, const Draft& draft, const Rule& rule, std::int32_t gamma,
                           std::span<const Token> context) {
  const RoundDistribution<Real> round = round_distribution<Real>(target, draft, rule, gamma, context);
  const auto length = static_cast<std::size_t>(gamma) + 1;
  Losslessness<Real> result;
  result.distribution = grow_distribution<Real>(context, length, [&](std::span<const Token> seen) {
    return seen.size() == context.size() ? round.emitted : plain_distribution<Real>(target, seen, 1, rule);
  });
  result.target_distribution = plain_distribution<Real>(target, context, length, rule);

  const SequenceDistribution<Real> difference =
      distribution_difference(result.distribution, result.target_distribution);
  result.distance = total_variation_of(difference);
  Real largest(0);
  for (const auto& [tokens, gap] : difference) {
    const Real size = gap < Real(0) ? Real(-gap) : gap;
    if (size > largest) {
      largest = size;
      result.counterexample = tokens;
    }
  }
  result.accepted = round.accepted;
  for (std::size_t k = 0; k < round.accepted.size(); ++k) {
    result.expected_accepted += Real(k) * round.accepted[k];
  }
  result.expected_emitted = round.expected_tokens;
  result.rejection = round.rejected;
  result.branches = round.branches;
  return result;
}

}  // namespace speclab
