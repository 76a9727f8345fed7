#include "analysis/cost/roofline.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <set>
#include <string>

#include "analysis/cost/device_speed.hpp"
#include "tests/analysis/cost/shapes.hpp"

using namespace speclab;

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
  machine.precision.arithmetic = MatrixFormat::int8;
  CHECK(peak_flops(machine) == 8e12);
  // Without units for FP8 these are multiplied in 16 bits, however fast integers are.
  machine.precision.arithmetic = MatrixFormat::fp8;
  CHECK(peak_flops(machine) == 4e12);
  machine.device.flops_fp8 = 2e12;
  CHECK(peak_flops(machine) == 8e12);
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
