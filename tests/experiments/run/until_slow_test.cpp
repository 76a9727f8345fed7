// Tests simulations that continue until an interval is narrow.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/statistics/estimates.hpp"
#include "analysis/statistics/multiple_tests.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/support/machine.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/run/jobs.hpp"
#include "sim/doubling.hpp"
#include "sim/fast/iid_decode.hpp"
#include "sim/parallel.hpp"
#include "tests/experiments/config_error_of.hpp"
#include "tests/experiments/run_of.hpp"

using namespace speclab;

namespace {

constexpr double truth = 0.8;
constexpr int gamma_of_looks = 5;
constexpr double c_of_looks = 0.05;

Result result_until(const std::string& text) { return run_of(parse_json(text)).result; }

const std::string models =
    R"("models": {"target": {"kind": "markov", "vocab": 12, "concentration": 0.5, "seed": 3},
  "draft": {"kind": "mixture", "epsilon": 0.5, "other": {"kind": "uniform"}}})";

std::string error_until(const std::string& text) {
  return config_error_of([&] { result_until(text); });
}

/// Returns the number of seeds for which the interval excludes the true speedup at any of `looks` looks.
int seeds_that_exclude(int seeds, int looks, double confidence) {
  const double emitted = (1 - std::pow(truth, gamma_of_looks + 1)) / (1 - truth);
  const double speedup = emitted / (gamma_of_looks * c_of_looks + 1);
  std::vector<int> excluded(static_cast<std::size_t>(seeds));
  for_each_index(excluded.size(), [&](std::size_t seed) {
    SimulationSize size;
    size.seed = 1000 + seed;
    size.trials = 64;
    size.length = 16;
    size = doubling_size(size);
    Outcome outcome = decode_iid(truth, gamma_of_looks, size, {});
    for (int look = 1;; ++look) {
      for (const Estimate& one :
           estimates(outcome.batches, {c_of_looks, 0}, confidence, Independence::rounds)) {
        if (one.name == "speedup" && !one.interval->holds(speedup)) excluded[seed] = 1;
      }
      if (look == looks) break;
      const Outcome first = std::move(outcome);
      size = second_half_of_double(size);
      outcome = decode_iid(truth, gamma_of_looks, size, {});
      add_first_half(first, outcome);
    }
  });
  return static_cast<int>(std::count(excluded.begin(), excluded.end(), 1));
}

}  // namespace

TEST_CASE("200 seeds reach their half-width, with the coverage that they state") {
  const Result result = result_until(R"({"title": "t", "experiment": "iid", "alpha": 0.8, "cost": {"c": 0.05},
    "simulation": {"trials": 64, "length": 50, "until": {"metric": "speedup", "half_width": 0.01, "relative": true, "max_rounds": 1e7}},
    "sweep": {"/seed": {"from": 1, "to": 200, "step": 1}}})");
  int missed = 0;
  int later = 0;
  for (const CellResult& cell : result.cells) {
    REQUIRE(cell.until);
    CHECK(cell.until->reached);
    later += cell.until->looks > 1 ? 1 : 0;
    const Interval interval = *value_of(cell.simulated, Metric::speedup);
    CHECK(interval.half_width() <= 0.01 * interval.estimate);
    missed += interval.holds(*value_of(cell.formula, Metric::speedup)) ? 0 : 1;
  }
  CHECK(later == 200);
  // Null: each seed misses with probability at most 5%. P[Binomial(200, 0.05) > 33] < 1e-9.
  CHECK(missed <= 33);
}

TEST_CASE("long: intervals of all looks hold together, and those of one look do not") {
  constexpr int seeds = 1000;
  constexpr int looks = 8;
  // Null: any look excludes the truth with probability at most 5%. P[Binomial(1000, 0.05) > 94] < 1e-9.
  constexpr int bound = 94;
  const int ours = seeds_that_exclude(seeds, looks, look_confidence(0.95, looks));
  // The planted fault uses 95% at each look, as if there were no others.
  const int naive = seeds_that_exclude(seeds, looks, 0.95);
  MESSAGE("some look excludes the truth: ", ours, " of 1000 seeds, and ", naive, " without correction");
  CHECK(ours <= bound);
  CHECK(naive > bound);
}

TEST_CASE("where it ended, a simulation has the counts of one of that size") {
  const std::string size =
      R"("simulation": {"trials": 10, "length": 40, "batches": 7, "until": {"half_width": 0.02, "relative": true}})";
  for (const std::string& experiment :
       {R"("experiment": "iid", "alpha": 0.7)" + std::string(), R"("engine": "plain", )" + models,
        R"("engine": "fast", )" + models, R"("experiment": "acceptance", )" + models}) {
    CAPTURE(experiment);
    const bool acceptance = experiment.find("acceptance") != std::string::npos;
    Json config = parse_json(R"({"title": "t", )" + experiment + ", " + size + "}");
    if (acceptance) config["simulation"]["until"] = {{"metric", "alpha_overlap"}, {"half_width", 0.005}};
    const Result until = run_of(config).result;
    REQUIRE(until.cells[0].until);
    CHECK(until.cells[0].until->reached);
    CHECK(until.cells[0].until->looks > 1);
    config["simulation"].erase("until");
    config["simulation"]["trials"] = until.cells[0].until->trials;
    config["simulation"]["batches"] = until.cells[0].until->batches;
    const Result fixed = run_of(config).result;
    const auto counts = [](const Result& result) {
      return cell_json(*result.shown().experiment, result.cells[0])["counts"].dump();
    };
    CHECK(counts(until) == counts(fixed));
    for (const auto& [metric, interval] : fixed.cells[0].simulated) {
      const Interval wide = *value_of(until.cells[0].simulated, metric);
      CHECK(wide.estimate == interval.estimate);
      // Overlaps that are all equal have the error of their quanta, at any confidence.
      const bool alike = metric == Metric::alpha_overlap && interval.half_width() < 1e-9;
      if (interval.judges() && !alike) CHECK(wide.half_width() > interval.half_width());
    }
  }
}

TEST_CASE("the overlap of models that are alike in every context is known at once") {
  const Result result = result_until(R"({"title": "t", "experiment": "acceptance",
    "simulation": {"trials": 8, "length": 10, "until": {"metric": "alpha_overlap", "half_width": 1e-6}},
    "models": {"target": {"kind": "zipf", "vocab": 20}, "draft": {"kind": "uniform"}}})");
  CHECK(result.cells[0].until->reached);
  CHECK(result.cells[0].until->looks == 1);
}

TEST_CASE("the number of threads does not decide when a simulation ends, nor do other cells") {
  const std::string config =
      R"({"title": "t", "simulation": {"trials": 16, "length": 50, "until": {"half_width": 0.02}}, )" +
      models + R"(, "sweep": {"/cost/c": [0.01, 0.3], "/gamma": [2, 6]}})";
  const Result all = result_until(config);
  const auto text = [](const Result& result, std::size_t cell) {
    return cell_json(*result.shown().experiment, result.cells[cell]).dump();
  };
  {
    const ThreadLimit one(1);
    const Result again = result_until(config);
    for (std::size_t cell = 0; cell < 4; ++cell) CHECK(text(all, cell) == text(again, cell));
  }
  Json alone = parse_json(config);
  alone["sweep"] = {{"/cost/c", {0.3}}, {"/gamma", {2}}};
  CHECK(text(run_of(alone).result, 0) == text(all, 2));
}

TEST_CASE("a simulation that may have no more rounds says that its interval is wider") {
  const Result result = result_until(R"({"title": "t", "experiment": "iid", "alpha": 0.8,
    "simulation": {"trials": 8, "length": 10, "until": {"half_width": 1e-6, "max_rounds": 1000}}})");
  const UntilResult& until = *result.cells[0].until;
  CHECK_FALSE(until.reached);
  CHECK(until.looks == 4);  // 80, 160, 320 and 640 rounds
  CHECK(until.max_looks == 4);
  CHECK(*result.cells[0].counts.rounds == 640);
  CHECK(csv_of(result, {}).find("wider than requested") != std::string::npos);
}

TEST_CASE("what cannot go on until it is precise is refused") {
  const auto config = [](const std::string& simulation, const std::string& more) {
    return R"({"title": "t", "simulation": {)" + simulation + "}, " + more + "}";
  };
  const std::string iid = R"("experiment": "iid", "alpha": 0.7)";
  CHECK(error_until(config(R"("until": {})", iid)).starts_with("/simulation/until/half_width: missing"));
  CHECK(
      error_until(config(R"("until": {"half_width": 0})", iid)).starts_with("/simulation/until/half_width"));
  CHECK(error_until(config(R"("until": {"half_width": 1, "metric": "regret"})", iid))
            .find("choose alpha_overlap") != std::string::npos);
  CHECK(error_until(config(R"("until": {"half_width": 1, "max_rounds": 1000})", iid))
            .starts_with("/simulation/until/max_rounds: 1000 is less than the 128000 rounds"));
  CHECK(error_until(config(R"("trials": 7, "until": {"half_width": 1})", models))
            .starts_with("/simulation/trials: 7 is too few"));
  CHECK(
      error_until(
          config(
              R"("until": {"half_width": 1})",
              R"("experiment": "optimal_gamma", "models": {"target": {"kind": "zipf", "vocab": 9}, "draft": {"kind": "uniform"}})"))
          .starts_with(
              "/simulation/until: optimal_gamma does not read \"simulation/until\"; leave it out (it is for decode, iid, acceptance)"));
  CHECK(error_until(config(R"("until": {"half_width": 1})", R"("experiment": "predict", "alpha": 0.5)"))
            .starts_with("/simulation: predict does not read"));
}
