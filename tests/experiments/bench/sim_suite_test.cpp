#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/stop.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/bench/interleaved_runs.hpp"
#include "experiments/bench/sim_suite.hpp"
#include "experiments/bench/workloads.hpp"

using namespace speclab;

TEST_CASE("the middle of some values, and how far they spread") {
  CHECK(median({3, 1, 2}) == 2);
  CHECK(median({4, 1, 2, 3}) == 2.5);
  CHECK(std::isnan(median({})));
  CHECK(spread({1, 2, 3, 4, 5}) == doctest::Approx(2.0 / 3));
  CHECK(spread({5}) == 0);
}

TEST_CASE("every job is run as often as asked, and nothing else") {
  int first = 0;
  int second = 0;
  int told = 0;
  const std::vector<TimedJob> jobs{[&] { ++first; }, [&] { ++second; }};
  for (int again = 1; again <= 2; ++again) {
    const auto timings = measure_interleaved(jobs, 5, [&] { ++told; });
    REQUIRE(timings.size() == 2);
    CHECK(timings[0].processor_seconds.size() == 5);
    CHECK(timings[1].wall_seconds.size() == 5);
    CHECK(first == 5 * again);
    CHECK(second == 5 * again);
    CHECK(told == 10 * again);
  }
  CHECK(measure_interleaved({}, 3).empty());
}

TEST_CASE("a measurement that shall end before is none") {
  int runs = 0;
  const std::function<bool()> stop = [&] { return runs == 2; };
  const StopScope scope(&stop);
  CHECK_THROWS_AS(measure_interleaved({[&] { ++runs; }}, 5), Stopped);
  CHECK(runs == 2);
}

TEST_CASE("the quick suite has rows and finite ratios") {
  SimSuiteOptions options;
  options.size = SuiteSize::brief();
  options.brief = true;
  options.repetitions = 1;
  options.command = "a test";
  options.silent = true;
  const SimReport report = run_sim_suite(options);
  CHECK(report.workloads.size() == bench_workloads(options.size, options.threads).size());
  for (const WorkloadRow& row : report.workloads) {
    CAPTURE(row.name);
    CHECK(row.tokens_per_second > 0);
  }
  CHECK(report.comparisons.size() == 7 + 9 * bench_rules().size());
  for (const RatioRow& row : report.comparisons) CHECK(std::isfinite(row.ratio));
  CHECK(sim_text(report).sections.front().tables.size() == 2);
  Json json;
  write(described<SimReport>(), report, json);
  Json again;
  write(described<SimReport>(), read(described<SimReport>(), json, ""), again);
  CHECK(again == json);
}

TEST_CASE("rows are chosen by part of their names") {
  SimSuiteOptions options;
  options.size = SuiteSize::brief();
  options.repetitions = 1;
  options.silent = true;
  options.only = "I.I.D.";
  const SimReport report = run_sim_suite(options);
  CHECK(report.workloads.size() == 1);
  options.only = "nothing of the kind";
  CHECK_THROWS_AS(run_sim_suite(options), UsageError);
}
