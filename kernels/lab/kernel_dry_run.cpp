#include "kernels/lab/kernel_dry_run.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <set>

#include "experiments/base/support/version.hpp"
#include "kernels/bench/bench_batch.hpp"
#include "kernels/lab/expected_walks.hpp"
#include "kernels/lab/request_batch.hpp"

namespace speclab {

namespace {

/// Far above the memory of any device, far below the end of 64-bit arithmetic: a larger workspace is an
/// overflow.
constexpr std::uint64_t absurd_bytes = std::uint64_t{1} << 56U;

MethodLayout method_layout(const BenchMethod& method, const KernelPoint& point, Expectations& expectations) {
  const TreeBatch tree = shape_batch(point);
  MethodLayout row;
  row.method = method.name;
  row.left_out = unsupported_reason(method, tree);
  if (row.left_out) return row;
  const KernelLayout layout = layout_of(method, tree);
  row.expected = expectations.at(method, point);
  const Traffic traffic = traffic_of(method, tree, row.expected);
  for (const simt::Launch& launch : layout.launches) {
    row.launches.push_back(
        {launch.kernel, launch.blocks, launch.threads, launch.cluster, launch.dynamic_shared, launch.early});
  }
  row.workspace_bytes = layout.workspace_bytes;
  row.bytes_read = traffic.read;
  row.bytes_written = traffic.written;
  for (const VerifyRule& rule : checked_rules()) {
    TreeBatch other = tree;
    other.batch.rule = rule;
    if (unsupported_reason(method, other)) continue;
    for (const simt::Launch& launch : layout_of(method, other).launches) {
      for (const std::string& problem : launch_problems(launch)) {
        row.problems.push_back(fmt::format("{} verification: {}", rule_name(rule), problem));
      }
    }
  }
  if (layout.launches.empty()) row.problems.emplace_back("nothing is launched");
  if (layout.workspace_bytes > absurd_bytes) row.problems.emplace_back("the workspace's size overflows");
  if (!(traffic.total() > 0) || !std::isfinite(traffic.total())) {
    row.problems.emplace_back("bytes moved are not a positive number");
  }
  return row;
}

DryPoint dry_point(const KernelPoint& point, Expectations& expectations, const DryRunOptions& options) {
  const std::vector<BenchMethod> methods = methods_for(point.workload, options.methods);
  std::vector<BenchMethod> running = methods;
  std::erase_if(running, [&](const BenchMethod& method) {
    return unsupported_reason(method, shape_batch(point)).has_value();
  });
  const BenchBytes bytes = bench_bytes(point, running);
  const double memory = options.memory_gib * std::exp2(30);
  DryPoint row;
  static_cast<KernelPoint&>(row) = point;
  row.tensor_bytes = bytes.logits();
  row.device_bytes = bytes.total();
  row.past_32_bits = bytes.target / static_cast<std::uint64_t>(dtype_bytes(point.dtype)) >
                     static_cast<std::uint64_t>(INT32_MAX);
  row.fits = static_cast<double>(bytes.total()) <= memory;
  for (const BenchMethod& method : methods) {
    row.methods.push_back(method_layout(method, row, expectations));
  }
  return row;
}

/// Runs one small batch by one method in the emulator.
EmulatedRow emulated_row(const BenchMethod& method, KernelWorkload workload, Dtype dtype) {
  // The vocabulary takes two tiles, and its size is no multiple of a 16-byte load.
  BenchShape shape{6, 3, 8999, dtype, workload};
  const KernelWorkloadInfo& info = info_of(workload);
  // If a block has only a small piece of a tile, most of its threads have no logit, and the least of the
  // groups' largest logits is minus infinity.
  if (info.filters != Filters{}) shape.vocab = 16381;
  if (info.branches) shape.gamma = 9;
  const MadeLogits how{5, info.spread, 0.8F / 3 * info.spread};
  EmulatedRow row;
  static_cast<BenchShape&>(row) = shape;
  row.method = method.name;
  row.left_out = unsupported_reason(method, shape_batch(shape));
  if (row.left_out) return row;
  std::vector<RandomAddress> addresses;
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(shape.requests); ++i)
    addresses.push_back({7, i, 0});
  HostMemory memory;
  const BenchBatch placed = place_batch(memory, shape, addresses);
  make_inputs_emulated(shape, how, placed);
  row.loaded_bytes = run_emulated(method, placed.tree);
  const BenchResults results = fetch_results(memory, placed.tree);
  const std::vector<BenchVerdict> expected = method.reference(placed.tree);
  const BenchOutcome outcome = outcome_of(method, draft_plan(shape).tree, results, expected);
  row.counted_bytes = traffic_of(method, placed.tree, outcome).read;
  const DecisionAgreement found = agreement_of(method, expected, shape.vocab, results);
  row.agreed = found.requests - found.within_band - found.different;
  row.within_band = found.within_band;
  row.different = found.different;
  return row;
}

}  // namespace

std::vector<std::string> launch_problems(const simt::Launch& launch) {
  std::vector<std::string> problems;
  const auto refuse = [&](bool bad, std::string what) {
    if (bad) problems.push_back(fmt::format("{}: {}", launch.kernel, what));
  };
  refuse(launch.blocks < 1 || launch.blocks > simt::max_blocks,
         fmt::format("{} blocks; 1 to {} are allowed", launch.blocks, simt::max_blocks));
  refuse(launch.threads < simt::warp_size || launch.threads > 1024 || launch.threads % simt::warp_size != 0,
         fmt::format("{} threads a block; a multiple of {} up to 1024 is allowed", launch.threads,
                     simt::warp_size));
  refuse(launch.dynamic_shared > simt::dynamic_shared_limit,
         fmt::format("{} bytes of shared memory; at most {}", launch.dynamic_shared,
                     simt::dynamic_shared_limit));
  refuse(launch.cluster < 1 || launch.cluster > simt::portable_cluster_blocks,
         fmt::format("clusters of {} blocks; 1 to {} are allowed", launch.cluster,
                     simt::portable_cluster_blocks));
  refuse(launch.cluster > 0 && launch.blocks % launch.cluster != 0,
         fmt::format("{} blocks are not whole clusters of {}", launch.blocks, launch.cluster));
  return problems;
}

DryRunReport kernel_dry_run(const DryRunOptions& options) {
  DryRunReport report;
  report.kind = KernelReportKind::dry_run;
  report.version = version_string();
  report.command = options.command;
  report.assumed_memory_gib = options.memory_gib;
  Expectations expectations;
  for (const KernelPoint& point : sweep_points(options.sweep)) {
    const DryPoint& row = report.points.emplace_back(dry_point(point, expectations, options));
    for (const MethodLayout& method : row.methods) {
      report.problems += method.problems.size();
      report.configurations += method.left_out ? 0 : 1;
    }
    report.left_out += row.fits ? 0 : 1;
  }
  const std::set<Dtype> dtypes(options.sweep.dtypes.begin(), options.sweep.dtypes.end());
  for (const KernelWorkload workload : options.sweep.workloads) {
    for (const BenchMethod& method : methods_for(workload, options.methods)) {
      for (const Dtype dtype : dtypes) {
        const EmulatedRow& row = report.emulated.emplace_back(emulated_row(method, workload, dtype));
        report.problems += row.different > 0 ? 1 : 0;
      }
    }
  }
  return report;
}

}  // namespace speclab
