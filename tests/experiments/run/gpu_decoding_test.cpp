// Compares the simulating kernels, emulated, with the CPU's own loops: outcomes are equal, and results have
// the same bytes.
#include "experiments/run/gpu_decoding.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <nlohmann/json.hpp>
#include <string>

#include "experiments/base/format/json_io.hpp"
#include "experiments/config/config.hpp"
#include "experiments/run/run_config.hpp"
#include "sim/compiled_rule.hpp"
#include "sim/fast/fast_pair.hpp"
#include "sim/fast/iid_decode.hpp"
#include "sim/models/synthetic.hpp"
#include "tests/experiments/config_error_of.hpp"
#include "tests/experiments/run_of.hpp"

using namespace speclab;

namespace {

SimulationSize plan_of(std::uint32_t trials, std::uint32_t length, std::uint32_t batches) {
  SimulationSize plan;
  plan.seed = 9;
  plan.trials = trials;
  plan.length = length;
  plan.batches = batches;
  plan.prompts = {{1, 0, 2}, {}, {2}};
  return plan;
}

bool same(const Outcome& a, const Outcome& b) {
  return a.batches == b.batches && a.work == b.work && a.partial == b.partial;
}

TableModel random_table(std::int32_t vocab, std::int32_t order, std::uint64_t seed) {
  std::uint32_t rows = 1;
  for (std::int32_t k = 0; k < order; ++k) rows *= static_cast<std::uint32_t>(vocab);
  return {vocab, order, dirichlet_rows(vocab, rows, 0.5, seed)};
}

Json with(Json config, const std::string& more) {
  config.update(parse_json(more));
  return config;
}

Json tables(const std::string& more) {
  return with(parse_json(R"({
    "title": "test", "seed": 3,
    "models": {"target": {"kind": "markov", "vocab": 12, "concentration": 0.5, "seed": 1},
               "draft": {"kind": "mixture", "epsilon": 0.4, "other": {"kind": "uniform"}}},
    "gamma": 4, "simulation": {"trials": 70, "length": 300, "batches": 32}
  })"),
              more);
}

Json independent(const std::string& more) {
  return with(parse_json(R"({"title": "test", "experiment": "iid", "alpha": 0.7, "gamma": 6,
    "cost": {"c": 0.1}, "simulation": {"trials": 33, "length": 501}})"),
              more);
}

RunResult run(const Json& config, Backend backend, const Control& control = {}) {
  return run_config(
      read_config(config), [&](std::uint64_t) { return control; },
      [](const RunIdentity&) { return Resumption{}; }, backend);
}

std::string bytes(const RunResult& found) { return result_json(found.result).dump(); }

}  // namespace

TEST_CASE("independent acceptances: the outcome of decode_iid, with its work") {
  for (const auto& [trials, length, batches] :
       {std::array<std::uint32_t, 3>{1, 1, 2}, {3, 1001, 7}, {64, 33, 64}, {2, 1'500'001, 2}}) {
    for (const double alpha : {0.0, 0.8, 1.0}) {
      for (const std::int32_t gamma : {0, 5, 64}) {
        const SimulationSize plan = plan_of(trials, length, batches);
        const Outcome expected = decode_iid(alpha, gamma, plan);
        CHECK(same(decode_iid_on(Backend::emulated, alpha, gamma, plan, {}), expected));
        CHECK(same(decode_iid_on(Backend::cpu, alpha, gamma, plan, {}), expected));
      }
    }
  }
  CHECK(!same(decode_iid_on(Backend::emulated, 0.8, 5, plan_of(3, 1001, 7), {}),
              decode_iid(0.801, 5, plan_of(3, 1001, 7))));
}

TEST_CASE("tables: the outcome of QuickPair::decode, with its work") {
  for (const auto& [target_order, draft_order] : {std::pair{0, 0}, {1, 1}, {2, 2}, {1, 0}, {2, 1}, {1, 3}}) {
    const Model target(random_table(6, target_order, 1));
    const Model draft(random_table(6, draft_order, 2));
    for (const AnyRule& rule : {AnyRule(TokenRule{}), AnyRule(LenienceRule{0.6, Residual::literal})}) {
      const FastPair pair(target, draft, rule);
      for (const auto& [trials, length, batches] :
           {std::array<std::uint32_t, 3>{1, 1, 2}, {37, 60, 11}, {300, 7, 64}, {1, 501, 8}}) {
        for (const std::int32_t gamma : {0, 1, 5, 20}) {
          const SimulationSize plan = plan_of(trials, length, batches);
          const Outcome expected = pair.decode(gamma, plan);
          CHECK(same(decode_pair_on(Backend::emulated, pair, gamma, plan, {}), expected));
        }
      }
      SimulationSize other = plan_of(37, 60, 11);
      const Outcome expected = pair.decode(5, other);
      other.prompts = {{1, 0, 2}, {2}, {}};
      const bool matters = std::max(target_order, draft_order) > 0;
      CHECK(same(decode_pair_on(Backend::emulated, pair, 5, other, {}), expected) == !matters);
    }
  }
}

TEST_CASE("whole results have the same bytes") {
  for (const Json& config :
       {tables("{}"), tables(R"({"rule": {"kind": "lenient", "lenience": 0.5}, "gamma": 0})"),
        tables(R"({"sweep": {"/gamma": [0, 1, 2, 8], "/models/draft/epsilon": [0.1, 0.9]}})"),
        tables(R"({"experiment": "optimal_gamma", "search": {"max_gamma": 4}, "cost": {"c": 0.05},
          "models": {"target": {"kind": "dirichlet", "vocab": 20, "seed": 1},
                     "draft": {"kind": "mixture", "alpha": 0.8, "other": {"kind": "uniform"}}}})"),
        tables(R"({"simulation": {"trials": 70, "length": 300, "prompt": [3]}})"), independent("{}"),
        independent(R"({"sweep": {"/gamma": [0, 3], "/alpha": [0, 0.5, 1]}})")}) {
    const RunResult on_cpu = run(config, Backend::cpu);
    CHECK(bytes(on_cpu) == bytes(run(config, Backend::emulated)));
    CHECK_FALSE(on_cpu.result.partial);
    CHECK_FALSE(on_cpu.timings.device);
  }
  CHECK(bytes(run(tables("{}"), Backend::cpu)) != bytes(run(tables(R"({"seed": 4})"), Backend::emulated)));
}

TEST_CASE("a stopped run has whole rounds and is partial") {
  std::atomic<std::uint64_t> told{0};
  Control control;
  control.progress = [&](std::uint64_t rounds) { told += rounds; };
  control.stop = [&] { return told > 0; };
  const Model target(random_table(6, 1, 1));
  const FastPair pair(target, target, AnyRule(TokenRule{}));
  // One launch takes fewer steps of a sequence than these.
  const SimulationSize plan = plan_of(3, 400'000, 2);
  const Outcome found = decode_pair_on(Backend::emulated, pair, 3, plan, control);
  CHECK(found.partial);
  CHECK(found.total().rounds == told);
  CHECK(found.total().rounds < plan.total());
  CHECK(found.total().overlap_contexts == found.total().emitted);
  CHECK(run(tables("{}"), Backend::emulated, control).result.partial);
}

TEST_CASE("what the GPU cannot run is refused, with the place and what can be run") {
  const auto refused = [](const Json& config) {
    return config_error_of([&] { run(config, Backend::cuda); });
  };
  const auto says = [](const std::string& sentence, const char* path, const char* what) {
    INFO(sentence);
    CHECK(sentence.find(path) != std::string::npos);
    CHECK(sentence.find(what) != std::string::npos);
    CHECK(sentence.find("--backend cpu") != std::string::npos);
  };
  says(refused(tables(R"({"experiment": "acceptance"})")), "/experiment",
       "\"acceptance\" does not run on the GPU");
  says(refused(read_part(tables(R"({"experiment": "trace"})"))), "/experiment",
       "\"trace\" does not run on the GPU");
  says(refused(tables(R"({"rule": {"kind": "block"}})")), "/rule", "no form for the GPU");
  says(refused(tables(R"({"engine": "plain"})")), "/engine", "\"plain\" reads whole rows");
  says(refused(tables(R"({"simulation": {"trials": 1, "length": 20, "batches": 2}})")), "/simulation",
       "\"fast\"");
  says(refused(tables(R"({"models": {"target": {"kind": "markov", "vocab": 12, "seed": 1},
                                     "draft": {"kind": "cached", "base": {"kind": "uniform", "vocab": 12}}}})")),
       "/models", "not stored");
  CHECK_THROWS_AS(backend_named("gpu"), UsageError);
  CHECK(backend_named("cpu") == Backend::cpu);
}
