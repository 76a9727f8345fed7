#include "analysis/theory/theorems.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace speclab {
namespace {

void check_ranges([[maybe_unused]] double alpha, [[maybe_unused]] int gamma, [[maybe_unused]] double cost) {
  assert(alpha >= 0 && alpha <= 1 && gamma >= 0 && cost >= 0);
}

}  // namespace

double expected_tokens(double alpha, int gamma) {
  check_ranges(alpha, gamma, 0);
  const double rejection = 1 - alpha;
  if (rejection == 0) return gamma + 1.0;
  // 1 - alpha is exact near alpha = 1, and expm1 of log1p keeps the numerator's digits there, too.
  return -std::expm1((gamma + 1.0) * std::log1p(-rejection)) / rejection;
}

double tokens_variance(double alpha, int gamma) {
  // Squared deviations are summed, because E[N^2] - E[N]^2 cancels if N is nearly constant.
  const double mean = expected_tokens(alpha, gamma);
  double variance = 0;
  double reached = 1;
  for (int n = 1; n <= gamma; ++n) {
    variance += (n - mean) * (n - mean) * reached * (1 - alpha);
    reached *= alpha;
  }
  const double last = gamma + 1.0 - mean;
  return variance + last * last * reached;
}

double speedup(double alpha, int gamma, double c) {
  check_ranges(alpha, gamma, c);
  return expected_tokens(alpha, gamma) / (gamma * c + 1);
}

double operations(double alpha, int gamma, double c_hat) {
  check_ranges(alpha, gamma, c_hat);
  return (gamma * c_hat + gamma + 1) / expected_tokens(alpha, gamma);
}

double memory_accesses(double alpha, int gamma) { return 1 / expected_tokens(alpha, gamma); }

std::optional<double> guaranteed_speedup(double alpha, double c) {
  check_ranges(alpha, 1, c);
  if (!(alpha > c)) return std::nullopt;
  return (1 + alpha) / (1 + c);
}

std::optional<double> speedup_bound_drafting_free(double alpha) {
  return speedup_bound_drafting_paid(alpha, 0);
}

std::optional<double> speedup_bound_drafting_paid(double alpha, double c) {
  check_ranges(alpha, 0, c);
  const double inverse = 1 - alpha + std::min(c, 1.0) * alpha;
  return inverse == 0 ? std::nullopt : std::optional(1 / inverse);
}

}  // namespace speclab
