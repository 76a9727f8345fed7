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

/// Returns a model small enough to count by hand: 32 + 16 + 96 weights per layer, 40 in each embedding.
Transformer tiny() {
  Transformer model;
  model.layers = 3;
  model.hidden = 4;
  model.heads = 2;
  model.kv_heads = 1;
  model.head_size = 2;
  model.feed_forward = 8;
  model.vocab = 10;
  return model;
}

/// Returns a machine without overheads at full efficiency: the bare roofline.
Machine bare(double flops, double bandwidth) {
  Machine machine;
  machine.device.flops_16bit = flops;
  machine.device.flops_8bit = 2 * flops;
  machine.device.bandwidth = bandwidth;
  machine.device.memory = 1e4;
  machine.device.link = 1e9;
  machine.device.power = 100;
  machine.bandwidth_efficiency = 1;
  machine.flops_efficiency = 1;
  machine.run_overhead = 0;
  machine.layer_overhead = 0;
  machine.reduce_latency = 0;
  return machine;
}

std::string refusal(const std::vector<MeasuredPoint>& points) {
  try {
    MeasuredCost(std::vector<MeasuredPoint>(points));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("weights, FLOPs and bytes of a tiny model, by hand") {
  const Transformer model = tiny();
  CHECK(parameters(model) == 3 * 144 + 80);
  CHECK(active_parameters(model) == 3 * 144 + 40);
  // Keys and values take 2 heads' numbers of 2 bytes, twice, in 3 layers: 24 bytes per token.
  CHECK(cache_bytes(model, 5, {}) == 5 * 24);
  const RunWork done = work(model, {1, 2, 5}, {});
  CHECK(done.flops == 2 * (2 * 472 + 4 * 4 * 3 * 5));
  CHECK(done.bytes == 472 * 2 + 2 * 5 * 24 + 2 * 24);
  Transformer windowed = model;
  Mixer full = mixers_of(model).front();
  full.layers = 1;
  Mixer window = full;
  window.layers = 2;
  window.window = 4;
  windowed.mixers = {window, full};
  CHECK(parameters(windowed) == parameters(model));
  CHECK(cache_bytes(windowed, 10, {}) == 8 * (10 + 4 + 4));
  Transformer translator = model;
  translator.encoder_layers = 3;
  CHECK(parameters(translator) == 3 * (144 + 48) + 3 * 144 + 80);
  // Keys and values of the source are not computed again: only the queries and outputs of cross-attention
  // run.
  CHECK(active_parameters(translator) == 3 * (144 + 32) + 40);
  CHECK(cache_bytes(translator, 5, {}) == 2 * 5 * 24);
}

TEST_CASE("experts touched: 2 of 8 by one token, 3.5 by two, all by many") {
  Transformer model = tiny();
  model.experts = 8;
  model.active_experts = 2;
  model.routing_exponent = 1;
  CHECK(independent_experts(model, 1) == doctest::Approx(2));
  CHECK(independent_experts(model, 2) == doctest::Approx(3.5));
  CHECK(independent_experts(model, 1000) == doctest::Approx(8));
  CHECK(expected_experts(model, 2, 3) == doctest::Approx(independent_experts(model, 6)));
  // A layer has 48 weights of attention, 96 per expert, and 32 of the router.
  CHECK(parameters(model) == 3 * (48 + 8 * 96 + 32) + 80);
  const double once = work(model, {1, 1, 0}, {}).bytes;
  const double twice = work(model, {2, 1, 0}, {}).bytes;
  CHECK(twice - once == doctest::Approx(3 * 1.5 * 96 * 2 + 24));
}

// Counts matrix by matrix, and experts touched token by token: each further token chooses `active` of all, so
// that it adds active (1 - touched / experts) on average.
TEST_CASE("random models with experts and a shared block: stored, multiplied and read as counted by hand") {
  std::mt19937_64 random(54);
  const auto from = [&](int least, int most) {
    return least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1));
  };
  for (int i = 0; i < 200; ++i) {
    Transformer model{.layers = from(1, 6), .hidden = 8 * from(1, 40), .heads = from(1, 8)};
    model.kv_heads = from(1, model.heads);
    model.head_size = from(1, 16);
    model.feed_forward = from(1, 300);
    model.vocab = from(1, 1000);
    model.tied = false;
    model.gated = from(0, 1) == 1;
    model.experts = from(2, 64);
    model.active_experts = from(1, model.experts);
    model.shared_feed_forward = from(0, 2) * from(1, 300);
    model.dense_layers = from(0, model.layers);
    model.dense_feed_forward = from(1, 900);
    model.routing_exponent = 1;
    const double hidden = model.hidden;
    const double matrices = model.gated ? 3 : 2;
    const Run run{double(from(1, 9)), double(from(1, 5)), double(from(0, 50))};
    double touched = 0;
    for (int token = 0; token < run.tokens * run.batch; ++token)
      touched += model.active_experts * (1 - touched / model.experts);
    double stored = 2 * model.vocab * hidden;
    double multiplied = model.vocab * hidden;
    double read = model.vocab * hidden;
    for (int layer = 0; layer < model.layers; ++layer) {
      double alike = 2 * hidden * model.head_size * (model.heads + model.kv_heads);
      const bool dense = layer < model.dense_layers;
      alike += matrices * hidden * (dense ? model.dense_feed_forward : model.shared_feed_forward);
      if (!dense) alike += hidden * model.experts;
      const double expert = dense ? 0 : matrices * hidden * model.feed_forward;
      stored += alike + model.experts * expert;
      multiplied += alike + model.active_experts * expert;
      read += alike + touched * expert;
    }
    CAPTURE(i);
    CHECK(parameters(model) == doctest::Approx(stored).epsilon(1e-12));
    CHECK(active_parameters(model) == doctest::Approx(multiplied).epsilon(1e-12));
    const double caches = 2.0 * model.layers * model.kv_heads * model.head_size * run.batch;
    CHECK(work(model, run, {}).bytes ==
          doctest::Approx(2 * (read + caches * (run.context + run.tokens))).epsilon(1e-12));
  }
}

TEST_CASE("tokens of one sequence share experts, sequences do not") {
  Transformer model = tiny();
  model.experts = 256;
  model.active_experts = 8;
  // Luce-Org/lucebox#501 prints 39.4 and 58.9; independent tokens would touch 57.4 and 97.0.
  CHECK(expected_experts(model, 8, 1) == doctest::Approx(39.4).epsilon(0.03));
  CHECK(expected_experts(model, 15, 1) == doctest::Approx(58.9).epsilon(0.03));
  CHECK(independent_experts(model, 8) > 1.4 * 39.4);
  CHECK(independent_experts(model, 15) > 1.6 * 58.9);
  CHECK(expected_experts(model, 1, 5) == doctest::Approx(independent_experts(model, 5)));
  model.routing_exponent = 0;
  CHECK(expected_experts(model, 15, 1) == doctest::Approx(8));
}

// An independent model: each sequence has its own popular experts, with inclusion probabilities by expert
// from beta(a, 31 a), drawn as Polya's urn. a = 0.1765 gives 39.4 for 8 tokens and, with nothing fitted, 55.2
// for 15 (58.9 measured). Means of 400 runs have a standard error below 0.5 (for one sequence) and 1 (for
// four): bounds are five of them plus the difference of the two distributions, so that false alarms are rarer
// than 1e-6. Sequences that shared experts would touch 76 instead of 124.8, about fifty standard errors away.
TEST_CASE("simulated sequences with popular experts touch as many") {
  constexpr int experts = 256;
  constexpr double a = 0.1765;
  std::mt19937_64 random(501);
  std::uniform_real_distribution<double> uniform(0, 1);
  const auto mean_union = [&](int sequences, int tokens) {
    constexpr int runs = 400;
    int touched = 0;
    for (int expert = 0; expert < runs * experts; ++expert) {
      bool any = false;
      for (int sequence = 0; sequence < sequences; ++sequence) {
        int chosen = 0;
        for (int token = 0; token < tokens; ++token) {
          if (uniform(random) < (a + chosen) / (32 * a + token)) ++chosen;
        }
        any = any || chosen > 0;
      }
      touched += any ? 1 : 0;
    }
    return double(touched) / runs;
  };
  Transformer model = tiny();
  model.experts = experts;
  model.active_experts = 8;
  CHECK(std::abs(mean_union(1, 8) - 39.4) < 2.5);
  CHECK(std::abs(expected_experts(model, 15, 1) - mean_union(1, 15)) < 5.3 + 2.5);
  CHECK(std::abs(expected_experts(model, 8, 4) - mean_union(4, 8)) < 1.6 + 5);
}

TEST_CASE("small batches take bytes over bandwidth, large ones FLOPs over the peak") {
  const Transformer model = tiny();
  const Machine fast_arithmetic = bare(1e12, 1e6);
  const RunTime reading = run_time(fast_arithmetic, model, {1, 2, 5});
  CHECK_FALSE(reading.compute_bound());
  CHECK(reading.total() == doctest::Approx(1232 / 1e6));
  const Machine fast_memory = bare(1e6, 1e12);
  const RunTime computing = run_time(fast_memory, model, {1, 2, 5});
  CHECK(computing.compute_bound());
  CHECK(computing.total() == doctest::Approx(2368 / 1e6));

  // Ratios of times are ratios of bytes, or of FLOPs.
  Transformer small = model;
  small.layers = 1;
  const CostPair memory_bound{RooflineCost{fast_arithmetic, model}, RooflineCost{fast_arithmetic, small}};
  CHECK(draft_cost(memory_bound, {1, 0}) == doctest::Approx((184.0 * 2 + 8) / (472 * 2 + 24)));
  CHECK(verify_cost(memory_bound, 3, {1, 0}) == doctest::Approx((944.0 + 4 * 24) / (944 + 24)));
  const CostPair compute_bound{RooflineCost{fast_memory, model}, RooflineCost{fast_memory, small}};
  CHECK(draft_cost(compute_bound, {8, 0}) == doctest::Approx(184.0 / 472));
  CHECK(verify_cost(compute_bound, 3, {8, 0}) == doctest::Approx(4));
}

TEST_CASE("devices in parallel share the work and pay for all-reduces") {
  Machine machine = bare(1e12, 1e6);
  machine.devices = 4;
  machine.reduce_latency = 1e-5;
  machine.run_overhead = 1e-4;
  machine.layer_overhead = 1e-6;
  const RunTime time = run_time(machine, tiny(), {1, 2, 5});
  // The cache of its one head of keys, 288 bytes read and written, is copied to each.
  CHECK(time.memory == doctest::Approx((944 + 4 * 288) / 4e6));
  CHECK(time.overhead == doctest::Approx(1e-4 + 3e-6));
  // There are six all-reduces of 2 tokens of 4 numbers of 2 bytes; each link carries 3/2 of that.
  CHECK(time.communication == doctest::Approx(6 * (1e-5 + 1.5 * 16 / 1e9)));
  machine.precision.arithmetic_bits = 8;
  CHECK(peak_flops(machine) == 8e12);
}

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

TEST_CASE("energy: 32 pJ a byte and the board's power over its peak a FLOP") {
  const Machine machine = bare(1e12, 1e6);
  CHECK(energy(machine, {.flops = 1e12, .bytes = 0}) == doctest::Approx(100));
  CHECK(energy(machine, {.flops = 0, .bytes = 1e12}) == doctest::Approx(32));
  const RooflineCost cost{machine, tiny()};
  const TokenWork plain = work_per_token(cost, cost, 0, 1, {2, 5});
  CHECK(plain.bytes == doctest::Approx(1232.0 / 2));
  const TokenWork speculative = work_per_token(cost, cost, 2, 2.5, {2, 5});
  const double verifying = work(tiny(), {3, 2, 5}, {}).bytes;
  CHECK(speculative.bytes == doctest::Approx((verifying + 2 * 1232) / 5));
}

TEST_CASE("a plain token of Llama-3.1-8B on an H100 reads 15 GB: memory-bound, some 6 ms") {
  const Machine machine = h100();
  const Transformer model = llama_8b();
  const RunTime time = run_time(machine, model, {1, 1, 1024});
  CHECK_FALSE(time.compute_bound());
  CHECK(time.total() > 14.9e9 / 3.35e12);
  CHECK(time.total() < 0.007);
  CHECK(run_time(machine, model, {8, 512, 128}).compute_bound());
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
  const MeasuredPoint late[] = {{2, 2, 7}};
  CHECK(MeasuredCost(late).ms(1, 1) == 7);
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
