#include "analysis/cost/speedup_curve.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "analysis/theory/optimal_gamma.hpp"
#include "analysis/theory/theorems.hpp"

using namespace speclab;

namespace {

CostPair fixed(double c) { return {ConstantCost{1}, ConstantCost{c}}; }

/// Returns a target whose run over k positions takes 1 + slope (k - 1), up to 200 positions, and a draft of
/// fixed time.
CostPair rising(double slope, double c) {
  const MeasuredPoint points[] = {{1, 1, 1}, {200, 1, 1 + 199 * slope}};
  return {MeasuredCost(points), ConstantCost{c}};
}

/// Returns the speedup of drafting exactly the tokens that will be accepted, at most m: outcomes one by one.
double speed_of_oracle(double alpha, int m, double slope, double c) {
  double tokens = 0;
  double time = 0;
  for (int n = 0; n <= m; ++n) {
    const double probability = n < m ? std::pow(alpha, n) * (1 - alpha) : std::pow(alpha, m);
    tokens += probability * (n + 1);
    time += probability * (c * n + 1 + slope * n);
  }
  return tokens / time;
}

}  // namespace

TEST_CASE("an i.i.d. curve under constant costs is Theorem 3.8's") {
  const SpeedupCurve curve = iid_curve({0.7, 0.6, 0.8}, round_costs(fixed(0.05), 20, {}));
  REQUIRE(curve.last() == 20);
  for (int gamma = 0; gamma <= 20; ++gamma) {
    CHECK(curve.at(gamma).estimate == doctest::Approx(speedup(0.7, gamma, 0.05)));
    CHECK(curve.at(gamma).low == doctest::Approx(speedup(0.6, gamma, 0.05)));
    CHECK(curve.at(gamma).high == doctest::Approx(speedup(0.8, gamma, 0.05)));
  }
  const GammaChoice choice = best_of(curve);
  CHECK(choice.gamma == *optimal_gamma(0.7, 0.05).gamma);
}

TEST_CASE("the choice is the maximiser when verifying has a price, and none where nothing pays") {
  for (const double slope : {0.01, 0.05, 0.2}) {
    const CostPair costs = rising(slope, 0.03);
    const SpeedupCurve curve = iid_curve({0.8, 0.8, 0.8}, round_costs(costs, 30, {}));
    int best = 0;
    double speed = 1;
    for (int gamma = 1; gamma <= 30; ++gamma) {
      const double here = expected_tokens(0.8, gamma) / (0.03 * gamma + 1 + slope * gamma);
      CHECK(curve.at(gamma).estimate == doctest::Approx(here));
      if (here > speed) {
        speed = here;
        best = gamma;
      }
    }
    CHECK(best_of(curve).gamma == best);
  }
  const CostPair dear = rising(1, 0.5);
  CHECK(best_of(iid_curve({0.4, 0.4, 0.4}, round_costs(dear, 10, {}))).gamma == 0);
}

TEST_CASE("a choice beyond the curve says so, and one without a limit stops within 1% of it") {
  const int optimum = *optimal_gamma(0.95, 0.001).gamma;
  const SpeedupCurve shortened = iid_curve({0.95, 0.95, 0.95}, round_costs(fixed(0.001), optimum - 3, {}));
  const GammaChoice cut = best_of(shortened);
  CHECK(cut.gamma == optimum - 3);
  CHECK(cut.reason.find(std::to_string(optimum)) != std::string::npos);
  const GammaChoice free = best_of(iid_curve({0.8, 0.8, 0.8}, round_costs(fixed(0), 64, {})));
  CHECK(speedup(0.8, free.gamma, 0) >= 0.99 * 5);
  CHECK(speedup(0.8, free.gamma - 1, 0) < 0.99 * 5);
}

TEST_CASE(
    "without a cost of drafting the choice is the smallest gamma within 1% of the best, at every batch") {
  for (const double slope : {0.0, 1e-6, 0.001, 0.05}) {
    const CostPair costs = rising(slope, 0);
    const SpeedupCurve curve = iid_curve({0.6, 0.6, 0.6}, round_costs(costs, 64, {}));
    const double most = *std::max_element(curve.estimate.begin(), curve.estimate.end());
    const auto enough = std::find_if(curve.estimate.begin(), curve.estimate.end(),
                                     [&](double speed) { return speed >= 0.99 * most; });
    const int gamma = static_cast<int>(enough - curve.estimate.begin());
    CHECK(best_of(curve).gamma == gamma);
    CHECK(gamma_by_batch(curve.tokens, costs, 0, 1).front().gamma == gamma);
  }
  CHECK(best_of(iid_curve({0.6, 0.6, 0.6}, round_costs(fixed(0), 64, {}))).gamma ==
        best_of(iid_curve({0.6, 0.6, 0.6}, round_costs(rising(1e-6, 0), 64, {}))).gamma);
  CHECK(best_of(iid_curve({0, 0, 0}, round_costs(fixed(0), 64, {}))).gamma == 0);
}

TEST_CASE("the bound with drafting paid is the best of all oracles, outcome by outcome") {
  for (const double alpha : {0.3, 0.75, 0.95}) {
    for (const double slope : {0.0, 0.02, 0.3}) {
      const CostPair costs = rising(slope, 0.04);
      constexpr int most = 40;
      const SpeedupCurve curve = iid_curve({alpha, alpha, alpha}, round_costs(costs, most, {}));
      double best = 1;
      for (int m = 1; m <= most; ++m) best = std::max(best, speed_of_oracle(alpha, m, slope, 0.04));
      const SpeedupBounds bounds = speedup_bounds(curve);
      CHECK(bounds.drafting_paid == doctest::Approx(best));
      // No choice of one gamma is above the bound.
      CHECK(*std::max_element(curve.estimate.begin(), curve.estimate.end()) <= bounds.drafting_paid + 1e-12);
      CHECK_FALSE(bounds.guaranteed);
      CHECK(bounds.drafting_free.value() == doctest::Approx(1 / (1 - alpha)));
    }
  }
}

TEST_CASE("under constant costs bounds are the closed forms, which a long curve approaches") {
  const SpeedupCurve curve = iid_curve({0.75, 0.75, 0.75}, round_costs(fixed(0.02), 150, {}));
  const SpeedupBounds closed = speedup_bounds(curve);
  CHECK(closed.drafting_paid == doctest::Approx(1 / (0.25 + 0.015)));
  CHECK(closed.guaranteed.value() == doctest::Approx(1.75 / 1.02));
  const CostPair same = rising(0, 0.02);
  CHECK(speedup_bounds(iid_curve({0.75, 0.75, 0.75}, round_costs(same, 150, {}))).drafting_paid ==
        doctest::Approx(closed.drafting_paid));
}

TEST_CASE("a curve by positions follows what was counted, no further") {
  // In 1,000 rounds of 3 drafted tokens, .9, .8 and .5 of the examined tokens are accepted.
  const std::vector<std::uint64_t> accepted{900, 720, 360};
  const PositionCounts counts = count_positions(1000, accepted);
  const SpeedupCurve curve = position_curve(positional_tokens(counts, 0.95), round_costs(fixed(0.1), 20, {}));
  REQUIRE(curve.last() == 3);
  CHECK(curve.at(2).estimate == doctest::Approx((1 + 0.9 + 0.72) / 1.2));
  CHECK(curve.at(3).estimate == doctest::Approx((1 + 0.9 + 0.72 + 0.36) / 1.3));
  CHECK(curve.at(3).low < curve.at(3).estimate);
  CHECK(curve.at(3).high > curve.at(3).estimate);
  const GammaChoice choice = best_of(curve);
  CHECK(choice.gamma == 3);
  CHECK(choice.reason.find("longest draft") != std::string::npos);
  const SpeedupBounds bounds = speedup_bounds(curve);
  CHECK_FALSE(bounds.guaranteed);
  CHECK_FALSE(bounds.drafting_free);
  // The outcomes are none .1, one .18, two .36, three .36.
  CHECK(bounds.drafting_paid == doctest::Approx(2.98 / (1 + 0.1 * 1.98)));
}

TEST_CASE("speeds near the best") {
  const double speeds[] = {1, 1.8, 1.97, 2, 1.99, 1.5, 1.995};
  CHECK(near_best(speeds, 0.02).low == 2);
  CHECK(near_best(speeds, 0.02).high == 4);
  CHECK(near_best(speeds, 0).low == 3);
  CHECK(near_best(speeds, 0).high == 3);
  CHECK(near_best(speeds, 0.6).low == 0);
}
