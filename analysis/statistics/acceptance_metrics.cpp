#include "analysis/statistics/acceptance_metrics.hpp"

#include <cassert>
#include <numeric>

namespace speclab {

RoundSums sums_of(std::span<const LoggedRound> log) {
  const PositionCounts counts = count_positions(log);
  RoundSums sums{.rounds = static_cast<double>(counts.rounds),
                 .accepted = static_cast<double>(counts.total_accepted())};
  sums.examined_at.assign(counts.examined.begin(), counts.examined.end());
  sums.accepted_at.assign(counts.accepted.begin(), counts.accepted.end());
  double rates = 0, drafting = 0;
  for (const LoggedRound& round : log) {
    sums.drafted += round.drafted;
    if (round.drafted == 0) continue;
    rates += static_cast<double>(round.accepted) / round.drafted;
    ++drafting;
  }
  if (drafting > 0) sums.mean_of_rates = rates / drafting;
  return sums;
}

RoundSums sums_of(const PositionCounts& counts, double drafted) {
  RoundSums sums{.rounds = static_cast<double>(counts.rounds),
                 .drafted = drafted,
                 .accepted = static_cast<double>(counts.total_accepted())};
  sums.accepted_at.assign(counts.accepted.begin(), counts.accepted.end());
  if (drafted == sums.rounds * static_cast<double>(counts.accepted.size()))
    sums.examined_at.assign(counts.examined.begin(), counts.examined.end());
  return sums;
}

RoundSums mean_round(std::span<const double> accepted_at) {
  RoundSums sums{.rounds = 1,
                 .drafted = static_cast<double>(accepted_at.size()),
                 .accepted = std::accumulate(accepted_at.begin(), accepted_at.end(), 0.0)};
  sums.accepted_at.assign(accepted_at.begin(), accepted_at.end());
  // Position i is examined if i - 1 was accepted.
  double reached = 1;
  for (const double accepted : accepted_at) {
    sums.examined_at.push_back(reached);
    reached = accepted;
  }
  if (sums.drafted > 0) sums.mean_of_rates = sums.accepted / sums.drafted;
  return sums;
}

AcceptanceMetrics acceptance_metrics(const RoundSums& sums) {
  assert(sums.rounds > 0 && sums.drafted > 0);
  const double emitted = sums.accepted + sums.rounds;
  AcceptanceMetrics metrics{.accepted_of_drafted = sums.accepted / sums.drafted,
                            .accepted_of_examined = {},
                            .accepted_of_emitted = sums.accepted / emitted,
                            .emitted_of_verified = emitted / (sums.drafted + sums.rounds),
                            .accepted_a_round = sums.accepted / sums.rounds,
                            .emitted_a_round = emitted / sums.rounds,
                            .mean_of_rates = sums.mean_of_rates,
                            .by_position = {},
                            .by_position_given = {}};
  for (const double accepted : sums.accepted_at) metrics.by_position.push_back(accepted / sums.rounds);
  if (sums.examined_at.empty()) return metrics;
  assert(sums.examined_at.size() == sums.accepted_at.size());
  metrics.accepted_of_examined =
      sums.accepted / std::accumulate(sums.examined_at.begin(), sums.examined_at.end(), 0.0);
  for (std::size_t i = 0; i < sums.examined_at.size() && sums.examined_at[i] > 0; ++i)
    metrics.by_position_given.push_back(sums.accepted_at[i] / sums.examined_at[i]);
  return metrics;
}

}  // namespace speclab
