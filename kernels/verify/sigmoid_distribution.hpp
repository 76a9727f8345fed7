// What verification by sigmoids emits in place of the target's distribution: Wagner et al. 2024,
// section 3.2.2, exactly and in double. Host only.
#pragma once

#include <span>
#include <vector>

namespace speclab {

/// p_hat = sigma((z - alpha) / (beta - alpha)) of each logit z (Eq. 5); NaN for NaN and +inf.
std::vector<double> sigmoid_weights(std::span<const double> logits, double alpha, double beta);

/// The distribution of the first token that a round emits, for gamma >= 1: drafted from softmax(draft),
/// accepted with min(1, p_hat / q_hat), else drawn from norm((p_hat - q_hat)+), or from norm(p_hat) where
/// that sums to 0. Logits of two rows of one length, finite or -inf, not all of them -inf.
std::vector<double> sigmoid_first_token_distribution(std::span<const double> target_logits,
                                                     std::span<const double> draft_logits, double alpha,
                                                     double beta);

/// Its total variation to softmax(target), which exact verification emits.
double sigmoid_total_variation(std::span<const double> target_logits, std::span<const double> draft_logits,
                               double alpha, double beta);

}  // namespace speclab
