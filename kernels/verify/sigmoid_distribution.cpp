#include "kernels/verify/sigmoid_distribution.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "core/distribution/divergence.hpp"
#include "core/rules/token.hpp"

namespace speclab {

namespace {

Row view(const std::vector<double>& row) { return {row.data(), static_cast<std::int32_t>(row.size())}; }

void divide_by_sum(std::vector<double>& row) {
  double sum = 0;
  for (const double weight : row) sum += weight;
  for (double& weight : row) weight /= sum;
}

std::vector<double> softmax(std::span<const double> logits) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  std::vector<double> row;
  for (const double logit : logits) row.push_back(std::exp(logit - largest));
  divide_by_sum(row);
  return row;
}

}  // namespace

std::vector<double> sigmoid_weights(std::span<const double> logits, double alpha, double beta) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> weights;
  for (const double logit : logits) {
    weights.push_back(logit < infinity ? 1 / (1 + std::exp(-(logit - alpha) / (beta - alpha)))
                                       : std::numeric_limits<double>::quiet_NaN());
  }
  return weights;
}

std::vector<double> sigmoid_first_token_distribution(std::span<const double> target_logits,
                                                     std::span<const double> draft_logits, double alpha,
                                                     double beta) {
  const std::vector<double> draft = softmax(draft_logits);
  std::vector<double> target_weights = sigmoid_weights(target_logits, alpha, beta);
  const std::vector<double> draft_weights = sigmoid_weights(draft_logits, alpha, beta);
  const ResidualRow<double> residual(view(target_weights), view(draft_weights), 1);

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

double sigmoid_total_variation(std::span<const double> target_logits, std::span<const double> draft_logits,
                               double alpha, double beta) {
  const std::vector<double> distribution =
      sigmoid_first_token_distribution(target_logits, draft_logits, alpha, beta);
  const std::vector<double> target = softmax(target_logits);
  return total_variation(view(distribution), view(target));
}

}  // namespace speclab
