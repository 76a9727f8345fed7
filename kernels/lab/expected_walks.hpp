// What is expected of requests where nothing runs: how far drafted tokens are accepted.
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "kernels/lab/kernel_result.hpp"

namespace speclab {

/// Ids of the made-up rows that trees are expected by, at most; requests that are walked.
inline constexpr std::int32_t max_expected_ids = 4096;
inline constexpr std::int32_t expected_requests = 400;

/// Of trees: means over so many requests of made-up rows with `ids` ids, whose target and draft overlap by
/// point.alpha, where core's rule in double walks. Of chains: where each drafted token is accepted with
/// probability point.alpha.
BenchOutcome expected_outcome(const BenchMethod& method, const KernelPoint& point, std::int32_t ids,
                              std::int32_t requests = expected_requests);

/// Finds each once.
class Expectations {
 public:
  BenchOutcome at(const BenchMethod& method, const KernelPoint& point);

 private:
  /// By method, workload, gamma, ids and alpha.
  std::map<std::tuple<std::string, KernelWorkload, std::int32_t, std::int32_t, double>, BenchOutcome> known_;
};

}  // namespace speclab
