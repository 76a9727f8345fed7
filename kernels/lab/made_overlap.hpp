// What made-up logits mean as distributions: how much target and draft overlap, and how far outputs are from
// the target.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/bench/kernel_workload.hpp"
#include "kernels/bench/made_logits.hpp"
#include "kernels/verify/implementation.hpp"

namespace speclab {

/// The value that a format keeps of a logit.
float rounded(float value, Dtype dtype);

/// ln of the sum of exp(logit).
double log_sum_exp(const std::vector<double>& logits);

/// One pair of rows as probabilities in double, after rounding to the logits' format.
struct MadeRows {
  std::vector<double> target;
  std::vector<double> draft;
  std::vector<double> target_logits;
  std::vector<double> draft_logits;
};

/// The target's ids that `filters` keep have its probability.
MadeRows made_rows(const MadeLogits& how, std::int64_t row, std::int32_t vocab, Dtype dtype,
                   const Filters& filters = {});

/// The noise at which a few rows have a mean overlap sum min(target, draft) of `alpha`, by bisection, before
/// rounding; 0 where filters leave less. alpha in (0, 1).
float noise_for_overlap(MadeLogits how, std::int32_t vocab, double alpha, const Filters& filters = {});

/// Distributions of the first token, as means over rows that the noise was not chosen by.
struct MadeDistributions {
  double overlap = 0;  ///< the acceptance rate that results
  /// Total variation between the target and what comes out: of ours, by its single precision, and of the
  /// sigmoid approximation, applied to logits as they are. Of chains without filters; else 0.
  double fused_distance = 0;
  double sigmoid_distance = 0;
  double draft_distance = 0;  ///< of the first drafted token as it is: its draw, or the one that is chosen
};

MadeDistributions made_distributions(const KernelWorkloadInfo& workload, const MadeLogits& how,
                                     std::int32_t vocab, Dtype dtype, const VerifyRule& rule);

/// Total variation of an implementation's output on chains without filters; nothing for the exact programs of
/// others, whose rounding nobody has worked out.
std::optional<double> output_distance(Implementation implementation, const MadeDistributions& distributions);

}  // namespace speclab
