// Computes the various numbers called acceptance rate or acceptance length from the same rounds.
// docs/acceptance-metrics.md explains how they are related.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analysis/statistics/acceptance_log.hpp"

namespace speclab {

/// Sums over rounds, or means of one round (then `rounds` is 1).
struct RoundSums {
  double rounds = 0;
  double drafted = 0;
  double accepted = 0;
  std::vector<double> examined_at = {};  ///< rounds that examined position 1, 2, ...; empty: not known
  std::vector<double> accepted_at = {};  ///< rounds that accepted it; same size, or `examined_at` is empty
  std::optional<double> mean_of_rates = {};  ///< mean of accepted / drafted over rounds that drafted
};

RoundSums sums_of(std::span<const LoggedRound> log);
/// Returns the sums from counts by position and the number `drafted` of drafted tokens. `examined_at` is
/// empty if not all rounds drafted every position.
RoundSums sums_of(const PositionCounts& counts, double drafted);
/// Returns the mean round from P[position i is accepted] over all rounds of one length (not increasing).
RoundSums mean_round(std::span<const double> accepted_at);

struct AcceptanceMetrics {
  double accepted_of_drafted = 0;
  std::optional<double> accepted_of_examined;  ///< the maximum-likelihood estimate of an i.i.d. alpha
  double accepted_of_emitted = 0;              ///< accepted / (accepted + rounds)
  double emitted_of_verified = 0;              ///< (accepted + rounds) / (drafted + rounds)
  double accepted_a_round = 0;                 ///< acceptance length without the correction or bonus
  double emitted_a_round = 0;                  ///< acceptance length with it
  std::optional<double> mean_of_rates;         ///< mean over rounds, with equal weights
  std::vector<double> by_position;             ///< P[accepted], over all rounds
  std::vector<double> by_position_given;       ///< P[accepted | those before were accepted]
};

/// Returns the metrics. `rounds` and `drafted` are positive (asserted). `by_position_given` ends before a
/// position that was never examined.
AcceptanceMetrics acceptance_metrics(const RoundSums& sums);

}  // namespace speclab
