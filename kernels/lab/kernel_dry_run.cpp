#include "kernels/lab/kernel_dry_run.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

#include "experiments/base/support/version.hpp"
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
      for (const std::string& problem : launch_problems(launch))
        row.problems.push_back(fmt::format("{} verification: {}", rule_name(rule), problem));
    }
  }
  if (layout.launches.empty()) row.problems.emplace_back("nothing is launched");
  if (layout.workspace_bytes > absurd_bytes) row.problems.emplace_back("the workspace's size overflows");
  if (!(traffic.total() > 0) || !std::isfinite(traffic.total()))
    row.problems.emplace_back("bytes moved are not a positive number");
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
  Expectations expectations;
  for (const KernelPoint& point : sweep_points(options.sweep)) {
    DryPoint& row = report.points.emplace_back();
    static_cast<KernelPoint&>(row) = point;
    for (const BenchMethod& method : methods_for(point.workload, options.methods)) {
      const MethodLayout& layout = row.methods.emplace_back(method_layout(method, point, expectations));
      report.problems += layout.problems.size();
      report.configurations += layout.left_out ? 0 : 1;
    }
  }
  return report;
}

}  // namespace speclab
