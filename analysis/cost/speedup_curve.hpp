// Computes from acceptance and costs the speedup of each gamma, the gamma to choose, and the largest gain of
// any choice.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/cost/speculation_cost.hpp"
#include "analysis/statistics/acceptance_log.hpp"
#include "analysis/statistics/intervals.hpp"

namespace speclab {

/// The model of acceptance behind a speedup: one probability for all positions, a measured one for each
/// position, or the logged text cut into rounds of each gamma.
enum class AcceptanceModel { iid, positions, replay };

/// Vectors by gamma, from 0; all have the same length.
struct SpeedupCurve {
  AcceptanceModel by = AcceptanceModel::iid;
  std::vector<double> tokens;  ///< tokens per round
  std::vector<double> estimate, low, high;
  /// reached[gamma][n]: share of rounds that accept n tokens or more. It is empty if acceptance at a position
  /// does not depend on gamma, so that `tokens` determines it.
  std::vector<std::vector<double>> reached = {};

  int last() const { return static_cast<int>(tokens.size()) - 1; }
  Interval at(int gamma) const;
  /// Returns the share of rounds of `gamma` drafts that accept n tokens or more, n <= gamma.
  double accepts(int gamma, int n) const;
};

/// Returns the curve for gamma = 0..most from an alpha with its interval. The speedup rises with alpha at
/// every gamma, so that an interval of alpha gives one of the speedup.
SpeedupCurve iid_curve(const Interval& alpha, int most, const CostPair& costs, const Operation& at);

/// Returns the same from acceptance measured at each position, as far as the log's rounds reached.
SpeedupCurve position_curve(const PositionalTokens& measured, int most, const CostPair& costs,
                            const Operation& at);

/// Returns the same from rounds of each gamma along the logged text (round_replay.hpp); without a row where
/// the log has too few rounds.
SpeedupCurve replay_curve(std::span<const LoggedRound> log, double confidence, int most,
                          const CostPair& costs, const Operation& at);

/// Returns whether neither cost depends on tokens, batch or context.
bool constant(const CostPair& costs);

struct GammaChoice {
  int gamma = 0;
  std::string reason;  ///< the reason, a sentence
};

/// Returns the smallest maximiser. If the speedup grows without end, returns the first gamma that comes
/// within 1% of its limit, or the largest of the curve. `alpha` is that of an i.i.d. curve, which has a
/// closed form under constant costs.
GammaChoice best_of(const SpeedupCurve& curve, double alpha, const CostPair& costs, const Operation& at);

/// Bounds on the speedup that any choice of gamma can reach.
struct SpeedupBounds {
  std::optional<double> guaranteed;     ///< Leviathan et al. 2023, Cor. 3.9; i.i.d. and constant costs only
  std::optional<double> drafting_free;  ///< for choices that know what will be accepted; i.i.d. only
  double drafting_paid = 1;             ///< the same, with the time of drafts
};

/// Returns the bounds. With drafting paid: the speedup of a choice of gamma that knows how many tokens would
/// be accepted and drafts exactly these, at most m; for the best m of the curve. With free verification and
/// i.i.d. acceptance its limit is 1 / (1 - alpha + c alpha); constant costs with one run per token give this
/// limit instead.
SpeedupBounds speedup_bounds(const SpeedupCurve& curve, double alpha, const CostPair& costs,
                             const Operation& at);

}  // namespace speclab
