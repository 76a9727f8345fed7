#include "experiments/bench/kernel_dry_run.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <set>

#include "experiments/kernel_check/request_batch.hpp"
#include "experiments/support/version.hpp"

namespace speclab {

namespace {

/// At an acceptance rate that is the same at every position.
MeanOutcome expected_at(double alpha, std::int32_t gamma) {
  MeanOutcome expected;
  double all = 1;
  for (std::int32_t i = 0; i < gamma; ++i) {
    all *= alpha;
    expected.accepted += all;
  }
  expected.rejecting = 1 - all;
  return expected;
}

/// Far above what a device has, far below where 64-bit arithmetic ends: a workspace beyond is an overflow.
constexpr std::uint64_t absurd_bytes = std::uint64_t{1} << 56U;

MethodLayout method_layout(const ImplementationInfo& info, const KernelPoint& point, double bandwidth_gbs) {
  const VerifyBatch batch = shape_batch(point);
  MethodLayout row;
  row.method = info.name;
  row.left_out = unsupported_reason(info.implementation, batch);
  if (row.left_out) return row;
  const KernelLayout layout = layout_of(info.implementation, batch);
  const Traffic traffic = traffic_of(info.implementation, batch, expected_at(point.alpha, point.gamma));
  for (const simt::Launch& launch : layout.launches) {
    row.launches.push_back(
        {launch.kernel, launch.blocks, launch.threads, launch.cluster, launch.dynamic_shared, launch.early});
  }
  row.workspace_bytes = layout.workspace_bytes;
  row.bytes_read = traffic.read;
  row.bytes_written = traffic.written;
  row.bound_us = traffic.total() / (bandwidth_gbs * 1e9) * 1e6;

  for (const VerifyRule& rule : checked_rules()) {
    VerifyBatch other = batch;
    other.rule = rule;
    if (unsupported_reason(info.implementation, other)) continue;
    for (const simt::Launch& launch : layout_of(info.implementation, other).launches) {
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

DryPoint dry_point(const KernelPoint& point, const DryRunOptions& options) {
  std::vector<Implementation> running;
  for (const ImplementationInfo& info : options.implementations) {
    if (!unsupported_reason(info.implementation, shape_batch(point))) running.push_back(info.implementation);
  }
  const BenchBytes bytes = bench_bytes(point, running);
  const double memory = options.memory_gib * std::exp2(30);
  DryPoint row;
  static_cast<KernelPoint&>(row) = point;
  row.tensor_bytes = bytes.logits();
  row.device_bytes = bytes.total();
  row.past_32_bits = bytes.target / static_cast<std::uint64_t>(dtype_bytes(point.dtype)) >
                     static_cast<std::uint64_t>(INT32_MAX);
  row.fits = static_cast<double>(bytes.total()) <= memory;
  for (const ImplementationInfo& info : options.implementations) {
    row.methods.push_back(method_layout(info, point, options.bandwidth_gbs));
  }
  return row;
}

/// One small batch by one implementation in the emulator.
EmulatedRow emulated_row(const ImplementationInfo& info, Dtype dtype) {
  // Two tiles, and a vocabulary that no 16-byte load divides.
  const BenchShape shape{6, 3, 8999, dtype};
  constexpr MadeLogits how{5, 3, 0.8F};
  EmulatedRow row;
  static_cast<BenchShape&>(row) = shape;
  row.method = info.name;
  RequestBatch requests(shape, 7);
  row.left_out = unsupported_reason(info.implementation, requests.batch);
  if (row.left_out) return row;
  make_inputs_emulated(shape, how, requests.target_data(), requests.draft_data(), requests.drafted_data());
  const auto results =
      requests.run([&](Implementation implementation,
                       const VerifyBatch& batch) { row.loaded_bytes = run_emulated(implementation, batch); },
                   info.implementation);
  MeanOutcome mean;
  for (const RequestResult& result : results) {
    mean.accepted += static_cast<double>(result.accepted) / shape.requests;
    mean.rejecting += result.accepted < shape.gamma ? 1.0 / shape.requests : 0.0;
  }
  row.counted_bytes = traffic_of(info.implementation, requests.batch, mean).read;
  const DecisionAgreement found = decision_agreement(info.implementation, requests.batch, results);
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
  refuse(launch.blocks < 1 || launch.blocks > simt::most_blocks,
         fmt::format("{} blocks; 1 to {} are allowed", launch.blocks, simt::most_blocks));
  refuse(launch.threads < simt::warp_size || launch.threads > 1024 || launch.threads % simt::warp_size != 0,
         fmt::format("{} threads a block; a multiple of {} up to 1024 is allowed", launch.threads,
                     simt::warp_size));
  refuse(launch.dynamic_shared > simt::dynamic_shared_limit,
         fmt::format("{} bytes of shared memory; at most {}", launch.dynamic_shared,
                     simt::dynamic_shared_limit));
  refuse(
      launch.cluster < 1 || launch.cluster > simt::most_cluster_blocks,
      fmt::format("clusters of {} blocks; 1 to {} are allowed", launch.cluster, simt::most_cluster_blocks));
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
  report.assumed_bandwidth_gbs = options.bandwidth_gbs;
  for (const KernelPoint& point : sweep_points(options.sweep)) {
    const DryPoint& row = report.points.emplace_back(dry_point(point, options));
    for (const MethodLayout& method : row.methods) {
      report.problems += method.problems.size();
      report.configurations += method.left_out ? 0 : 1;
    }
    report.left_out += row.fits ? 0 : 1;
  }
  const std::set<Dtype> dtypes(options.sweep.dtypes.begin(), options.sweep.dtypes.end());
  for (const ImplementationInfo& info : options.implementations) {
    for (const Dtype dtype : dtypes) {
      const EmulatedRow& row = report.emulated.emplace_back(emulated_row(info, dtype));
      report.problems += row.different > 0 ? 1 : 0;
    }
  }
  return report;
}

}  // namespace speclab
