#include "kernels/verify/filters.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "core/distribution/transforms.hpp"

namespace speclab {

KeptLogits kept_logits(const std::vector<double>& logits, double temperature, const Filters& filters) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> falling = logits;
  std::sort(falling.begin(), falling.end(), std::greater<>());
  const double largest = falling.front();
  const auto weight = [&](double logit) { return std::exp((logit - largest) / temperature); };
  KeptLogits kept{-infinity};
  if (filters.top_k > 0 && static_cast<std::size_t>(filters.top_k) < falling.size())
    kept.least = falling[static_cast<std::size_t>(filters.top_k) - 1];
  if (filters.top_p < 1) {
    double total = 0;
    for (const double logit : falling) total += logit < kept.least ? 0 : weight(logit);
    const double goal = filters.top_p * total;
    double above = 0;
    for (auto next = falling.begin(); next != falling.end();) {
      // All ids that tie are kept or cut together.
      const double logit = *next;
      double sum = above;
      for (; next != falling.end() && *next == logit; ++next) sum += weight(logit);
      if (reaches(sum, goal)) {
        kept.least = std::max(kept.least, logit);
        if (above > 0) kept.margin = (goal - above) / total;
        if (sum < total) kept.margin = std::min(kept.margin, (sum - goal) / total);
        break;
      }
      above = sum;
    }
  }
  if (filters.min_p > 0) {
    const double share = filters.min_p == 1 ? 1 : filters.min_p * (1 - cut_tolerance);
    const double bound = largest + std::log(share) * temperature;
    for (const double logit : falling) {
      // If min_p is 1, the bound is the largest logit itself, and no margin counts.
      if (filters.min_p == 1 || logit < kept.least) break;
      kept.margin = std::min(kept.margin, std::abs(logit - bound) / std::max(std::abs(bound), 1e-30));
    }
    kept.least = std::max(kept.least, bound);
  }
  return kept;
}

}  // namespace speclab
