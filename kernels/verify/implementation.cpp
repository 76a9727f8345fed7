#include "kernels/verify/implementation.hpp"

#include <array>
#include <cstring>

#include "kernels/verify/dispatch.hpp"

namespace speclab {

namespace {

/// An executor that only records what it is asked to launch.
class LaunchList {
 public:
  template <class Kernel>
  void run(const simt::Launch& launch, const typename Kernel::Args&) {
    if (launch.blocks > 0) launches.push_back(launch);
  }
  /// Accepts only clusters that every device with clusters supports.
  template <class Kernel>
  bool takes(const simt::Launch& launch) const {
    return launch.cluster <= simt::portable_cluster_blocks;
  }

  std::vector<simt::Launch> launches;
};

struct alignas(256) WorkspaceBlock {
  unsigned char bytes[256];
};

}  // namespace

std::span<const ImplementationInfo> implementations() {
  static constexpr std::array all{FusedKernels::info, ClusterKernels::info, baseline::Program::info,
                                  wagner::Exact::info, wagner::SigmoidProgram::info};
  return all;
}

std::optional<std::string> unsupported_reason(Implementation implementation, const VerifyBatch& batch) {
  return with_implementation(implementation, [&](auto kernels) { return kernels.unsupported_reason(batch); });
}

KernelLayout layout_of(Implementation implementation, const VerifyBatch& batch) {
  return with_implementation_for(batch, implementation, [&](auto kernels) {
    LaunchList list;
    kernels.run(list, batch, nullptr);
    return KernelLayout{std::move(list.launches), kernels.workspace_bytes(batch)};
  });
}

Traffic traffic_of(Implementation implementation, const VerifyBatch& batch, const MeanOutcome& outcome) {
  return with_implementation_for(batch, implementation,
                                 [&](auto kernels) { return kernels.traffic(batch, outcome); });
}

std::uint64_t run_emulated(Implementation implementation, const VerifyBatch& batch, simt::Order order) {
  return with_implementation_for(batch, implementation, [&](auto kernels) {
    std::vector<WorkspaceBlock> workspace(kernels.workspace_bytes(batch) / sizeof(WorkspaceBlock));
    // The workspace may hold anything before; these bytes are absurd as a count and as a probability.
    if (!workspace.empty()) std::memset(workspace.data(), 0xa5, workspace.size() * sizeof(WorkspaceBlock));
    simt::EmulatedExecutor executor(order);
    kernels.run(executor, batch, workspace.data());
    return executor.loaded_bytes();
  });
}

}  // namespace speclab
