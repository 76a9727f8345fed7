#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "experiments/base/format/config_error.hpp"
#include "kernels/bench/make_inputs.hpp"
#include "kernels/lab/expected_walks.hpp"
#include "kernels/lab/kernel_dry_run.hpp"
#include "kernels/lab/kernel_report.hpp"
#include "kernels/lab/kernel_suite.hpp"
#include "kernels/lab/kernel_sweep.hpp"
#include "kernels/lab/made_overlap.hpp"
#include "tests/bounds.hpp"

using namespace speclab;

namespace {

KernelSweep all_workloads(const std::string& sizes) {
  KernelSweep sweep;
  sweep.kind = SweepKind::given;
  sweep.workloads = parse_workloads("--workload", "all");
  sweep.sizes = parse_sizes(sizes);
  sweep.dtypes = {Dtype::bf16};
  sweep.alphas = {0.7};
  return sweep;
}

/// Returns a report with invented times of each workload.
KernelReport invented_workloads() {
  KernelReport report;
  report.device.name = "no device";
  for (const KernelPoint& point : sweep_points(all_workloads("32,26,128256"))) {
    BenchTask task;
    task.shape = point;
    task.methods = methods_for(point.workload, parse_named("--baselines", "fused,tree", bench_methods()));
    BenchMeasurement measured;
    for (const BenchMethod& method : task.methods) {
      measured.times.push_back({.name = method.name, .seconds = {1e-5}, .outcome = expected_outcome(4, 0.7)});
    }
    measured.times.push_back({.name = ceiling::copy, .seconds = {2e-5}});
    for (VerificationRow& row : verification_rows(point, task, measured, 0.7)) {
      report.verification.push_back(std::move(row));
    }
  }
  return report;
}

}  // namespace

TEST_CASE("workloads are read by name, and each has its own axes") {
  CHECK(parse_workloads("--workload", "all").size() == kernel_workloads().size());
  CHECK(parse_workloads("--workload", "trees,chains") ==
        std::vector<KernelWorkload>{KernelWorkload::trees, KernelWorkload::chains});
  CHECK_THROWS_AS(parse_workloads("--workload", "treees"), UsageError);
  for (std::size_t i = 0; i < kernel_workloads().size(); ++i) {
    CHECK(static_cast<std::size_t>(kernel_workloads()[i].workload) == i);
  }
  KernelSweep sweep;
  sweep.workloads = {KernelWorkload::chains};
  const auto chains = sweep_points(sweep);
  sweep.workloads = {KernelWorkload::trees};
  const auto trees = sweep_points(sweep);
  sweep.workloads = {KernelWorkload::chains, KernelWorkload::trees};
  CHECK(sweep_points(sweep).size() == chains.size() + trees.size());
  for (const KernelPoint& point : trees) {
    CHECK(point.workload == KernelWorkload::trees);
    CHECK((point.gamma == 26 || point.gamma == 60));
  }
  CHECK(shape_text(trees.front()).starts_with("trees, B = 1, gamma = 26, "));
}

TEST_CASE("a dry run of all workloads finds nothing invalid, and states bytes that follow from the tree") {
  DryRunOptions options;
  options.sweep = all_workloads("1,4,32000;256,26,256000");
  options.methods = parse_named("--baselines", "fused,tree", bench_methods());
  const DryRunReport report = kernel_dry_run(options);
  CHECK(report.problems == 0);
  REQUIRE(report.points.size() == 2 * kernel_workloads().size());
  std::map<KernelWorkload, const DryPoint*> large;
  for (const DryPoint& point : report.points) {
    REQUIRE(point.methods.size() == 1);
    CHECK_FALSE(point.methods.front().left_out);
    if (point.requests == 256) large[point.workload] = &point;
  }
  const auto read = [&](KernelWorkload workload) { return large.at(workload)->methods.front().bytes_read; };
  const double row = 256000.0 * 2 * 256;
  // Besides the reads of the fused kernel, the launch for cut-offs reads each of the target's 27 rows twice,
  // and for min-p once.
  CHECK(read(KernelWorkload::cut_offs) - read(KernelWorkload::chains) ==
        doctest::Approx(54 * row).epsilon(0.001));
  CHECK(read(KernelWorkload::min_p) - read(KernelWorkload::chains) ==
        doctest::Approx(27 * row).epsilon(0.001));
  // Shared memory holds this row pair: 2 rows are read where children are tried, 1 for a leaf.
  const BenchOutcome& walk = large.at(KernelWorkload::trees)->methods.front().expected;
  CHECK(read(KernelWorkload::trees) == doctest::Approx((2 * walk.tried + walk.leaves) * row));
  const BenchOutcome& chosen = large.at(KernelWorkload::chosen_trees)->methods.front().expected;
  CHECK(read(KernelWorkload::chosen_trees) == doctest::Approx((chosen.accepted + 1) * row));
  CHECK(chosen.accepted > 1);
}

TEST_CASE("what is expected of trees is what the reference comes to, on inputs that kernels made") {
  // Compares means over 625 requests with means over the 625 requests of the expectation. Standard errors
  // of the differences are below 0.12 for tokens and refusals, and below 0.032 for shares. At 4.5 of them a
  // false alarm has a probability below 1e-4.
  constexpr std::int32_t vocab = 100;
  constexpr std::int32_t requests = 625;
  for (const KernelWorkload workload : {KernelWorkload::trees, KernelWorkload::chosen_trees}) {
    const KernelWorkloadInfo& info = info_of(workload);
    const KernelPoint point{{requests, 9, vocab, Dtype::f32, workload}, 0.5};
    MadeLogits how{.seed = test_seed(4), .spread = info.spread};
    how.noise = noise_for_overlap({.spread = info.spread}, vocab, point.alpha);
    HostMemory memory;
    std::vector<RandomAddress> addresses;
    for (std::uint32_t i = 0; i < requests; ++i) addresses.push_back({test_seed(8), i, 0});
    const BenchBatch batch = place_batch(memory, point, addresses);
    make_inputs(simt::EmulatedExecutor(), point, how, batch);
    const DraftTree tree = draft_plan(point).tree;
    for (const BenchMethod& method : methods_for(workload, bench_methods())) {
      if (unsupported_reason(method, batch.tree)) continue;
      CAPTURE(std::string(info.name));
      CAPTURE(std::string(method.name));
      BenchResults results{point.gamma, {}, {}, {}};
      const std::vector<BenchVerdict> verdicts = method.reference(batch.tree);
      for (const BenchVerdict& verdict : verdicts) results.add(verdict.path, verdict.next);
      const BenchOutcome found = outcome_of(method, tree, results, verdicts);
      const auto agrees = [&](const BenchOutcome& expected) {
        const auto near = [](double a, double b, double error) { return std::abs(a - b) < 4.5 * error; };
        return near(found.accepted, expected.accepted, 0.12) && near(found.tried, expected.tried, 0.12) &&
               near(found.refused, expected.refused, 0.12) && near(found.leaves, expected.leaves, 0.032) &&
               near(found.rejecting, expected.rejecting, 0.032);
      };
      const BenchOutcome expected = expected_outcome(method, point, vocab, requests);
      CAPTURE(found.accepted);
      CAPTURE(expected.accepted);
      CAPTURE(found.rejecting);
      CAPTURE(expected.rejecting);
      CHECK(agrees(expected));
      // Planted faults: another alpha, another tree.
      KernelPoint other = point;
      other.alpha = 0.8;
      CHECK_FALSE(agrees(expected_outcome(method, other, vocab, requests)));
      other = point;
      other.gamma = 2;
      CHECK_FALSE(agrees(expected_outcome(method, other, vocab, requests)));
    }
  }
}

TEST_CASE("each workload has tables of its own, and chains those that they had") {
  const KernelReport report = invented_workloads();
  const KernelText text = kernel_text(report);
  std::vector<std::string> ids;
  for (const Table& table : text.tables) ids.push_back(table.id);
  for (const KernelWorkloadInfo& info : kernel_workloads()) {
    const std::string wanted = info.workload == KernelWorkload::chains
                                   ? "verification-times"
                                   : std::string("verification-times-") + info.name;
    CHECK(std::count(ids.begin(), ids.end(), wanted) == 1);
  }
  CHECK(kernel_csv(report).starts_with("requests,gamma,vocab,dtype,workload,alpha,"));
}
