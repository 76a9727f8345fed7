#include <cstring>
#include <vector>

#include "kernels/verify/dispatch.hpp"
#include "kernels/verify/implementation.hpp"

namespace speclab {

namespace {

struct alignas(256) WorkspaceBlock {
  unsigned char bytes[256];
};

}  // namespace

std::uint64_t run_emulated(Implementation implementation, const VerifyBatch& batch, simt::Order order) {
  return with_implementation_for(batch, implementation, [&](auto kernels) {
    std::vector<WorkspaceBlock> workspace(kernels.workspace_bytes(batch) / sizeof(WorkspaceBlock));
    // Whatever was there before; absurd as a count and as a probability.
    if (!workspace.empty()) std::memset(workspace.data(), 0xa5, workspace.size() * sizeof(WorkspaceBlock));
    simt::EmulatedExecutor executor(order);
    kernels.run(executor, batch, workspace.data());
    return executor.counts().loaded_bytes;
  });
}

}  // namespace speclab
