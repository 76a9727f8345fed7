// Computes exact properties of speculative decoding as a chain over contexts
// (analysis/exact/context_chain.hpp): stationary distributions, the distribution of the tokens N emitted per
// round, and what the i.i.d. assumption of Leviathan et al. 2023 leaves out. A distribution over contexts is
// a vector with one probability per context.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/exact/context_chain.hpp"

namespace speclab {

/// A distribution over contexts that one step leaves unchanged. Chains of up to max_direct_states contexts
/// are solved directly, larger ones by power iteration. If iteration stalls, as on a periodic chain, it
/// continues with the mean of a distribution and its successor (damping).
struct StationaryDistribution {
  std::vector<double> distribution;
  bool direct = false;  ///< solved without iteration (direct_stationary)
  int iterations = 0;
  double residual = 0;  ///< L1 distance between the distribution and its successor
  /// Estimate of the iteration's own error: residual / (1 - r), where the residual fell by the factor r per
  /// step. It does not detect a chain whose parts hardly communicate if each part has converged by itself;
  /// iteration from another start does.
  double error = 0;
  bool damped = false;     ///< undamped iteration had stalled
  bool converged = false;  ///< direct, or residual below 1e-13 and error below 1e-9 within 20,000 iterations
};

/// Returns the distribution after one round with gamma >= 0 drafted tokens: distribution * K. Takes gamma
/// products with M, one with J, one with B.
std::vector<double> after_round(const ContextChain& chain, int gamma, std::span<const double> distribution);

/// Return the stationary distribution of contexts that the chain reaches from the distribution `start`,
/// without speculation or in rounds with gamma drafted tokens.
StationaryDistribution stationary_plain(const ContextChain& chain, std::vector<double> start);
StationaryDistribution stationary_rounds(const ContextChain& chain, int gamma, std::vector<double> start);

/// Returns the closed classes of contexts of rounds with gamma drafted tokens that begin in `start`. A lossy
/// rule may never take some steps of the chain in one round, so that rounds stay in contexts that the steps
/// would leave; the classes are then those that rounds from `start` reach.
std::vector<ClosedClass> round_classes(const ContextChain& chain, int gamma, std::vector<double> start);

/// Returns E[N | x] = 1 + sum_{i=1..gamma} (M^i 1)(x) for every context x.
std::vector<double> expected_tokens_by_context(const ContextChain& chain, int gamma);

/// Bounds on the long-run mean of E[N] over rounds in a closed class, for any mixing time: the mean of any
/// function over a stationary distribution lies between the smallest and the largest conditional mean n
/// rounds ahead, here for n up to 1,000.
struct TokenBounds {
  double least;
  double most;
};
TokenBounds expected_tokens_bounds(const ContextChain& chain, int gamma, const ClosedClass& members);

/// Statistics of rounds for a distribution of their start contexts; "first" and "second" are a round's first
/// two drafted tokens.
struct RoundStatistics {
  int gamma = 0;
  double expected_tokens = 0;        ///< E[N]
  double variance = 0;               ///< variance of N
  std::vector<double> distribution;  ///< distribution[n - 1] = P(N = n), n = 1..gamma + 1
  double alpha_visited = 0;          ///< mean beta over the contexts of all emitted tokens
  std::optional<double> rejections;  ///< rejected / examined; empty at gamma = 0
  std::optional<double> distance;    ///< mean total variation over the examined contexts; empty at gamma = 0
  double first_accepted = 0;         ///< P(first accepted)
  std::optional<double>
      second_accepted;  ///< P(second accepted | first accepted); empty if the first never is
  /// Gain of the second acceptance given the first: g in second = first + g (1 - first); empty at first = 0
  /// or 1. At most 1; negative if the second is accepted less often than the first.
  std::optional<double> relative_gain;

  /// Returns the rejections above the minimum of lossless rules that verify token by token (Yin et al. 2024,
  /// Theorem 1): 0 for token verification. A lossy rule can be below 0.
  std::optional<double> regret() const {
    return rejections ? std::optional<double>(*rejections - *distance) : std::nullopt;
  }
};
RoundStatistics round_statistics(const ContextChain& chain, int gamma, std::span<const double> distribution);

/// Returns the mean of beta, the probability that a drafted token is accepted, over contexts of
/// `distribution`.
double mean_acceptance(const ContextChain& chain, std::span<const double> distribution);

/// Returns E[N] averaged over the first `rounds` >= 1 rounds from `start`, which a simulation without burn-in
/// estimates. Follows the chain until it has converged; empty if it has not after 10,000 rounds.
std::optional<double> expected_tokens_over(const ContextChain& chain, int gamma, std::vector<double> start,
                                           std::uint64_t rounds);

}  // namespace speclab
