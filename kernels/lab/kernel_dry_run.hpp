// `speclab bench kernels --dry-run`: checks the parts of the sweep that need no GPU.
#pragma once

#include <string>
#include <vector>

#include "kernels/lab/kernel_result.hpp"
#include "kernels/lab/kernel_sweep.hpp"

namespace speclab {

struct DryRunOptions {
  KernelSweep sweep;
  std::vector<BenchMethod> methods;  ///< each runs at the points of workloads that it supports
  std::string command;               ///< recorded in the report
};

/// Returns the reasons why a device would refuse a launch, in words; empty if it would not.
std::vector<std::string> launch_problems(const simt::Launch& launch);

/// Computes launches and bytes of every point and method. `problems` counts launches beyond a device's limits
/// and bytes beyond 64-bit arithmetic.
DryRunReport kernel_dry_run(const DryRunOptions& options);

}  // namespace speclab
