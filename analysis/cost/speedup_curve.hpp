// Computes, from acceptance and costs, the speedup of each gamma, the best gamma, and upper bounds for any
// choice.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/cost/cost_model.hpp"
#include "analysis/statistics/acceptance_log.hpp"
#include "analysis/statistics/intervals.hpp"

namespace speclab {

/// The acceptance model of a speedup: one probability for all positions, a measured one for each position, or
/// the logged text cut into rounds of each gamma.
enum class AcceptanceModel { iid, positions, replay };

/// Returns tokens per round for gamma = 0..most under the i.i.d. assumption (Leviathan et al. 2023, Eq. 1).
std::vector<double> iid_tokens(double alpha, int most);

/// Returns the speedup over plain decoding for gamma = 0..tokens.size() - 1, at most costs.last(). `tokens`
/// are those of one sequence's round, including the correction or bonus; at gamma = 0 both numerator and
/// denominator are 1.
std::vector<double> speedups(std::span<const double> tokens, const RoundCosts& costs);

/// All vectors are indexed by gamma; `tokens`, `estimate`, `low` and `high` have the same length.
struct SpeedupCurve {
  AcceptanceModel by = AcceptanceModel::iid;
  std::vector<double> tokens;  ///< tokens per round
  std::vector<double> estimate, low, high;
  /// reached[gamma][n]: share of rounds that accept n tokens or more. Empty if acceptance at a position does
  /// not depend on gamma: `tokens` then determines it.
  std::vector<std::vector<double>> reached = {};
  RoundCosts costs = {};  ///< for these gammas, and maybe for longer drafts
  double alpha = 0;       ///< of an i.i.d. curve

  int last() const { return static_cast<int>(tokens.size()) - 1; }
  Interval at(int gamma) const;
  /// Returns the share of rounds of `gamma` drafts that accept n tokens or more, n <= gamma.
  double accepts(int gamma, int n) const;
};

/// Returns the curve for gamma = 0..costs.last() from an alpha with its interval. The speedup rises with
/// alpha at every gamma, so that an interval of alpha gives one of the speedup.
SpeedupCurve iid_curve(const Interval& alpha, const RoundCosts& costs);

/// Returns the curve from acceptance measured at each position that the log's rounds reached.
SpeedupCurve position_curve(const PositionalTokens& measured, const RoundCosts& costs);

/// Returns the curve from rounds of each gamma along the logged text (round_replay.hpp); a gamma with too few
/// rounds has no entry.
SpeedupCurve replay_curve(std::span<const LoggedRound> log, double confidence, const RoundCosts& costs);

struct GammaChoice {
  int gamma = 0;
  std::string reason;  ///< the reason, a sentence
};

/// Returns chosen_gamma. If the speedup of a curve under constant costs grows forever, returns the first
/// gamma within 1% of its limit, or the largest of the curve.
GammaChoice best_of(const SpeedupCurve& curve);

/// Bounds on the speedup that any choice of gamma can reach.
struct SpeedupBounds {
  std::optional<double> guaranteed;     ///< Leviathan et al. 2023, Cor. 3.9; i.i.d. and constant costs only
  std::optional<double> drafting_free;  ///< for an oracle that knows what will be accepted; i.i.d. only
  double drafting_paid = 1;             ///< the same, including the time of drafting
};

/// Returns the bounds. `drafting_paid` is the speedup of an oracle that drafts exactly the tokens that will
/// be accepted, at most m, for the best m of the curve. With free verification and i.i.d. acceptance its
/// limit is 1 / (1 - alpha + c alpha), which is returned for constant costs with one run per token.
SpeedupBounds speedup_bounds(const SpeedupCurve& curve);

/// Values low..high of gamma.
struct GammaRange {
  int low = 0;
  int high = 0;
};

/// Returns the gammas around the best of `speeds` (indexed by gamma; not empty: asserted) whose speedup is at
/// least (1 - loss) of the best.
GammaRange near_best(std::span<const double> speeds, double loss);

}  // namespace speclab
