#include "experiments/bench/kernel_dry_run.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <set>

#include "experiments/check/host_batch.hpp"
#include "experiments/check/rule_names.hpp"
#include "experiments/version.hpp"

namespace speclab {

namespace {

/// Tokens kept on average, and the share of rounds with a rejection, at an acceptance rate that is the same
/// at every position.
struct Expected {
  double accepted = 0;
  double rejecting = 0;
};

Expected expected_at(double alpha, std::int32_t gamma) {
  Expected expected;
  double kept = 1;
  for (std::int32_t i = 0; i < gamma; ++i) {
    kept *= alpha;
    expected.accepted += kept;
  }
  expected.rejecting = 1 - kept;
  return expected;
}

Json launch_json(const simt::Launch& launch) {
  return {{"kernel", launch.kernel},
          {"blocks", launch.blocks},
          {"threads", launch.threads},
          {"cluster", launch.cluster},
          {"dynamic_shared", launch.dynamic_shared},
          {"early", launch.early}};
}

/// Far above what a device has, far below where 64-bit arithmetic ends: a workspace beyond is an overflow.
constexpr std::uint64_t absurd_bytes = std::uint64_t{1} << 56U;

Json method_json(const ImplementationInfo& info, const KernelPoint& point, double bandwidth_gbs) {
  const VerifyBatch batch = shape_batch(point.shape);
  Json row{{"method", info.name}};
  if (const auto why = unsupported_reason(info.implementation, batch)) {
    row["left_out"] = *why;
    return row;
  }
  const KernelLayout plan = layout_of(info.implementation, batch);
  const Expected expected = expected_at(point.alpha, point.shape.gamma);
  const Traffic traffic = traffic_of(info.implementation, batch, expected.accepted, expected.rejecting);
  Json problems = Json::array();
  row["launches"] = Json::array();
  for (const simt::Launch& launch : plan.launches) row["launches"].push_back(launch_json(launch));
  for (const VerifyRule& rule : checked_rules()) {
    VerifyBatch other = batch;
    other.rule = rule;
    if (unsupported_reason(info.implementation, other)) continue;
    for (const simt::Launch& launch : layout_of(info.implementation, other).launches) {
      for (const std::string& problem : launch_problems(launch)) {
        problems.push_back(fmt::format("{} verification: {}", rule_name(rule), problem));
      }
    }
  }
  if (plan.launches.empty()) problems.push_back("nothing is launched");
  if (plan.workspace_bytes > absurd_bytes) problems.push_back("the workspace's size overflows");
  if (!(traffic.total() > 0) || !std::isfinite(traffic.total())) {
    problems.push_back("bytes moved are not a positive number");
  }
  row["workspace_bytes"] = plan.workspace_bytes;
  row["bytes_read"] = traffic.read;
  row["bytes_written"] = traffic.written;
  row["bound_us"] = traffic.total() / (bandwidth_gbs * 1e9) * 1e6;
  row["problems"] = std::move(problems);
  return row;
}

Json point_json(const KernelPoint& point, const DryRunOptions& options) {
  const BenchShape& shape = point.shape;
  std::vector<Implementation> running;
  for (const ImplementationInfo& info : options.implementations) {
    if (!unsupported_reason(info.implementation, shape_batch(shape))) running.push_back(info.implementation);
  }
  const BenchBytes bytes = bench_bytes(shape, running);
  const double memory = options.memory_gib * std::exp2(30);
  Json row{{"requests", shape.requests},
           {"gamma", shape.gamma},
           {"vocab", shape.vocab},
           {"dtype", dtype_name(shape.dtype)},
           {"alpha", point.alpha},
           {"tensor_bytes", bytes.logits()},
           {"device_bytes", bytes.total()},
           {"past_32_bits", bytes.target / static_cast<std::uint64_t>(dtype_bytes(shape.dtype)) >
                                static_cast<std::uint64_t>(INT32_MAX)},
           {"fits", static_cast<double>(bytes.total()) <= memory},
           {"methods", Json::array()}};
  for (const ImplementationInfo& info : options.implementations) {
    row["methods"].push_back(method_json(info, point, options.bandwidth_gbs));
  }
  return row;
}

/// One small batch by one implementation in the emulator.
Json emulated_json(const ImplementationInfo& info, Dtype dtype) {
  // Two tiles, and a vocabulary that no 16-byte load divides.
  const BenchShape shape{6, 3, 8999, dtype};
  constexpr MadeLogits how{5, 3, 0.8F};
  Json row{{"method", info.name},
           {"requests", shape.requests},
           {"gamma", shape.gamma},
           {"vocab", shape.vocab},
           {"dtype", dtype_name(dtype)}};
  HostBatch host(shape, 7);
  if (const auto why = unsupported_reason(info.implementation, host.batch)) {
    row["left_out"] = *why;
    return row;
  }
  make_inputs_emulated(shape, how, host.target_data(), host.draft_data(), host.drafted_data());
  std::uint64_t loaded = 0;
  const auto results =
      host.run([&](Implementation implementation,
                   const VerifyBatch& batch) { loaded = run_emulated(implementation, batch); },
               info.implementation);
  double accepted = 0;
  double rejecting = 0;
  for (const RequestResult& result : results) {
    accepted += static_cast<double>(result.accepted) / shape.requests;
    rejecting += result.accepted < shape.gamma ? 1.0 / shape.requests : 0.0;
  }
  const Traffic traffic = traffic_of(info.implementation, host.batch, accepted, rejecting);
  row["loaded_bytes"] = loaded;
  row["counted_bytes"] = traffic.read;
  row["loaded_over_counted"] = static_cast<double>(loaded) / traffic.read;
  row["problems"] = Json::array();
  const DecisionAgreement found = decision_agreement(info.implementation, host.batch, results);
  row["agreed"] = found.requests - found.within_band - found.different;
  row["within_band"] = found.within_band;
  row["different"] = found.different;
  if (found.different > 0) row["problems"].push_back("decides otherwise than the reference");
  return row;
}

std::size_t problem_count(const Json& row) {
  return row.contains("problems") ? row.at("problems").size() : 0;
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

Json kernel_dry_run(const DryRunOptions& options) {
  Json result{{"suite", "kernels"},
              {"kind", "dry run"},
              {"version", version_string()},
              {"command", options.command},
              {"assumptions",
               {{"bandwidth_gbs", options.bandwidth_gbs},
                {"memory_gib", options.memory_gib},
                {"acceptance", "independent at every position, with the point's alpha"}}},
              {"points", Json::array()},
              {"emulated", Json::array()}};
  std::size_t problems = 0;
  std::size_t configurations = 0;
  std::size_t left_out = 0;
  for (const KernelPoint& point : sweep_points(options.sweep)) {
    Json row = point_json(point, options);
    for (const Json& method : row.at("methods")) {
      problems += problem_count(method);
      configurations += method.contains("launches") ? 1 : 0;
    }
    left_out += row.at("fits").get<bool>() ? 0 : 1;
    result["points"].push_back(std::move(row));
  }
  std::set<Dtype> dtypes(options.sweep.dtypes.begin(), options.sweep.dtypes.end());
  for (const ImplementationInfo& info : options.implementations) {
    for (const Dtype dtype : dtypes) {
      result["emulated"].push_back(emulated_json(info, dtype));
      problems += problem_count(result["emulated"].back());
    }
  }
  result["configurations"] = configurations;
  result["left_out"] = left_out;
  result["problems"] = problems;
  return result;
}

}  // namespace speclab
