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
  for (const double mass : row) sum += mass;
  for (double& mass : row) mass /= sum;
}

std::vector<double> softmax(std::span<const double> logits) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  std::vector<double> row;
  for (const double logit : logits) row.push_back(std::exp(logit - largest));
  divide_by_sum(row);
  return row;
}

}  // namespace

std::vector<double> sigmoid_masses(std::span<const double> logits, double alpha, double beta) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> masses;
  for (const double logit : logits) {
    masses.push_back(logit < infinity ? 1 / (1 + std::exp(-(logit - alpha) / (beta - alpha)))
                                      : std::numeric_limits<double>::quiet_NaN());
  }
  return masses;
}

std::vector<double> sigmoid_first_token_law(std::span<const double> target_logits,
                                            std::span<const double> draft_logits, double alpha, double beta) {
  const std::vector<double> draft = softmax(draft_logits);
  std::vector<double> target_masses = sigmoid_masses(target_logits, alpha, beta);
  const std::vector<double> draft_masses = sigmoid_masses(draft_logits, alpha, beta);
  const ResidualRow<double> residual(view(target_masses), view(draft_masses), 1);

  std::vector<double> law(draft.size());
  std::vector<double> replacement(draft.size());
  double rejected = 0;
  double residual_mass = 0;
  for (std::size_t i = 0; i < law.size(); ++i) {
    law[i] = draft[i] * acceptance_ratio(target_masses[i], draft_masses[i], 1.0);
    rejected += draft[i] - law[i];
    replacement[i] = residual[static_cast<Token>(i)];
    residual_mass += replacement[i];
  }
  if (!(residual_mass > 0)) replacement = target_masses;
  divide_by_sum(replacement);
  for (std::size_t i = 0; i < law.size(); ++i) law[i] += rejected * replacement[i];
  return law;
}

double sigmoid_total_variation(std::span<const double> target_logits, std::span<const double> draft_logits,
                               double alpha, double beta) {
  const std::vector<double> law = sigmoid_first_token_law(target_logits, draft_logits, alpha, beta);
  const std::vector<double> target = softmax(target_logits);
  return total_variation(view(law), view(target));
}

}  // namespace speclab
