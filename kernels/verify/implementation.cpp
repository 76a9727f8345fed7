#include "kernels/verify/implementation.hpp"

#include <array>

#include "kernels/verify/dispatch.hpp"

namespace speclab {

namespace {

/// An executor that only writes down what it is asked to launch.
class LaunchList {
 public:
  template <class Kernel>
  void run(const simt::Launch& launch, const typename Kernel::Args&) {
    if (launch.blocks > 0) launches.push_back(launch);
  }

  std::vector<simt::Launch> launches;
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

Traffic traffic_of(Implementation implementation, const VerifyBatch& batch, double accepted,
                   double rejecting) {
  return with_implementation_for(batch, implementation, [&](auto kernels) {
    return kernels.traffic(batch, MeanOutcome{accepted, rejecting});
  });
}

}  // namespace speclab
