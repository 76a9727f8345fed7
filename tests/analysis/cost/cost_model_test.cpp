#include "analysis/cost/device_speed.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <stdexcept>
#include <string>

#include "analysis/cost/speedup_curve.hpp"
#include "analysis/theory/optimal_gamma.hpp"
#include "analysis/theory/theorems.hpp"
#include "tests/analysis/cost/shapes.hpp"

using namespace speclab;

namespace {

std::string refusal(const std::vector<MeasuredPoint>& points) {
  try {
    MeasuredCost(std::vector<MeasuredPoint>(points));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("memory: how many sequences fit beside the weights") {
  const Machine machine = bare(1e12, 1e6);
  const Transformer model = tiny();
  // 9000 bytes less 1024 of weights remain; a sequence of 10 tokens takes 240.
  const RooflineCost cost{machine, model};
  const auto largest = [](const CostPair& costs, double context, double share) {
    return device_memory(costs, {1, context}, share, 5)->largest_batch;
  };
  CHECK(largest({cost, ConstantCost{1}}, 10, 0.9) == 33);
  CHECK(largest({cost, cost}, 10, 0.9) == std::floor((9000.0 - 2048) / 480));
  RooflineCost narrow = cost;
  narrow.machine.precision.weight_bytes /= 2;
  CHECK(largest({cost, narrow}, 10, 0.9) == std::floor((9000.0 - 1536) / 480));
  CHECK(largest({cost, ConstantCost{1}}, 10, 0.1) < 0);
  CHECK_FALSE(largest({cost, ConstantCost{1}}, 0, 0.9));
}

TEST_CASE("measured times are bilinear, constant before the grid, and go on rising beyond it") {
  const MeasuredPoint points[] = {{1, 1, 10}, {5, 1, 12}, {1, 8, 14}, {5, 8, 24}};
  const MeasuredCost cost(points);
  CHECK(cost.ms(1, 1) == 10);
  CHECK(cost.ms(5, 8) == 24);
  CHECK(cost.ms(3, 1) == 11);
  CHECK(cost.ms(3, 4.5) == doctest::Approx((10 + 12 + 14 + 24) / 4.0));
  CHECK(cost.ms(9, 1) == 14);
  CHECK(cost.ms(1, 15) == 18);
  const MeasuredPoint falling[] = {{1, 1, 10}, {5, 1, 8}};
  CHECK(MeasuredCost(falling).ms(9, 3) == 8);
  CHECK(MeasuredCost(falling).flat_end() == "from 1 to 5 tokens at batch 1");
  CHECK(cost.flat_end().empty());
  CHECK_FALSE(cost.falls());
  CHECK(MeasuredCost(falling).falls());
  const MeasuredPoint flat[] = {{1, 1, 10}, {5, 1, 12}, {1, 8, 14}, {5, 8, 12}};
  CHECK(MeasuredCost(flat).flat_end() == "from 1 to 5 tokens at batch 8");
  const MeasuredPoint narrow[] = {{1, 1, 10}, {1, 4, 12}, {1, 8, 12}};
  CHECK(MeasuredCost(narrow).flat_end() == "of 1 tokens from 4 to 8 sequences");
  const MeasuredPoint late[] = {{2, 2, 7}};
  CHECK(MeasuredCost(late).ms(1, 1) == 7);
}

TEST_CASE("nothing is known of batches and drafts outside of the measured ones") {
  const MeasuredPoint target[] = {{1, 2, 10}, {6, 2, 12}, {1, 8, 14}, {6, 8, 24}};
  const MeasuredPoint draft[] = {{1, 1, 1}, {1, 4, 2}};
  const KnownCosts own = known_costs({MeasuredCost(target), ConstantCost{1}, DraftRuns::a_token});
  CHECK(own.measured());
  CHECK(own.min_batch == 2);
  CHECK(own.max_batch == 8);
  CHECK(own.max_gamma == 5);  // a round verifies gamma + 1 tokens
  const KnownCosts both = known_costs({MeasuredCost(target), MeasuredCost(draft), DraftRuns::a_token});
  CHECK(both.min_batch == 2);
  CHECK(both.max_batch == 4);
  CHECK(both.max_gamma == 5);
  CHECK(known_costs({MeasuredCost(target), MeasuredCost(draft), DraftRuns::a_round}).max_gamma == 1);
  CHECK_FALSE(known_costs({ConstantCost{1}, ConstantCost{0.1}, DraftRuns::a_token}).measured());
  // The best gamma and the limit of a batch are sought from the smallest measured batch on.
  const CostPair costs{MeasuredCost(target), ConstantCost{1}, DraftRuns::a_token};
  const std::vector<double> tokens = {1, 1.9, 2.7};
  const auto ranges = gamma_by_batch(tokens, costs, 0, 8, 2);
  CHECK(ranges.front().first == 2);
  CHECK(ranges.back().last == 8);
  CHECK(batch_limit(1, 1, costs, 0, 8, 2) == 1);
  CHECK(batch_limit(2.7, 2, costs, 0, 8, 2) == 8);
}

TEST_CASE("measured times that say too little or too much are refused") {
  CHECK(refusal({}) == "no measured times");
  CHECK(refusal({{1, 1, 10}, {1, 1, 11}}) == "tokens 1, batch 1: measured twice");
  // A grid of 10^11 numbers is not stored to find its missing points.
  std::vector<MeasuredPoint> diagonal;
  for (int i = 1; i <= 300000; ++i) diagonal.push_back({double(i), double(i), 1});
  CHECK(refusal(diagonal).starts_with("tokens 1, batch 2: missing"));
  CHECK(refusal({{1, 1, 10}, {5, 8, 11}}).starts_with("tokens 1, batch 8: missing"));
  CHECK(refusal({{1, 1, 0}}).starts_with("tokens 1, batch 1, ms 0: "));
  CHECK(refusal({{0.5, 1, 3}}).starts_with("tokens 0.5, batch 1, ms 3: "));
  CHECK(refusal({{1, 1, std::nan("")}}) != "");
}

TEST_CASE("a round costs its drafts and its target run, in plain target runs") {
  const MeasuredPoint target[] = {{1, 1, 10}, {1, 8, 12}, {20, 1, 18}, {20, 8, 40}};
  const MeasuredPoint draft[] = {{1, 1, 1}, {1, 8, 2}, {20, 1, 3}, {20, 8, 5}};
  const Operation at{3, 100};
  for (const DraftRuns runs : {DraftRuns::a_token, DraftRuns::a_round}) {
    for (const CostPair& costs : {CostPair{MeasuredCost(target), MeasuredCost(draft), runs},
                                  CostPair{ConstantCost{2}, ConstantCost{0.1}, runs}}) {
      const RoundCosts rounds = round_costs(costs, 12, at);
      REQUIRE(rounds.last() == 12);
      CHECK(rounds.runs == runs);
      CHECK(rounds.constant == std::holds_alternative<ConstantCost>(costs.target));
      const double plain = run_ms(costs.target, {1, 3, 100});
      CHECK(rounds.of(0) == 1);
      CHECK(rounds.c == doctest::Approx(run_ms(costs.draft, {1, 3, 100}) / plain));
      for (int gamma = 1; gamma <= 12; ++gamma) {
        const double drafts = runs == DraftRuns::a_round ? run_ms(costs.draft, {double(gamma), 3, 100})
                                                         : gamma * run_ms(costs.draft, {1, 3, 100});
        const double verifying = run_ms(costs.target, {gamma + 1.0, 3, 100});
        CHECK(rounds.of(gamma) == doctest::Approx((drafts + verifying) / plain));
      }
    }
  }
}

TEST_CASE("with constant costs the speed is Theorem 3.8's, and its best gamma optimal_gamma's") {
  for (const double alpha : {0.3, 0.62, 0.9}) {
    for (const double c : {0.01, 0.05, 0.4}) {
      const CostPair costs{ConstantCost{1}, ConstantCost{c}};
      const auto found = speedups(iid_tokens(alpha, 60), round_costs(costs, 60, {}));
      for (int gamma = 0; gamma <= 60; ++gamma) {
        CHECK(found[static_cast<std::size_t>(gamma)] == doctest::Approx(speedup(alpha, gamma, c)));
      }
      const auto best = std::max_element(found.begin(), found.end()) - found.begin();
      CHECK(best == optimal_gamma(alpha, c).gamma.value());
    }
  }
}

TEST_CASE("at other costs: what each combination of other assumptions gives by itself") {
  Machine machine = h100(4);
  machine.bandwidth_efficiency = 0.9;  // a fifth more reaches 1
  const Transformer target = llama_70b();
  const Transformer draft = llama_1b();
  const Operation at{64, 2048};
  const auto speed = [&](const Machine& on, bool given) {
    const double plain = run_time(on, target, {1, 64, 2048}).total();
    const double drafting = given ? 0.1 * plain : run_time(on, draft, {1, 64, 2048}).total();
    return 3 * plain / (5 * drafting + run_time(on, target, {6, 64, 2048}).total());
  };
  for (const bool given : {false, true}) {
    double low = 1e9;
    double high = 0;
    for (int kind = 0; kind < 8; ++kind) {
      Machine other = machine;
      other.bandwidth_efficiency = kind % 2 == 0 ? 0.72 : 1;
      other.flops_efficiency = kind / 2 % 2 == 0 ? 0.56 : 0.84;
      for (double* overhead : {&other.run_overhead, &other.layer_overhead, &other.reduce_latency})
        *overhead *= kind < 4 ? 0.5 : 2;
      low = std::min(low, speed(other, given));
      high = std::max(high, speed(other, given));
    }
    CostPair costs{RooflineCost{machine, target}, RooflineCost{machine, draft}};
    if (given) costs.draft = ConstantCost{0.1 * run_ms(costs.target, {1, 64, 2048})};
    const SpeedupRange range = speedup_at_other_costs(3, costs, 5, at).value();
    CAPTURE(given);
    CHECK(range.low == doctest::Approx(low).epsilon(1e-12));
    CHECK(range.high == doctest::Approx(high).epsilon(1e-12));
    CHECK(range.low < speed(machine, given));
    CHECK(speed(machine, given) < range.high);
  }
  CHECK_FALSE(speedup_at_other_costs(3, {ConstantCost{1}, ConstantCost{0.1}}, 5, at));
}

TEST_CASE("the best gamma by batch is that of each batch alone, and falls to nothing") {
  Machine machine = h100(4);
  const CostPair costs{RooflineCost{machine, llama_70b()}, RooflineCost{machine, llama_1b()}};
  const auto tokens = iid_tokens(0.75, 16);
  const auto ranges = gamma_by_batch(tokens, costs, 1024, 600);
  CHECK(ranges.front().first == 1);
  CHECK(ranges.front().gamma > 3);
  CHECK(ranges.back().last == 600);
  int next = 1;
  for (const BatchRange& range : ranges) {
    CHECK(range.first == next);
    next = range.last + 1;
    for (const int batch : {range.first, range.last}) {
      const auto here = speedups(tokens, round_costs(costs, 16, {double(batch), 1024}));
      CHECK(std::max_element(here.begin(), here.end()) - here.begin() == range.gamma);
      CHECK(here[static_cast<std::size_t>(range.gamma)] >= range.min_speedup);
    }
  }
  CHECK(gamma_by_batch(iid_tokens(0.4, 16), costs, 16, 4000).back().gamma == 0);
  const int limit = batch_limit(tokens[7], 7, costs, 1024, 600);
  CHECK(limit > 1);
  CHECK(limit < 600);
  CHECK(speedups(tokens, round_costs(costs, 16, {double(limit), 1024}))[7] > 1);
  CHECK(speedups(tokens, round_costs(costs, 16, {limit + 1.0, 1024}))[7] <= 1);
  CHECK(batch_limit(tokens[1], 1, costs, 1024, 20) == 20);
  CHECK(batch_limit(1.0, 1, costs, 1024, 20) == 0);
}
