// The experiment "walltime": measured numbers stand in the timings, and the result holds none of them.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "experiments/results/presentation.hpp"
#include "tests/experiments/run_of.hpp"

using namespace speclab;

TEST_CASE("one row per cell, predicted by Theorem 3.8 at the measured c and tokens per target step") {
  const RunResult run = run_of(parse_json(R"({
    "title": "test", "experiment": "walltime", "gamma": 2,
    "models": {"target": {"kind": "zipf", "vocab": 20}, "draft": {"kind": "zipf", "vocab": 20}},
    "walltime": {"target_weights": 2000, "draft_weights": 100, "tokens": 30, "repeats": 2},
    "sweep": {"/gamma": [1, 2]}})"));
  REQUIRE(run.timings.walltime.size() == 2);
  const std::string lines = csv_of(run.result, run.timings);
  CHECK(std::count(lines.begin(), lines.end(), '\n') == 3);
  CHECK(lines.find(fmt::format("{}", run.timings.walltime[1].speedup)) != std::string::npos);
  for (const WalltimeRow& row : run.timings.walltime) {
    CHECK(row.tokens_per_target_step == doctest::Approx(row.gamma + 1.0));
    CHECK(row.predicted_speedup == doctest::Approx(row.tokens_per_target_step / (row.gamma * row.c + 1)));
    CHECK(row.speedup > 0);
  }
  CHECK(run.result.cells.front().own == nullptr);
  const Experiment& experiment = *run.result.shown().experiment;
  CHECK(tables_of(run.result, run.timings, "id").at(0).rows.size() == 2);
  CHECK(!experiment.resumable);
}
