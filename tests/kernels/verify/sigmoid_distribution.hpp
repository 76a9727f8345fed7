// Computes the distribution that verification by sigmoids emits instead of the target's (Wagner et al. 2024,
// section 3.2.2), exactly and in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/distribution/divergence.hpp"
#include "core/rules/by_position.hpp"
#include "kernels/verify/reference.hpp"

namespace speclab {

inline Row row_view(const std::vector<double>& row) {
  return {row.data(), static_cast<std::int32_t>(row.size())};
}

inline void divide_by_sum(std::vector<double>& row) {
  double sum = 0;
  for (const double weight : row) sum += weight;
  for (double& weight : row) weight /= sum;
}

inline std::vector<double> softmax_of(std::span<const double> logits) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  std::vector<double> row;
  for (const double logit : logits) row.push_back(std::exp(logit - largest));
  divide_by_sum(row);
  return row;
}

/// Returns the distribution of the first token that a round emits, for gamma >= 1: the token is drafted from
/// softmax(draft) and accepted with min(1, p_hat / q_hat); otherwise it is drawn from norm((p_hat - q_hat)+),
/// or from norm(p_hat) if that sums to 0. The two rows of logits have one length; logits are finite or -inf,
/// not all of them -inf.
inline std::vector<double> sigmoid_first_token_distribution(std::span<const double> target_logits,
                                                            std::span<const double> draft_logits,
                                                            double alpha, double beta) {
  const std::vector<double> draft = softmax_of(draft_logits);
  std::vector<double> target_weights = sigmoid_weights(target_logits, alpha, beta);
  const std::vector<double> draft_weights = sigmoid_weights(draft_logits, alpha, beta);
  const ResidualRow<double> residual(row_view(target_weights), row_view(draft_weights), 1);

  std::vector<double> distribution(draft.size());
  std::vector<double> replacement(draft.size());
  double rejected = 0;
  double residual_weight = 0;
  for (std::size_t i = 0; i < distribution.size(); ++i) {
    distribution[i] = draft[i] * acceptance_ratio(target_weights[i], draft_weights[i], 1.0);
    rejected += draft[i] - distribution[i];
    replacement[i] = residual[static_cast<Token>(i)];
    residual_weight += replacement[i];
  }
  if (!(residual_weight > 0)) replacement = target_weights;
  divide_by_sum(replacement);
  for (std::size_t i = 0; i < distribution.size(); ++i) distribution[i] += rejected * replacement[i];
  return distribution;
}

/// Returns its total variation to softmax(target), which exact verification emits.
inline double sigmoid_total_variation(std::span<const double> target_logits,
                                      std::span<const double> draft_logits, double alpha, double beta) {
  const std::vector<double> distribution =
      sigmoid_first_token_distribution(target_logits, draft_logits, alpha, beta);
  const std::vector<double> target = softmax_of(target_logits);
  return total_variation(row_view(distribution), row_view(target));
}

}  // namespace speclab
