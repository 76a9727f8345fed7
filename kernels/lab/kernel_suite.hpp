// `speclab bench kernels`: how fast verification kernels are on this machine's GPU, beside what it allows.
#pragma once

#include <string>
#include <vector>

#include "kernels/lab/kernel_result.hpp"
#include "kernels/lab/kernel_sweep.hpp"
#include "kernels/lab/made_overlap.hpp"

namespace speclab {

struct KernelSuiteOptions {
  KernelSweep sweep;
  std::vector<BenchMethod> methods;  ///< each at the points of workloads that it is for
  std::vector<CacheMode> caches{CacheMode::hot, CacheMode::flushed};
  int repetitions = 200;
  std::string command;  ///< recorded
};

/// A row for each point, cache mode and method. Throws Stopped after a Ctrl-C before the first point was
/// done; later, what is there, "partial". There has to be a device. Points where CUDA fails are left out with
/// call, file and line, and counted as failures.
KernelReport run_kernel_suite(const KernelSuiteOptions& options);

/// The rows of one measurement, from its times: what `run_kernel_suite` makes of what the GPU gave it.
std::vector<VerificationRow> verification_rows(const KernelPoint& point, const BenchTask& task,
                                               const BenchMeasurement& measured,
                                               const MadeDistributions& distributions);

/// A batch of few requests is one draw of how many tokens are accepted, on which its times depend.
/// Measurements of such batches with other seeds, at least one, as one: repetitions pooled, outcomes and
/// marginal times averaged, decisions added up; the lowest clock.
BenchMeasurement pooled_draws(std::vector<BenchMeasurement> draws);

/// The value that `share` of the sorted values do not exceed (nearest rank); NaN of none.
double nearest_rank(std::vector<double> values, double share);

}  // namespace speclab
