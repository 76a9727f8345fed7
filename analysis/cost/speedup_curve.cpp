#include "analysis/cost/speedup_curve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>

#include "analysis/statistics/round_replay.hpp"
#include "analysis/theory/optimal_gamma.hpp"
#include "analysis/theory/theorems.hpp"

namespace speclab {

namespace {

constexpr double near_limit = 0.01;

std::size_t row(int gamma) { return static_cast<std::size_t>(gamma); }

double paid_by_curve(const SpeedupCurve& curve, const CostPair& costs, const Operation& at) {
  double best = 1;
  for (int most = 1; most <= curve.last(); ++most) {
    double cost = 0;
    for (int gamma = 0; gamma <= most; ++gamma) {
      const double exactly =
          curve.accepts(most, gamma) - (gamma == most ? 0 : curve.accepts(most, gamma + 1));
      cost += exactly * (drafting_cost(costs, gamma, at) + verify_cost(costs, gamma, at));
    }
    best = std::max(best, curve.tokens[row(most)] / cost);
  }
  return best;
}

GammaChoice best_by_closed_form(const SpeedupCurve& curve, int gamma, double alpha, double c) {
  const OptimalGamma closed = optimal_gamma(alpha, c);
  const int last = curve.last();
  if (closed.gamma && *closed.gamma <= last) return {*closed.gamma, closed.reason};
  if (closed.gamma) {
    return {gamma,
            fmt::format("The best gamma, {}, exceeds the largest considered, {}.", *closed.gamma, last)};
  }
  if (closed.speedup) {
    for (int enough = 1; enough <= last; ++enough) {
      if (curve.estimate[row(enough)] >= (1 - near_limit) * *closed.speedup) {
        return {enough, closed.reason + " This one comes within 1% of it."};
      }
    }
  }
  return {gamma, closed.reason + fmt::format(" This is the largest considered, {}.", last)};
}

/// Returns the choice if a round costs 1 + c for any gamma, so that more tokens are always better: `gamma` is
/// 0 or the last, and the limit is 1 / ((1 - alpha) (1 + c)).
GammaChoice best_of_one_run(const SpeedupCurve& curve, int gamma, double alpha, double c) {
  if (gamma == 0) return {0, "No gamma considered has a speedup above 1: do not speculate."};
  const std::string reason = "One run drafts all tokens of a round, so more tokens are always better.";
  const auto free = speedup_bound_drafting_free(alpha);
  for (int enough = 1; free && enough <= curve.last(); ++enough) {
    const double speedup = curve.estimate[row(enough)];
    if (speedup > 1 && speedup >= (1 - near_limit) * *free / (1 + c))
      return {enough, reason + " This number comes within 1% of the limit."};
  }
  return {gamma, reason + fmt::format(" This is the largest considered, {}.", curve.last())};
}

/// Returns the curve from tokens per round by gamma, with their bounds.
template <class Tokens>
SpeedupCurve measured_curve(AcceptanceModel by, const Tokens& found, int most, const CostPair& costs,
                            const Operation& at) {
  std::vector<double> tokens = found.tokens;
  tokens.resize(std::min(tokens.size(), row(most) + 1));
  SpeedupCurve curve{by, tokens, speedups(tokens, costs, at), {}, {}};
  for (std::size_t gamma = 0; gamma < tokens.size(); ++gamma) {
    const double a_token = curve.estimate[gamma] / tokens[gamma];
    curve.low.push_back(a_token * found.low[gamma]);
    curve.high.push_back(a_token * found.high[gamma]);
  }
  return curve;
}

}  // namespace

Interval SpeedupCurve::at(int gamma) const {
  return {estimate[row(gamma)], low[row(gamma)], high[row(gamma)]};
}

double SpeedupCurve::accepts(int gamma, int n) const {
  if (n == 0) return 1;
  return reached.empty() ? tokens[row(n)] - tokens[row(n - 1)] : reached[row(gamma)][row(n)];
}

SpeedupCurve iid_curve(const Interval& alpha, int most, const CostPair& costs, const Operation& at) {
  const auto by_alpha = [&](double value) { return speedups(iid_tokens(value, most), costs, at); };
  return {AcceptanceModel::iid, iid_tokens(alpha.estimate, most), by_alpha(alpha.estimate),
          by_alpha(alpha.low), by_alpha(alpha.high)};
}

SpeedupCurve position_curve(const PositionalTokens& measured, int most, const CostPair& costs,
                            const Operation& at) {
  return measured_curve(AcceptanceModel::positions, measured, most, costs, at);
}

SpeedupCurve replay_curve(std::span<const LoggedRound> log, double confidence, int most,
                          const CostPair& costs, const Operation& at) {
  ReplayedTokens found = replayed_tokens(log, confidence);
  SpeedupCurve curve = measured_curve(AcceptanceModel::replay, found, most, costs, at);
  found.reached.resize(curve.tokens.size());
  curve.reached = std::move(found.reached);
  return curve;
}

bool constant(const CostPair& costs) {
  return std::holds_alternative<ConstantCost>(costs.target) &&
         std::holds_alternative<ConstantCost>(costs.draft);
}

GammaChoice best_of(const SpeedupCurve& curve, double alpha, const CostPair& costs, const Operation& at) {
  const auto top = std::max_element(curve.estimate.begin(), curve.estimate.end());
  const int gamma = static_cast<int>(top - curve.estimate.begin());
  if (curve.by != AcceptanceModel::iid) {
    if (gamma == curve.last() && gamma > 0)
      return {gamma, "This is the longest draft in the log: draft more for a while, and plan again."};
    return {gamma, curve.by == AcceptanceModel::positions
                       ? "The largest speedup, with acceptance as measured at each position."
                       : "The largest speedup, with the logged text cut into rounds of each gamma."};
  }
  if (constant(costs) && draft_runs(costs) == DraftRuns::a_round)
    return best_of_one_run(curve, gamma, alpha, draft_cost(costs, at));
  if (constant(costs)) return best_by_closed_form(curve, gamma, alpha, draft_cost(costs, at));
  if (gamma == 0) return {0, "No gamma has a speedup above 1 here: do not speculate."};
  return {gamma, gamma == curve.last()
                     ? fmt::format("The largest considered, {}.", gamma)
                     : std::string("The largest speedup with the cost of verifying gamma + 1 positions.")};
}

SpeedupBounds speedup_bounds(const SpeedupCurve& curve, double alpha, const CostPair& costs,
                             const Operation& at) {
  SpeedupBounds bounds;
  const double c = draft_cost(costs, at);
  const bool iid = curve.by == AcceptanceModel::iid;
  // The closed forms assume free verification.
  const bool by_theorem = iid && constant(costs);
  const bool closed = by_theorem && draft_runs(costs) == DraftRuns::a_token;
  const auto paid = speedup_bound_drafting_paid(alpha, c);
  // The oracle may also draft nothing.
  bounds.drafting_paid = closed && paid ? std::max(*paid, 1.0) : paid_by_curve(curve, costs, at);
  if (by_theorem) bounds.guaranteed = guaranteed_speedup(alpha, c);
  if (iid) bounds.drafting_free = speedup_bound_drafting_free(alpha);
  return bounds;
}

}  // namespace speclab
