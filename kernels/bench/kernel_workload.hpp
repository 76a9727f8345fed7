// What the drafted tokens of a measured request are: a chain or a tree, and how the target's rows are cut.
// What is measured of each is in bench_method.hpp, at which sizes in bench_shape.hpp.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/bench/made_logits.hpp"
#include "kernels/verify/filters.hpp"

namespace speclab {

enum class KernelWorkload : std::int32_t {
  chains = 0,
  cut_offs = 1,      ///< of chains, by top-k and top-p
  min_p = 2,         ///< of chains, by min-p alone
  trees = 3,         ///< siblings drawn without replacement
  chosen_trees = 4,  ///< siblings chosen: the likeliest of the draft
};

struct KernelWorkloadInfo {
  KernelWorkload workload;
  const char* name;      ///< as on the command line, such as "chosen-trees"
  const char* sentence;  ///< what it is
  /// Numbers of drafted tokens a request (of trees, of nodes) along that axis of a sweep, rising.
  std::span<const std::int32_t> gammas;
  std::int32_t centre_gamma;  ///< where the axes cross
  bool branches = false;      ///< trees: `gamma` counts nodes
  bool chosen = false;        ///< the draft's likeliest tokens in the place of draws; no draft rows are given
  Filters filters{};          ///< of every row of the target
  /// MadeLogits::spread. At 3, rows are flat: of 128,256 ids about 12,000 have 0.9 of the probability. At 16
  /// about 20 do, as after text, which trees and cut-offs are made for.
  float spread = MadeLogits{}.spread;
};

/// All of them, in the order of the enumeration.
std::span<const KernelWorkloadInfo> kernel_workloads();

const KernelWorkloadInfo& info_of(KernelWorkload workload);

}  // namespace speclab
