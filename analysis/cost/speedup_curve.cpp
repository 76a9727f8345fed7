#include "analysis/cost/speedup_curve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <utility>

#include "analysis/statistics/round_replay.hpp"
#include "analysis/theory/optimal_gamma.hpp"
#include "analysis/theory/theorems.hpp"

namespace speclab {

namespace {

constexpr double near_limit = 0.01;

std::size_t row(int gamma) { return static_cast<std::size_t>(gamma); }

double paid_by_curve(const SpeedupCurve& curve) {
  double best = 1;
  for (int most = 1; most <= curve.last(); ++most) {
    double cost = 0;
    for (int gamma = 0; gamma <= most; ++gamma) {
      const double exactly =
          curve.accepts(most, gamma) - (gamma == most ? 0 : curve.accepts(most, gamma + 1));
      cost += exactly * curve.costs.of(gamma);
    }
    best = std::max(best, curve.tokens[row(most)] / cost);
  }
  return best;
}

GammaChoice best_by_closed_form(const SpeedupCurve& curve, int gamma) {
  const OptimalGamma closed = optimal_gamma(curve.alpha, curve.costs.c);
  const int last = curve.last();
  if (closed.gamma && *closed.gamma <= last) return {*closed.gamma, closed.reason};
  if (closed.gamma) {
    return {gamma, fmt::format("By the i.i.d. formula γ = {} would be best; the largest considered is {}.",
                               *closed.gamma, last)};
  }
  if (closed.speedup) {
    for (int enough = 1; enough <= last; ++enough) {
      if (curve.estimate[row(enough)] >= (1 - near_limit) * *closed.speedup)
        return {enough, closed.reason + " This one comes within 1% of it."};
    }
  }
  return {gamma, closed.reason + fmt::format(" This is the largest considered, {}.", last)};
}

/// Returns the choice if a round costs 1 + c for any gamma, so that more tokens are always better: `gamma` is
/// 0 or the last, and the limit is 1 / ((1 - alpha) (1 + c)).
GammaChoice best_of_one_run(const SpeedupCurve& curve, int gamma) {
  if (gamma == 0) return {0, "No gamma considered has a speedup above 1: do not speculate."};
  const std::string reason = "One run drafts all tokens of a round, so more tokens are always better.";
  const auto free = speedup_bound_drafting_free(curve.alpha);
  for (int enough = 1; free && enough <= curve.last(); ++enough) {
    const double speedup = curve.estimate[row(enough)];
    if (speedup > 1 && speedup >= (1 - near_limit) * *free / (1 + curve.costs.c))
      return {enough, reason + " This number comes within 1% of the limit."};
  }
  return {gamma, reason + fmt::format(" This is the largest considered, {}.", curve.last())};
}

/// Returns the curve from tokens per round by gamma, with their bounds.
template <class Tokens>
SpeedupCurve measured_curve(AcceptanceModel by, const Tokens& found, const RoundCosts& costs) {
  std::vector<double> tokens = found.tokens;
  tokens.resize(std::min(tokens.size(), row(costs.last()) + 1));
  SpeedupCurve curve{
      .by = by, .tokens = tokens, .estimate = speedups(tokens, costs), .low = {}, .high = {}, .costs = costs};
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

std::vector<double> iid_tokens(double alpha, int most) {
  std::vector<double> tokens;
  for (int gamma = 0; gamma <= most; ++gamma) tokens.push_back(expected_tokens(alpha, gamma));
  return tokens;
}

std::vector<double> speedups(std::span<const double> tokens, const RoundCosts& costs) {
  std::vector<double> all;
  for (std::size_t i = 0; i < tokens.size(); ++i) all.push_back(tokens[i] / costs.of(static_cast<int>(i)));
  return all;
}

SpeedupCurve iid_curve(const Interval& alpha, const RoundCosts& costs) {
  const auto by_alpha = [&](double value) { return speedups(iid_tokens(value, costs.last()), costs); };
  return {.tokens = iid_tokens(alpha.estimate, costs.last()),
          .estimate = by_alpha(alpha.estimate),
          .low = by_alpha(alpha.low),
          .high = by_alpha(alpha.high),
          .costs = costs,
          .alpha = alpha.estimate};
}

SpeedupCurve position_curve(const PositionalTokens& measured, const RoundCosts& costs) {
  return measured_curve(AcceptanceModel::positions, measured, costs);
}

SpeedupCurve replay_curve(std::span<const LoggedRound> log, double confidence, const RoundCosts& costs) {
  ReplayedTokens found = replayed_tokens(log, confidence);
  SpeedupCurve curve = measured_curve(AcceptanceModel::replay, found, costs);
  found.reached.resize(curve.tokens.size());
  curve.reached = std::move(found.reached);
  return curve;
}

GammaChoice best_of(const SpeedupCurve& curve) {
  const int gamma = chosen_gamma(curve.estimate, curve.costs);
  if (gamma > 0 && gamma < curve.last() && curve.costs.c == 0)
    return {gamma, "Drafting takes no time: this is the smallest γ within 1% of the best."};
  if (curve.by != AcceptanceModel::iid) {
    if (gamma == curve.last() && gamma > 0)
      return {gamma, "This is the longest draft in the log: draft more for a while, and plan again."};
    return {gamma, curve.by == AcceptanceModel::positions
                       ? "The largest speedup, with acceptance as measured at each position."
                       : "The largest speedup, with the logged text cut into rounds of each gamma."};
  }
  if (curve.costs.constant) {
    return curve.costs.runs == DraftRuns::a_round ? best_of_one_run(curve, gamma)
                                                  : best_by_closed_form(curve, gamma);
  }
  if (gamma == 0) return {0, "No gamma has a speedup above 1 here: do not speculate."};
  return {gamma, gamma == curve.last()
                     ? fmt::format("The largest considered, {}.", gamma)
                     : std::string("The largest speedup with the cost of verifying gamma + 1 positions.")};
}

SpeedupBounds speedup_bounds(const SpeedupCurve& curve) {
  SpeedupBounds bounds;
  const bool iid = curve.by == AcceptanceModel::iid;
  // The closed forms assume free verification.
  const bool by_theorem = iid && curve.costs.constant;
  if (by_theorem) bounds.guaranteed = guaranteed_speedup(curve.alpha, curve.costs.c);
  if (iid) bounds.drafting_free = speedup_bound_drafting_free(curve.alpha);
  std::optional<double> paid;
  if (by_theorem && curve.costs.runs == DraftRuns::a_token)
    paid = speedup_bound_drafting_paid(curve.alpha, curve.costs.c);
  // The oracle may also draft nothing.
  bounds.drafting_paid = paid ? std::max(*paid, 1.0) : paid_by_curve(curve);
  return bounds;
}

GammaRange near_best(std::span<const double> speeds, double loss) {
  assert(!speeds.empty());
  const auto best = std::max_element(speeds.begin(), speeds.end());
  const double enough = *best * (1 - loss);
  auto low = static_cast<std::size_t>(best - speeds.begin());
  std::size_t high = low;
  while (low > 0 && speeds[low - 1] >= enough) --low;
  while (high + 1 < speeds.size() && speeds[high + 1] >= enough) ++high;
  return {static_cast<int>(low), static_cast<int>(high)};
}

}  // namespace speclab
