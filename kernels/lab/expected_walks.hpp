// Computes expected outcomes of requests without running a kernel: how far drafted tokens are accepted.
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "kernels/lab/kernel_result.hpp"

namespace speclab {

/// Largest number of ids in the made-up rows of trees; and the number of requests that are walked.
inline constexpr std::int32_t max_expected_ids = 4096;
inline constexpr std::int32_t expected_requests = 400;

/// Returns the expected outcome. For trees: means over `requests` walks of core's rule in double, on made-up
/// rows with `ids` ids whose target and draft overlap by point.alpha. For chains: each drafted token is
/// accepted with probability point.alpha.
BenchOutcome expected_outcome(const BenchMethod& method, const KernelPoint& point, std::int32_t ids,
                              std::int32_t requests = expected_requests);

/// Computes each expected outcome once.
class Expectations {
 public:
  BenchOutcome at(const BenchMethod& method, const KernelPoint& point);

 private:
  /// key: method, workload, gamma, ids and alpha
  std::map<std::tuple<std::string, KernelWorkload, std::int32_t, std::int32_t, double>, BenchOutcome> known_;
};

}  // namespace speclab
