#include "analysis/cost/speedup_curve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <variant>

#include "analysis/theory/optimal_gamma.hpp"
#include "analysis/theory/theorems.hpp"

namespace speclab {

namespace {

constexpr double near_limit = 0.01;

std::size_t row(int gamma) { return static_cast<std::size_t>(gamma); }

double paid_by_curve(const SpeedupCurve& curve, const CostPair& costs, const Operation& at) {
  const double c = draft_cost(costs, at);
  double best = 1;
  double verified = 0;  // sum over n < m of P(exactly n accepted) verify_cost(n)
  for (std::size_t m = 1; m < curve.tokens.size(); ++m) {
    // P(at least n accepted) is tokens[n] - tokens[n - 1].
    const double before = m == 1 ? 1 : curve.tokens[m - 1] - curve.tokens[m - 2];
    const double reached = curve.tokens[m] - curve.tokens[m - 1];
    verified += (before - reached) * verify_cost(costs, static_cast<int>(m) - 1, at);
    const double cost =
        c * (curve.tokens[m] - 1) + verified + reached * verify_cost(costs, static_cast<int>(m), at);
    best = std::max(best, curve.tokens[m] / cost);
  }
  return best;
}

GammaChoice best_by_closed_form(const SpeedupCurve& curve, int gamma, double alpha, double c) {
  const OptimalGamma closed = optimal_gamma(alpha, c);
  const int last = curve.last();
  if (closed.gamma && *closed.gamma <= last) return {*closed.gamma, closed.reason};
  if (closed.gamma) {
    return {gamma, fmt::format("The best, {}, lies beyond the largest considered, {}.", *closed.gamma, last)};
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

}  // namespace

Interval SpeedupCurve::at(int gamma) const {
  return {estimate[row(gamma)], low[row(gamma)], high[row(gamma)]};
}

SpeedupCurve iid_curve(const Interval& alpha, int most, const CostPair& costs, const Operation& at) {
  const auto by_alpha = [&](double value) { return speedups(iid_tokens(value, most), costs, at); };
  return {AcceptanceModel::iid, iid_tokens(alpha.estimate, most), by_alpha(alpha.estimate),
          by_alpha(alpha.low), by_alpha(alpha.high)};
}

SpeedupCurve position_curve(const PositionCounts& counts, double confidence, int most, const CostPair& costs,
                            const Operation& at) {
  PositionalTokens found = positional_tokens(counts, confidence);
  found.tokens.resize(std::min(found.tokens.size(), row(most) + 1));
  SpeedupCurve curve{AcceptanceModel::positions, found.tokens, speedups(found.tokens, costs, at), {}, {}};
  for (std::size_t gamma = 0; gamma < found.tokens.size(); ++gamma) {
    const double a_token = curve.estimate[gamma] / found.tokens[gamma];
    curve.low.push_back(a_token * found.low[gamma]);
    curve.high.push_back(a_token * found.high[gamma]);
  }
  return curve;
}

bool constant(const CostPair& costs) {
  return std::holds_alternative<ConstantCost>(costs.target) &&
         std::holds_alternative<ConstantCost>(costs.draft);
}

GammaChoice best_of(const SpeedupCurve& curve, double alpha, const CostPair& costs, const Operation& at) {
  const auto top = std::max_element(curve.estimate.begin(), curve.estimate.end());
  const int gamma = static_cast<int>(top - curve.estimate.begin());
  if (curve.by == AcceptanceModel::positions) {
    return {gamma, gamma == curve.last() && gamma > 0
                       ? "The longest round seen: draft more for a while, and plan again."
                       : "The largest speedup by acceptance as it was measured at each position."};
  }
  if (constant(costs)) return best_by_closed_form(curve, gamma, alpha, draft_cost(costs, at));
  if (gamma == 0) return {0, "No gamma is faster than plain decoding here: do not speculate."};
  return {gamma, gamma == curve.last()
                     ? fmt::format("The largest considered, {}.", gamma)
                     : std::string("The largest speedup with the cost of verifying gamma + 1 positions.")};
}

SpeedupBounds speedup_bounds(const SpeedupCurve& curve, double alpha, const CostPair& costs,
                             const Operation& at) {
  SpeedupBounds bounds;
  const double c = draft_cost(costs, at);
  const bool iid = curve.by == AcceptanceModel::iid;
  // Closed forms of alpha are those of free verification.
  const bool closed = iid && constant(costs);
  const auto paid = speedup_bound_drafting_paid(alpha, c);
  // The choice that knows what will be accepted may also draft nothing.
  bounds.drafting_paid = closed && paid ? std::max(*paid, 1.0) : paid_by_curve(curve, costs, at);
  if (closed) bounds.guaranteed = guaranteed_speedup(alpha, c);
  if (iid) bounds.drafting_free = speedup_bound_drafting_free(alpha);
  return bounds;
}

}  // namespace speclab
