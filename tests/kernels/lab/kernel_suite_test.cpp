#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/page/cells.hpp"
#include "kernels/lab/kernel_dry_run.hpp"
#include "kernels/lab/kernel_report.hpp"
#include "kernels/lab/kernel_suite.hpp"
#include "kernels/lab/kernel_sweep.hpp"
#include "kernels/lab/made_overlap.hpp"
#include "tests/experiments/config_error_of.hpp"

using namespace speclab;

namespace {

/// Returns invented times, which grow with a method's place, so that ratios are known.
BenchMeasurement invented_times(const BenchTask& task) {
  BenchMeasurement measured;
  double seconds = 1e-5;
  const auto add = [&](const char* name) {
    measured.times.push_back({.name = name, .seconds = {3 * seconds, seconds, 2 * seconds}});
    measured.times.back().outcome.accepted = 2;
    measured.times.back().outcome.rejecting = 0.8;
    seconds *= 2;
  };
  for (const BenchMethod& method : task.methods) add(method.name);
  for (const char* const name :
       {ceiling::empty, ceiling::two_empty, ceiling::copy, ceiling::memcpy, ceiling::read}) {
    add(name);
  }
  return measured;
}

BenchTask task_at(const KernelPoint& point, bool flushed) {
  BenchTask task;
  task.shape = point;
  task.methods = methods_for(point.workload, bench_methods());
  task.flushed = flushed;
  return task;
}

/// Returns a report of the right shape, with invented numbers.
KernelReport invented_report() {
  KernelReport report;
  report.version = "0";
  report.machine = "none";
  report.command = "a test";
  report.device.name = "no device: invented numbers";
  report.repetitions = 3;
  KernelSweep sweep;
  sweep.kind = SweepKind::given;
  sweep.sizes = parse_sizes("1,4,128256;32,4,128256");
  sweep.dtypes = {Dtype::bf16};
  sweep.alphas = {0.7};
  for (const KernelPoint& point : sweep_points(sweep)) {
    for (const bool flushed : {false, true}) {
      const BenchTask task = task_at(point, flushed);
      for (VerificationRow& row : verification_rows(point, task, invented_times(task), 0.69)) {
        report.verification.push_back(std::move(row));
      }
    }
  }
  return report;
}

Json json_of(const KernelReport& report) {
  Json json;
  write(described<KernelReport>(), report, json);
  return json;
}

}  // namespace

TEST_CASE("sizes, formats and alphas are read, or refused with what is allowed") {
  const auto sizes = parse_sizes("32,4,128256;1,0,7");
  REQUIRE(sizes.size() == 2);
  CHECK(sizes[0].requests == 32);
  CHECK(sizes[0].vocab == 128256);
  CHECK(sizes[1].gamma == 0);
  for (const char* const bad : {"", "32", "32,4", "32,4,128256,1", "32,4,128256;", "0,4,7", "1,257,7",
                                "1,-1,7", "1,4,0", "1,4,3000000", "1,4,99999999999", "a,4,7", "1.0,4,7"}) {
    CAPTURE(bad);
    const std::string error = usage_error_of([&] { parse_sizes(bad); });
    CHECK(error.find("expected requests,gamma,vocabulary, such as 32,4,128256") != std::string::npos);
  }
  CHECK(parse_dtypes("f16,bf16") == std::vector<Dtype>{Dtype::f16, Dtype::bf16});
  CHECK(usage_error_of([] { parse_dtypes("bf17"); }).find("did you mean \"bf16\"") != std::string::npos);
  CHECK(parse_alphas(".3,0.9") == std::vector<double>{0.3, 0.9});
  for (const char* const bad : {"", "0", "1", ".7,", "nan", "0.7x"}) {
    CAPTURE(bad);
    CHECK(usage_error_of([&] { parse_alphas(bad); }).find("expected numbers from 0.05 to 0.99") !=
          std::string::npos);
  }
  CHECK(parse_named("--baselines", "all", implementations()).size() == implementations().size());
  CHECK(parse_named("--baselines", "fused,fused", implementations()).size() == 1);
  CHECK(usage_error_of([] { parse_named("--baselines", "fusde", implementations()); }).find("\"fused\"") !=
        std::string::npos);
}

TEST_CASE("the sweeps have the sizes that they promise, once each") {
  KernelSweep sweep;
  const auto axes = sweep_points(sweep);
  const auto count = [&](const auto& wanted) { return std::count_if(axes.begin(), axes.end(), wanted); };
  CHECK(count([](const KernelPoint& p) { return p.requests == 256 && p.gamma == 16; }) == 2);
  CHECK(count([](const KernelPoint& p) { return p.gamma == 4 && p.vocab == 128256 && p.alpha == 0.7; }) ==
        18);
  CHECK(count([](const KernelPoint& p) { return p.alpha == 0.3; }) == 2);
  sweep.alphas = {0.5};
  for (const KernelPoint& point : sweep_points(sweep)) CHECK(point.alpha == 0.5);
}

namespace {

void check_dry_run(std::vector<double> alphas) {
  DryRunOptions options;
  options.sweep.alphas = std::move(alphas);
  options.methods = parse_named("--baselines", "all", bench_methods());
  for (const KernelWorkloadInfo& info : kernel_workloads()) {
    options.sweep.workloads = {info.workload};
    const DryRunReport report = kernel_dry_run(options);
    CHECK(report.points.size() == sweep_points(options.sweep).size());
    CHECK(report.configurations >= report.points.size());
    CHECK(report.problems == 0);
    CHECK(kernel_text(report).tables.size() == 1);
  }
}

}  // namespace

TEST_CASE("a dry run checks every size and method") { check_dry_run({0.7}); }
TEST_CASE("long: a dry run checks every size, method and alpha") { check_dry_run({0.3, 0.7, 0.9}); }

TEST_CASE("launches beyond a device's limits are found") {
  CHECK(launch_problems({.kernel = "k", .blocks = 7}).empty());
  CHECK(launch_problems({.kernel = "k", .blocks = 0}).size() == 1);
  CHECK(launch_problems({.kernel = "k", .blocks = std::int64_t{1} << 31}).size() == 1);
  CHECK(launch_problems({.kernel = "k", .blocks = 1, .threads = 100}).size() == 1);
  CHECK(launch_problems({.kernel = "k", .blocks = 1, .threads = 2048}).size() == 1);
  CHECK(launch_problems({.kernel = "k", .blocks = 9, .cluster = 2}).size() == 1);
  CHECK(launch_problems({.kernel = "k", .blocks = 16, .cluster = 16}).size() == 1);
  CHECK(launch_problems({.kernel = "k", .blocks = 1, .dynamic_shared = 228 * 1024}).size() == 1);
}

TEST_CASE("noise is found at which target and draft overlap as wanted") {
  for (const double alpha : {0.3, 0.7, 0.9}) {
    MadeLogits how;
    how.noise = noise_for_overlap(how, 20000, alpha);
    // Measured on other rows, after rounding: the overlaps of rows of 20,000 ids differ by about a hundredth.
    CHECK(std::abs(made_overlap(how, 20000, Dtype::bf16, {}) - alpha) < 0.03);
  }
}

TEST_CASE("rows of a measurement have their rates, shares and ratios") {
  const KernelPoint point{{32, 4, 128256, Dtype::bf16}, 0.7};
  const BenchTask task = task_at(point, true);
  BenchMeasurement measured = invented_times(task);
  measured.times.front().decisions = {4, 1, 0};
  const std::vector<VerificationRow> rows = verification_rows(point, task, measured, 0.69);
  REQUIRE(rows.size() == measured.times.size());
  const VerificationRow& fused = rows.front();
  CHECK(fused.method == "fused");
  CHECK(fused.median_us == doctest::Approx(20));
  CHECK(fused.p99_us == doctest::Approx(30));
  const Traffic traffic = traffic_of(Implementation::fused, shape_batch(point).batch, {2, 0.8});
  CHECK(fused.gb_per_s == doctest::Approx(traffic.total() / 20e-6 / 1e9));
  CHECK(fused.realised_alpha == 0.69);
  CHECK(fused.accepted == 2);
  CHECK(fused.compared == 4);
  const auto row_of = [&](const char* name) {
    return *std::find_if(rows.begin(), rows.end(),
                         [&](const VerificationRow& row) { return row.method == name; });
  };
  // The copy kernel comes first of the two copies and is faster here, so that shares refer to it.
  const VerificationRow copy = row_of(ceiling::copy);
  CHECK(copy.of_copy == doctest::Approx(1));
  CHECK(fused.of_copy == doctest::Approx(fused.gb_per_s / copy.gb_per_s));
  CHECK(row_of(ceiling::empty).kind == MethodKind::ceiling);
  CHECK_FALSE(row_of(ceiling::empty).accepted);
  CHECK(nearest_rank({4, 1, 3, 2}, 0.5) == 2);
  CHECK(nearest_rank({4, 1, 3, 2}, 0.99) == 4);
  CHECK(std::isnan(nearest_rank({}, 0.5)));
}

TEST_CASE("batches of few requests are measured with several seeds, and pooled") {
  const KernelPoint point{{1, 4, 128256, Dtype::bf16}, 0.7};
  const BenchTask task = task_at(point, false);
  BenchMeasurement one = invented_times(task);
  BenchMeasurement other = invented_times(task);
  one.clock_mhz = 1700;
  other.clock_mhz = 1600;
  for (BenchTimes& times : other.times) {
    for (double& seconds : times.seconds) seconds *= 10;
    times.outcome.accepted = 4;
  }
  one.times.front().marginal_seconds = 2e-6;
  other.times.front().marginal_seconds = 4e-6;
  one.times.front().decisions = {1, 0, 0};
  other.times.front().decisions = {1, 0, 0};
  BenchMeasurement pooled = pooled_draws({one, other});
  const VerificationRow fused = verification_rows(point, task, pooled, 0.69).front();
  CHECK(fused.repetitions == 6);
  CHECK(fused.draws == 2);
  CHECK(fused.fastest_draw_us.value() == doctest::Approx(20));
  CHECK(fused.slowest_draw_us.value() == doctest::Approx(200));
  CHECK(fused.marginal_us.value() == doctest::Approx(3));
  CHECK(std::isfinite(fused.of_copy));
  CHECK(fused.clock_mhz == 1600);
  CHECK(fused.accepted.value() == doctest::Approx(3));
  CHECK(fused.compared == 2);
  CHECK(fused.different == 0);
  // A method that decides wrongly, or otherwise in the graph, has no times.
  for (const int different : {1, 0}) {
    pooled.times.front().decisions.different = different;
    pooled.times.front().replayed_otherwise = 1 - different;
    const VerificationRow wrong = verification_rows(point, task, pooled, 0.69).front();
    CHECK(wrong.different == different);
    CHECK(std::isnan(wrong.median_us));
    CHECK(std::isnan(wrong.p99_us));
    CHECK(std::isnan(wrong.of_copy));
    CHECK_FALSE(wrong.marginal_us);
    CHECK_FALSE(wrong.fastest_draw_us);
  }
  // A single batch is not changed.
  const VerificationRow alone = verification_rows(point, task, pooled_draws({one}), 0.69).front();
  CHECK_FALSE(alone.draws);
  CHECK(alone.repetitions == 3);
}

TEST_CASE("a result as tables and CSV") {
  const KernelReport report = invented_report();
  CHECK(json_of(read(described<KernelReport>(), json_of(report), "")) == json_of(report));
  CHECK(kernel_text(report).tables.size() == 2);
  CHECK(kernel_text(report, 3).tables.front().rows.size() == 3);
  const std::string csv = kernel_csv(report);
  CHECK(csv.starts_with("requests,gamma,vocab,dtype,workload,alpha,"));
  CHECK(std::count(csv.begin(), csv.end(), '\n') ==
        static_cast<std::ptrdiff_t>(report.verification.size()) + 1);
}

TEST_CASE("what a device cannot run is left out") {
  const auto all = parse_named("--baselines", "all", bench_methods());
  CHECK(runnable_on(90, all).size() == all.size());
  const auto older = runnable_on(80, all);
  // Five methods launch clusters: one for chains and four for trees.
  CHECK(older.size() == all.size() - 5);
  for (const BenchMethod& method : older) CHECK(method.capability <= 80);
}
