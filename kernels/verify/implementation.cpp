#include "speclab/kernels/verify/implementation.hpp"

#include <array>

#include "speclab/kernels/verify/fused_plan.hpp"

namespace speclab {

namespace {

constexpr std::array<ImplementationInfo, 1> all{
    {{Implementation::fused, "fused", "exact, two launches, ours", true}}};

struct alignas(256) WorkspaceBlock {
  unsigned char bytes[256] = {};
};

}  // namespace

std::span<const ImplementationInfo> implementations() { return all; }

std::optional<std::string> obstacle(Implementation, const VerifyBatch&) { return std::nullopt; }

KernelPlan plan_of(Implementation, const VerifyBatch& batch) {
  const FusedPlan fused = fused_plan(batch);
  KernelPlan plan{{}, fused.workspace_bytes};
  for (const simt::Launch& launch : {fused.statistics, fused.next}) {
    if (launch.blocks > 0) plan.launches.push_back(launch);
  }
  return plan;
}

Traffic traffic_of(Implementation, const VerifyBatch& batch, double accepted, double rejecting) {
  return fused_traffic(batch, accepted, rejecting);
}

std::uint64_t run_emulated(Implementation, const VerifyBatch& batch, simt::Order order) {
  std::vector<WorkspaceBlock> workspace(fused_plan(batch).workspace_bytes / sizeof(WorkspaceBlock));
  simt::EmulatedExecutor executor(order);
  run_fused(executor, batch, workspace.data());
  return executor.counts().loaded_bytes;
}

}  // namespace speclab
