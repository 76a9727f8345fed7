// `speclab bench kernels`: measures how fast the verification kernels are on this machine's GPU, and how fast
// the GPU could be.
#pragma once

#include <string>
#include <vector>

#include "kernels/lab/kernel_result.hpp"
#include "kernels/lab/kernel_sweep.hpp"

namespace speclab {

struct KernelSuiteOptions {
  KernelSweep sweep;
  std::vector<BenchMethod> methods;  ///< each runs at the points of workloads that it supports
  std::vector<CacheMode> caches{CacheMode::hot, CacheMode::flushed};
  int repetitions = 200;
  std::string command;  ///< recorded in the report
};

/// Returns a row for each point, cache mode and method. Needs a device. Throws Stopped if Ctrl-C comes before
/// the first row; later, it returns the rows so far, marked partial. A point where CUDA fails has no row:
/// `left_out` has its call, file and line, and `failures` counts it.
KernelReport run_kernel_suite(const KernelSuiteOptions& options);

/// Returns the rows of one measurement, from the times that `run_kernel_suite` got from the GPU and the
/// overlap of the rows that it made up.
std::vector<VerificationRow> verification_rows(const KernelPoint& point, const BenchTask& task,
                                               const BenchMeasurement& measured, double realised_alpha);

/// Pools measurements of batches with few requests and different seeds (at least one) into one: repetitions
/// are pooled, outcomes and marginal times averaged, decisions added up, and the lowest clock taken. In such
/// a batch the number of accepted tokens, on which its time depends, is a single draw.
BenchMeasurement pooled_draws(std::vector<BenchMeasurement> draws);

/// Returns the value that `share` of the sorted values do not exceed (nearest rank); NaN if there are none.
double nearest_rank(std::vector<double> values, double share);

}  // namespace speclab
