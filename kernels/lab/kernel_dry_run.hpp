// `speclab bench kernels --dry-run`: what can be known about the sweep without a GPU.
#pragma once

#include <string>
#include <vector>

#include "kernels/lab/kernel_result.hpp"
#include "kernels/lab/kernel_sweep.hpp"

namespace speclab {

struct DryRunOptions {
  KernelSweep sweep;
  std::vector<BenchMethod> methods;  ///< each at the points of workloads that it is for
  double memory_gib = 141;
  std::string command;  ///< recorded
};

/// What a device would refuse about a launch, in words; empty for a good one.
std::vector<std::string> launch_problems(const simt::Launch& launch);

/// Launches and bytes of every point and method; small sizes run in the emulator and compared
/// with the reference. `problems` counts what is invalid: launches beyond a device's limits, bytes beyond
/// 64-bit arithmetic, decisions that are not the reference's.
DryRunReport kernel_dry_run(const DryRunOptions& options);

}  // namespace speclab
