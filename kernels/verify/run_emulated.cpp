#include <cstring>
#include <vector>

#include "speclab/kernels/verify/fused_plan.hpp"
#include "speclab/kernels/verify/implementation.hpp"

namespace speclab {

namespace {

struct alignas(256) WorkspaceBlock {
  unsigned char bytes[256];
};

}  // namespace

std::uint64_t run_emulated(Implementation, const VerifyBatch& batch, simt::Order order) {
  std::vector<WorkspaceBlock> workspace(fused_plan(batch).workspace_bytes / sizeof(WorkspaceBlock));
  // Whatever was there before; absurd as a count and as a mass.
  if (!workspace.empty()) std::memset(workspace.data(), 0xa5, workspace.size() * sizeof(WorkspaceBlock));
  simt::EmulatedExecutor executor(order);
  run_fused(executor, batch, workspace.data());
  return executor.counts().loaded_bytes;
}

}  // namespace speclab
