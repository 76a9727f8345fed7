#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "core/stop.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/support/child_process.hpp"
#include "experiments/bench/interleaved_runs.hpp"
#include "experiments/bench/limits.hpp"
#include "experiments/bench/numpy_reference.hpp"
#include "experiments/bench/sim_report.hpp"
#include "experiments/bench/sim_suite.hpp"
#include "experiments/bench/workloads.hpp"
#include "sim/models/kneser_ney.hpp"

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

TEST_CASE("a chain visits every line once") {
  // The chain over 64 lines has a single cycle: it returns to its start after 64 reads and not before.
  ReadMemory memory({ReadMemory::least_size});
  const std::uint32_t start = memory.chase(0, 0);
  for (int reads = 1; reads < 64; ++reads) CHECK(memory.chase(0, 1) != start);
  CHECK(memory.chase(0, 1) == start);
}

TEST_CASE("limits are positive, and memory is slower than a cache") {
  const std::size_t small = 16 << 10U;
  const std::size_t large = 64 << 20U;
  LimitJobs limits({large, small}, true);
  const MachineLimits found = limits.limits(measure_interleaved(limits.jobs(), 5));
  CHECK(found.block_ns > 0);
  CHECK(found.scalar_block_ns > 0);
  CHECK(found.sequential_bytes_per_second.value() > 0);
  const std::vector<ReadLimit>& reads = found.reads;
  REQUIRE(reads.size() == 2);
  CHECK(reads[0].bytes == small);
  CHECK(reads[0].in_flight_ns > 0);
  CHECK(reads[1].latency_ns > reads[0].latency_ns);
  CHECK(reads[1].bytes == large);
}

TEST_CASE("cache misses are counted or left out") {
  CacheMisses misses;
  misses.start();
  misses.start();
  const auto count = misses.stop();
  CacheMisses other;
  other.start();
  CHECK(other.stop().has_value() == count.has_value());
}

TEST_CASE("the quick suite has rows, finite ratios, and a page") {
  SimSuiteOptions options;
  options.size = SuiteSize::brief();
  options.brief = true;
  options.repetitions = 1;
  options.command = "a test";
  options.silent = true;
  const SimReport report = run_sim_suite(options);
  const std::vector<WorkloadRow>& rows = report.workloads;
  CHECK(rows.size() == bench_workloads(options.size, options.threads).size());
  std::size_t bounds = 0;
  for (const WorkloadRow& row : rows) {
    CAPTURE(row.name);
    CHECK(row.tokens_per_second > 0);
    if (!row.bound) continue;
    ++bounds;
    CHECK(std::isfinite(row.bound->ratio_to_sum));
    CHECK(std::isfinite(row.bound->ratio_to_larger));
  }
  const std::size_t rules = bench_rules().size();
  CHECK(bounds == 8 + 5 * rules);
  CHECK(report.comparisons.size() == 7 + 9 * rules);
  for (const RatioRow& row : report.comparisons) CHECK(std::isfinite(row.ratio));
  CHECK(report.preparation.size() == 5);
  CHECK(report.lengths.size() == 2);
  REQUIRE(report.drafting.size() == 2);
  for (const DraftingRow& row : report.drafting) CHECK(row.propose_ns_per_token > 0);
  CHECK(sim_page(report).sections.front().tables.size() >= 6);
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
  CHECK(report.lengths.empty());
  CHECK_FALSE(report.numpy);
  options.only = "nothing of the kind";
  CHECK_THROWS_AS(run_sim_suite(options), UsageError);
}

TEST_CASE("the script decodes what it is given") {
  const auto python = run_child_process({"python3", "-c", "import numpy"});
  if (!python || python->status != 0) {
    MESSAGE("skipped: no python3 with NumPy");
    return;
  }
  // Draft and target are equal: every token is accepted.
  const std::vector<Token> tokens{0, 1, 2, 0, 2, 1, 0, 1, 1, 2, 0, 0, 1};
  const NgramModel model = train_kneser_ney(tokens, 4, 2);
  const auto folder = std::filesystem::temp_directory_path() / "speclab_bench_test";
  for (const char* const side : {"target", "draft"}) write_bigram(folder, side, model);
  const auto run = run_child_process({"python3", SPECLAB_SOURCE_DIR "/scripts/numpy_reference.py",
                                      folder.string(), "--rounds", "40", "--gamma", "3", "--length", "4"});
  std::filesystem::remove_all(folder);
  REQUIRE(run);
  CAPTURE(run->err);
  REQUIRE(run->status == 0);
  const NumpyOutput output = read(described<NumpyOutput>(), parse_json(run->out), "");
  CHECK(output.rounds == 40);
  CHECK(output.emitted == 160);
  CHECK(output.accepted_lengths == std::vector<std::uint64_t>{0, 0, 0, 10});
}
