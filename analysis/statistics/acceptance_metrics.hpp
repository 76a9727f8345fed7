// The numbers that are called acceptance rate or acceptance length, from the same rounds.
// docs/acceptance-metrics.md says which follow from which.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analysis/statistics/acceptance_log.hpp"

namespace speclab {

/// Sums over rounds, or means of one round (`rounds` is 1 then).
struct RoundSums {
  double rounds = 0;
  double drafted = 0;
  double accepted = 0;
  std::vector<double> examined_at = {};      ///< rounds that examined position 1, 2, ...; empty: not known
  std::vector<double> accepted_at = {};      ///< that accepted it; as long, or `examined_at` is empty
  std::optional<double> mean_of_rates = {};  ///< mean of accepted / drafted over rounds that drafted
};

/// Of a log of rounds: all of them.
RoundSums sums_of(std::span<const LoggedRound> log);
/// Of totals by position, of which `drafted` tokens were drafted. With fewer than the totals' rounds all
/// have, it is not known which positions were examined.
RoundSums sums_of(const PositionCounts& counts, double drafted);
/// Of rounds of one length from P[position i is accepted] of all rounds (not increasing).
RoundSums mean_round(std::span<const double> accepted_at);

struct AcceptanceMetrics {
  double accepted_of_drafted = 0;
  std::optional<double> accepted_of_examined;  ///< the maximum-likelihood estimate of an i.i.d. alpha
  double accepted_of_emitted = 0;              ///< accepted / (accepted + rounds)
  double emitted_of_verified = 0;              ///< (accepted + rounds) / (drafted + rounds)
  double accepted_a_round = 0;                 ///< acceptance length without the correction or bonus
  double emitted_a_round = 0;                  ///< with it
  std::optional<double> mean_of_rates;         ///< of rounds, each counted alike
  std::vector<double> by_position;             ///< P[accepted], of all rounds
  std::vector<double> by_position_given;       ///< P[accepted | those before were accepted]
};

/// `rounds` and `drafted` are positive, asserted. `by_position_given` ends before a position that was never
/// examined.
AcceptanceMetrics acceptance_metrics(const RoundSums& sums);

}  // namespace speclab
