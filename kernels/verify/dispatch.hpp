// Gives each implementation one interface, for running, sizing and counting it:
//     info                                     its entry in the list
//     unsupported_reason(batch)                the reason why it cannot run this batch, or nothing
//     workspace_bytes(batch)
//     traffic(batch, outcome)
//     run(executor, batch, workspace)          runs it on any executor
#pragma once

#include <stdexcept>
#include <string>

#include "kernels/verify/baseline.hpp"
#include "kernels/verify/cluster_layout.hpp"
#include "kernels/verify/fused_layout.hpp"
#include "kernels/verify/implementation.hpp"
#include "kernels/verify/wagner_exact.hpp"
#include "kernels/verify/wagner_sigmoid.hpp"

namespace speclab {

/// Adapts a program that keeps complete rows in scratch. `Program::Scratch` lays the scratch out, and
/// `Program::launch<T>(executor, batch, scratch)` launches the program.
template <class Program>
struct OverScratch : Program {
  using Scratch = typename Program::Scratch;

  static std::size_t workspace_bytes(const VerifyBatch& batch) {
    WorkspaceParts parts(nullptr);
    const Scratch scratch(batch, parts);
    return parts.bytes();
  }
  template <class Executor>
  static void run(Executor&& executor, const VerifyBatch& batch, void* workspace) {
    if (batch.requests == 0) return;
    WorkspaceParts parts(workspace);
    const Scratch scratch(batch, parts);
    with_logit_type(batch.target.dtype,
                    [&](auto logit) { Program::template launch<decltype(logit)>(executor, batch, scratch); });
  }
};

/// Calls `work` with the implementation. Throws std::invalid_argument for an unknown one.
template <class Work>
decltype(auto) with_implementation(Implementation implementation, const Work& work) {
  switch (implementation) {
    case Implementation::fused:
      return work(FusedKernels{});
    case Implementation::cluster:
      return work(ClusterKernels{});
    case Implementation::baseline:
      return work(OverScratch<baseline::Program>{});
    case Implementation::wagner_exact:
      return work(OverScratch<wagner::Exact>{});
    case Implementation::wagner_sigmoid:
      return work(OverScratch<wagner::SigmoidProgram>{});
  }
  throw std::invalid_argument("verification kernels: no such implementation");
}

/// Calls `work` with the implementation if it can run the batch. Throws std::invalid_argument with the reason
/// if it cannot.
template <class Work>
decltype(auto) with_implementation_for(const VerifyBatch& batch, Implementation implementation,
                                       const Work& work) {
  return with_implementation(implementation, [&](auto kernels) {
    if (const auto unsupported_reason = kernels.unsupported_reason(batch))
      throw std::invalid_argument(std::string(kernels.info.name) + ": " + *unsupported_reason);
    return work(kernels);
  });
}

}  // namespace speclab
