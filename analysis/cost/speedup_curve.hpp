// What acceptance and costs say of gamma: the speedup of each, the one to choose, and what any choice could
// gain.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/cost/speculation_cost.hpp"
#include "analysis/statistics/acceptance_log.hpp"
#include "analysis/statistics/intervals.hpp"

namespace speclab {

/// Which model of acceptance a speedup is computed by: the same probability at every position, one for each
/// position as it was measured, or the logged text cut into rounds of each gamma.
enum class AcceptanceModel { iid, positions, replay };

/// By gamma, from 0; all of one length.
struct SpeedupCurve {
  AcceptanceModel by = AcceptanceModel::iid;
  std::vector<double> tokens;  ///< per round
  std::vector<double> estimate, low, high;
  /// reached[gamma][n]: share of rounds that accept n tokens or more; empty where acceptance at a position
  /// does not depend on gamma, so that it follows from `tokens`.
  std::vector<std::vector<double>> reached = {};

  int last() const { return static_cast<int>(tokens.size()) - 1; }
  Interval at(int gamma) const;
  /// Share of rounds of `gamma` drafts that accept n tokens or more, n <= gamma.
  double accepts(int gamma, int n) const;
};

/// gamma = 0..most for an alpha with its interval. The speedup rises with alpha at every gamma, so that an
/// interval of alpha is one of the speedup.
SpeedupCurve iid_curve(const Interval& alpha, int most, const CostPair& costs, const Operation& at);

/// The same by acceptance as it was measured at each position, as far as the log's rounds reached.
SpeedupCurve position_curve(const PositionalTokens& measured, int most, const CostPair& costs,
                            const Operation& at);

/// The same by rounds of each gamma along the logged text (round_replay.hpp); without a row where the log has
/// too few rounds.
SpeedupCurve replay_curve(std::span<const LoggedRound> log, double confidence, int most,
                          const CostPair& costs, const Operation& at);

/// Whether neither cost depends on tokens, batch or context.
bool constant(const CostPair& costs);

struct GammaChoice {
  int gamma = 0;
  std::string reason;  ///< a sentence
};

/// The smallest maximiser. Where the speedup grows on and on, the first gamma that comes within 1% of its
/// limit, or the largest of the curve. `alpha` is that of an i.i.d. curve, which has a closed form under
/// constant costs.
GammaChoice best_of(const SpeedupCurve& curve, double alpha, const CostPair& costs, const Operation& at);

/// What a choice of gamma can reach.
struct SpeedupBounds {
  std::optional<double> guaranteed;     ///< Leviathan et al. 2023, Cor. 3.9; i.i.d. and constant costs only
  std::optional<double> drafting_free;  ///< of choices that know what will be accepted; i.i.d. only
  double drafting_paid = 1;             ///< the same, with the time of drafts
};

/// With drafting paid: the speedup of a choice of gamma that knows how many tokens would be accepted and
/// drafts just these, at most m; for the best m of the curve. With free verification and i.i.d. acceptance
/// its limit is 1 / (1 - alpha + c alpha), which constant costs of one run a token give in its place.
SpeedupBounds speedup_bounds(const SpeedupCurve& curve, double alpha, const CostPair& costs,
                             const Operation& at);

}  // namespace speclab
