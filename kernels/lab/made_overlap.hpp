// Computes rows of probabilities from made-up logits, and how much those of target and draft overlap.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/bench/kernel_workload.hpp"
#include "kernels/bench/made_logits.hpp"

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

/// Returns the mean overlap of rows on which the noise was not tuned: the resulting acceptance rate.
double made_overlap(const MadeLogits& how, std::int32_t vocab, Dtype dtype, const Filters& filters);

}  // namespace speclab
