// Computes distributions from made-up logits: how much target and draft overlap, and how far outputs are from
// the target.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/bench/kernel_workload.hpp"
#include "kernels/bench/made_logits.hpp"
#include "kernels/verify/implementation.hpp"

namespace speclab {

/// Returns the logit after rounding to a format.
float rounded(float value, Dtype dtype);

/// Returns ln of the sum of exp(logit).
double log_sum_exp(const std::vector<double>& logits);

/// One pair of rows as probabilities in double, after rounding to the logits' format.
struct MadeRows {
  std::vector<double> target;
  std::vector<double> draft;
  std::vector<double> target_logits;
  std::vector<double> draft_logits;
};

/// Returns a row pair. Only the target's ids that `filters` keep have probability.
MadeRows made_rows(const MadeLogits& how, std::int64_t row, std::int32_t vocab, Dtype dtype,
                   const Filters& filters = {});

/// Returns the noise at which a few rows have a mean overlap sum min(target, draft) of `alpha`, found by
/// bisection, before rounding; 0 if filters leave less. alpha is in (0, 1).
float noise_for_overlap(MadeLogits how, std::int32_t vocab, double alpha, const Filters& filters = {});

/// Distances of the first token's distribution: means over rows on which the noise was not tuned.
struct MadeDistributions {
  double overlap = 0;  ///< the resulting acceptance rate
  /// Total variation between the target and the output: of our kernels, because of single precision, and of
  /// the sigmoid approximation, applied to logits as they are. For chains without filters; else 0.
  double fused_distance = 0;
  double sigmoid_distance = 0;
  /// Total variation between the target and the first drafted token, drawn or chosen, without verification.
  double draft_distance = 0;
};

MadeDistributions made_distributions(const KernelWorkloadInfo& workload, const MadeLogits& how,
                                     std::int32_t vocab, Dtype dtype, const VerifyRule& rule);

/// Returns the total variation of an implementation's output on chains without filters; nothing for the exact
/// programs of others, whose rounding has not been worked out.
std::optional<double> output_distance(Implementation implementation, const MadeDistributions& distributions);

}  // namespace speclab
