// What made-up logits mean as distributions: how much target and draft overlap, and how far outputs are from
// the target.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/bench/made_logits.hpp"
#include "kernels/verify/implementation.hpp"

namespace speclab {

/// The value that a format keeps of a logit.
float rounded(float value, Dtype dtype);

/// One pair of rows as probabilities in double, after rounding to the logits' format.
struct MadeRows {
  std::vector<double> target;
  std::vector<double> draft;
  std::vector<double> target_logits;
  std::vector<double> draft_logits;
};

MadeRows made_rows(const MadeLogits& how, std::int64_t row, std::int32_t vocab, Dtype dtype);

/// The noise at which a few rows have a mean overlap sum min(target, draft) of `alpha`, by bisection, before
/// rounding. alpha in (0, 1).
float noise_for_overlap(MadeLogits how, std::int32_t vocab, double alpha);

/// Distributions of the first token, as means over rows that the noise was not chosen by.
struct MadeDistributions {
  double overlap = 0;  ///< the acceptance rate that results
  /// Total variation between the target and what comes out: of ours, by its single precision, and of the
  /// sigmoid approximation, applied to logits as they are.
  double fused_distance = 0;
  double sigmoid_distance = 0;
};

MadeDistributions made_distributions(const MadeLogits& how, std::int32_t vocab, Dtype dtype,
                                     const VerifyRule& rule);

/// Total variation of an implementation's output; nothing for the exact programs of others, whose rounding
/// nobody has worked out.
std::optional<double> output_distance(Implementation implementation, const MadeDistributions& distributions);

}  // namespace speclab
