#include "speclab/kernels/verify/implementation.hpp"

#include <array>

#include "speclab/kernels/verify/fused_plan.hpp"

namespace speclab {

namespace {

constexpr std::array<ImplementationInfo, 1> all{
    {{Implementation::fused, "fused", "exact, two launches, ours", true}}};

}  // namespace

std::span<const ImplementationInfo> implementations() { return all; }

KernelPlan plan_of(Implementation, const VerifyBatch& batch) {
  const FusedPlan fused = fused_plan(batch);
  KernelPlan plan{{}, fused.workspace_bytes};
  for (const simt::Launch& launch : {fused.clear, fused.statistics, fused.next}) {
    if (launch.blocks > 0) plan.launches.push_back(launch);
  }
  return plan;
}

Traffic traffic_of(Implementation, const VerifyBatch& batch, double accepted, double rejecting) {
  return fused_traffic(batch, accepted, rejecting);
}

}  // namespace speclab
