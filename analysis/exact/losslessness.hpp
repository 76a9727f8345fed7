// Examines whether a verification rule is lossless. It follows one round along every branch, completes it
// with tokens of the target, and compares the joint distribution of the first gamma + 1 tokens with the
// target's. If they agree from every context, decoding by rounds has the target's distribution. In exact
// rationals the result is a proof for this instance.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "analysis/exact/enumerable_rule.hpp"
#include "analysis/exact/model_ref.hpp"
#include "analysis/exact/round_distribution.hpp"

namespace speclab {

/// Tolerance for comparing distributions of doubles: rounding of sums over at most millions of branches.
inline constexpr double enumeration_rounding = 1e-10;

/// The outcome of one round from one context, and the comparison of its distribution.
template <class Real>
struct Losslessness {
  SequenceDistribution<Real>
      distribution;  ///< of the first gamma + 1 tokens: one round, then the target alone
  SequenceDistribution<Real> target_distribution;    ///< the same tokens from the target alone
  Real distance{0};                                  ///< total variation between the two
  std::optional<std::vector<Token>> counterexample;  ///< tokens where they differ most; empty if they agree
  std::vector<Real> accepted;                        ///< accepted[k] = P(exactly k drafted tokens accepted)
  Real expected_accepted{0};
  Real expected_emitted{0};
  Real rejection{0};  ///< P(the round ended in a rejection)
  std::uint64_t branches = 0;

  /// Returns P(a token is accepted at the first position).
  Real acceptance() const { return Real(1) - accepted.front(); }
  /// Returns whether the distributions agree: exactly, or for doubles up to rounding.
  bool lossless() const {
    return static_cast<double>(distance) <= (std::is_floating_point_v<Real> ? enumeration_rounding : 0.0);
  }
};

/// Returns an upper bound on the sequences of gamma + 1 tokens that `examine` lists, from the target's
/// largest support. Each takes about as long as a branch of the round.
inline double sequence_bound(std::int32_t gamma, std::size_t target_support) {
  return std::pow(static_cast<double>(target_support), gamma + 1);
}

/// Writes the distance and the counterexample of the two distributions. Instantiated for double and Rational.
template <class Real>
void compare(Losslessness<Real>& result);

/// Examines one round from `context`. Instantiated for double and Rational. A rule of core/rules/all_rules
/// becomes an EnumerableRule here if analysis/exact/enumeration_program.hpp is included.
template <class Real>
Losslessness<Real> examine(ModelRef<Real> target, ModelRef<Real> draft, const EnumerableRule& rule,
                           std::int32_t gamma, std::span<const Token> context);

}  // namespace speclab
