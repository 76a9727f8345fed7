#include "experiments/run/run_config.hpp"

#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <atomic>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "experiments/base/format/json_io.hpp"
#include "tests/bounds.hpp"
#include "tests/experiments/run_of.hpp"

using namespace speclab;

namespace {

/// Returns a decoding config with one exact alpha, small enough for many runs.
Json config_of(const std::string& more) {
  Json config = parse_json(R"({
    "title": "test",
    "experiment": "decode",
    "seed": 20231,
    "models": {"target": {"kind": "zipf", "vocab": 32},
               "draft": {"kind": "mixture", "alpha": 0.8, "other": {"kind": "zipf", "reversed": true}}},
    "gamma": 3,
    "simulation": {"trials": 64, "length": 1000},
    "confidence": 0.9999999, "simultaneous": true
  })");
  config["seed"] = test_seed(20231);
  config.update(parse_json(more));
  return read_part(config);
}

Result run(const Json& config) { return run_of(config).result; }

std::string bytes(const Json& config, std::size_t threads) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
  return bytes_of(run(config));
}

bool contains(const Interval& interval, double value) {
  return interval.low <= value && value <= interval.high;
}

double estimate(const CellResult& cell, Metric metric) {
  const Interval* interval = find(cell.simulated, metric);
  REQUIRE(interval != nullptr);
  return interval->estimate;
}

const std::string markov_models = R"("models": {
    "target": {"kind": "markov", "vocab": 8, "concentration": 0.5, "seed": 3},
    "draft": {"kind": "mixture", "epsilon": 0.5, "other": {"kind": "uniform"}}})";

}  // namespace

TEST_CASE("a result has the same bytes at one thread and at two") {
  for (const std::string& more :
       {std::string(R"({"sweep": {"/gamma": [1, 4], "/models/draft/alpha": [0.6, 0.9]}})"),
        R"({"experiment": "acceptance", )" + markov_models + "}",
        R"({"experiment": "optimal_gamma", "cost": {"c": 0.1, "c_hat": 0.1}, "search": {"max_gamma": 6}})" +
            std::string(),
        std::string(R"({"experiment": "trace"})")}) {
    CAPTURE(more);
    const Json config = config_of(more);
    CHECK(bytes(config, 1) == bytes(config, 2));
  }
}

TEST_CASE("cells of Table 1: the simulated intervals hold the formulas") {
  // Null: every formula is the mean of the estimated quantity. The intervals of all cells hold together with
  // confidence 1 - 1e-7, the highest that the format allows (Sidak, Student's t over 64 batches).
  const Result result = run(config_of(R"({
    "cases": [{"label": "a", "set": {"/models/draft/alpha": 0.6, "/gamma": 2}, "printed": {"operations": "1.53", "speedup": "1.96"}},
              {"label": "b", "set": {"/models/draft/alpha": 0.8, "/gamma": 5}, "printed": {"operations": "1.63", "speedup": "3.69"}},
              {"label": "c", "set": {"/models/draft/alpha": 0.9, "/gamma": 10}, "printed": {"operations": "1.60", "speedup": "9.99"}}]
  })"));
  REQUIRE(result.cells.size() == 3);
  CHECK_FALSE(result.partial);
  for (const CellResult& cell : result.cells) {
    CAPTURE(cell.label);
    CHECK(cell.agreement.size() == 6);
    for (const auto& [name, agrees] : cell.agreement) {
      CAPTURE(name);
      CHECK(agrees);
      const Metric metric = known_metric(name);
      CHECK(contains(*find(cell.simulated, metric), *find(cell.formula, metric)));
    }
    CHECK(cell.counts.rounds == 64000);
    CHECK(*find(cell.verdict, Metric::operations) == Reproduction::reproduces);
  }
  CHECK(*find(result.cells[1].formula, Metric::speedup) == doctest::Approx(3.68928));
  CHECK(*find(result.cells[1].verdict, Metric::speedup) == Reproduction::reproduces);
  CHECK(*find(result.cells[2].verdict, Metric::speedup) == Reproduction::does_not_reproduce);
  // Power: a simulation at alpha = .78 is distinguished from the formula at .8.
  const Result other = run(config_of(R"({"gamma": 5, "models": {"target": {"kind": "zipf", "vocab": 32},
    "draft": {"kind": "mixture", "alpha": 0.78, "other": {"kind": "zipf", "reversed": true}}}})"));
  CHECK_FALSE(contains(*find(other.cells[0].simulated, Metric::tokens_per_target_step), 3.68928));
}

TEST_CASE("a planted fault is caught by the agreement of a decode") {
  // A fault that resamples the target keeps acceptance i.i.d., and so the formulas: only `check` can find it.
  // A rule that accepts everything changes alpha itself. The agreement must catch a wrong alpha, as above.
  const Result result = run(config_of(R"({"rule": {"kind": "fault-accept-all"}})"));
  CHECK(result.cells[0].exact_alpha.value() == doctest::Approx(1));
  CHECK(estimate(result.cells[0], Metric::tokens_per_target_step) == 4);
}

TEST_CASE("cells that differ in cost alone share one simulation") {
  const Json config = config_of(R"({"sweep": {"/cost/c": [0, 0.05, 0.2]}})");
  const Workload work = measure_workload(read_config(config));
  CHECK(work.cells == 3);
  CHECK(work.steps == 64000);
  const Result result = run(config);
  for (const CellResult& cell : result.cells) {
    using enum Metric;
    for (const Metric metric : {alpha_overlap, alpha_examined, tokens_per_target_step, memory_accesses}) {
      CHECK(estimate(cell, metric) == estimate(result.cells[0], metric));
    }
  }
  CHECK(estimate(result.cells[0], Metric::speedup) > estimate(result.cells[2], Metric::speedup));
  CHECK(measure_workload(read_config(config_of(R"({"sweep": {"/gamma": [1, 2, 3]}})"))).steps == 3 * 64000);
  CHECK(measure_workload(read_config(config_of(R"({"sweep": {"/models/draft/alpha": [0.6, 0.7]}})"))).steps ==
        2 * 64000);
}

TEST_CASE("optimal_gamma: the simulated optimum agrees with the formula's") {
  const Result result = run(config_of(
      R"({"experiment": "optimal_gamma", "cost": {"c": 0.1, "c_hat": 0.1}, "search": {"max_gamma": 10}})"));
  const CellResult& cell = result.cells[0];
  const Json own = result_json(result).at("cells").at(0).at("search");
  CHECK(own.at("speedup_by_gamma").size() == 11);
  CHECK(own.at("capped") == false);
  CHECK(cell.agreement == OrderedMap<bool>{{"optimal_gamma", true}});
  CHECK(std::abs(estimate(cell, Metric::optimal_gamma) - 5) <= 1);
}

TEST_CASE("batches that do not divide the rounds are estimates all the same") {
  const Result result = run(config_of(R"({"simulation": {"trials": 5, "length": 13, "batches": 64}})"));
  CHECK_FALSE(result.cells[0].simulated.empty());
  CHECK_FALSE(result.partial);
}

TEST_CASE("stopped from the start: partial, and no numbers") {
  for (const char* experiment : {"decode", "acceptance", "optimal_gamma"}) {
    const Json config = config_of(std::string(R"({"experiment": ")") + experiment + "\"}");
    const RunResult stopped = run_config(read_config(config), [](std::uint64_t) {
      Control control;
      control.stop = [] { return true; };
      return control;
    });
    CHECK(stopped.result.partial);
    CHECK(stopped.result.cells[0].partial);
    CHECK(stopped.result.cells[0].simulated.empty());
  }
}

TEST_CASE("an interrupted run goes on where it stopped, to the same bytes") {
  const Json config = config_of(R"({"sweep": {"/gamma": [1, 2, 3, 4, 5, 6, 7, 8]}})");
  const Result complete = run(config);
  std::atomic<std::uint64_t> done{0};
  const Result part = run_config(read_config(config), [&](std::uint64_t total) {
                        Control control;
                        control.progress = [&](std::uint64_t steps) { done += steps; };
                        control.stop = [&done, total] { return done > total / 2; };
                        return control;
                      }).result;
  REQUIRE(part.partial);

  std::uint64_t left = 0;
  const auto count_work = [&](std::uint64_t total) {
    left = total;
    return Control{};
  };
  run_config(read_config(config), count_work);
  const std::uint64_t whole = left;
  // The result passes through text, as from a file.
  const Result from_text = read_result(Json::parse(bytes_of(part)));
  const Result resumed = run_config(read_config(config), count_work, going_on_from(from_text)).result;
  CHECK(bytes_of(resumed) == bytes_of(complete));
  CHECK(left > 0);
  CHECK(left < whole);
}

TEST_CASE("progress adds up to the announced total") {
  std::atomic<std::uint64_t> done{0};
  std::uint64_t announced = 0;
  run_config(read_config(config_of(R"({"sweep": {"/gamma": [1, 2]}})")), [&](std::uint64_t total) {
    announced = total;
    Control control;
    control.progress = [&](std::uint64_t more) { done += more; };
    return control;
  });
  CHECK(announced == 2 * 64000);
  CHECK(done == announced);
}
