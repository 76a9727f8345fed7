// Computes the distribution that verification by sigmoids emits instead of the target's (Wagner et al. 2024,
// section 3.2.2), exactly and in double. Host only.
#pragma once

#include <span>
#include <vector>

namespace speclab {

/// Returns p_hat = sigma((z - alpha) / (beta - alpha)) for each logit z (Eq. 5); NaN for NaN and +inf.
std::vector<double> sigmoid_weights(std::span<const double> logits, double alpha, double beta);

/// Returns the distribution of the first token that a round emits, for gamma >= 1: the token is drafted from
/// softmax(draft) and accepted with min(1, p_hat / q_hat); otherwise it is drawn from norm((p_hat - q_hat)+),
/// or from norm(p_hat) if that sums to 0. The two rows of logits have one length; logits are finite or -inf,
/// not all of them -inf.
std::vector<double> sigmoid_first_token_distribution(std::span<const double> target_logits,
                                                     std::span<const double> draft_logits, double alpha,
                                                     double beta);

/// Returns its total variation to softmax(target), which exact verification emits.
double sigmoid_total_variation(std::span<const double> target_logits, std::span<const double> draft_logits,
                               double alpha, double beta);

}  // namespace speclab
