// Lists the workloads of measurements: whether a request's drafted tokens are a chain or a tree, and which
// cut-offs apply to the target's rows. bench_method.hpp has the methods that are measured, bench_shape.hpp
// the sizes.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/bench/made_logits.hpp"
#include "kernels/verify/filters.hpp"

namespace speclab {

enum class KernelWorkload : std::int32_t {
  chains = 0,
  cut_offs = 1,      ///< chains with top-k and top-p
  min_p = 2,         ///< chains with min-p alone
  trees = 3,         ///< siblings drawn without replacement
  chosen_trees = 4,  ///< siblings chosen: the draft's likeliest tokens
};

struct KernelWorkloadInfo {
  KernelWorkload workload;
  const char* name;      ///< name on the command line, such as "chosen-trees"
  const char* sentence;  ///< description
  /// Values of gamma (drafted tokens per request; for trees, nodes) along the gamma axis of a sweep, rising.
  std::span<const std::int32_t> gammas;
  std::int32_t centre_gamma;  ///< gamma where the axes cross
  bool branches = false;      ///< trees: `gamma` counts nodes
  /// Whether drafted tokens are the draft's likeliest instead of draws; then no draft rows are given.
  bool chosen = false;
  Filters filters{};  ///< cut-offs of every target row
  /// See MadeLogits::spread. At 3, rows are flat: about 12,000 of 128,256 ids hold 0.9 of the probability. At
  /// 16, about 20 ids do, as in real text, for which trees and cut-offs are made.
  float spread = MadeLogits{}.spread;
};

/// Returns all workloads, in the order of the enumeration.
std::span<const KernelWorkloadInfo> kernel_workloads();

const KernelWorkloadInfo& info_of(KernelWorkload workload);

}  // namespace speclab
