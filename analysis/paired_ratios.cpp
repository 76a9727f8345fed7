#include "speclab/analysis/paired_ratios.hpp"

#include <cassert>
#include <cstddef>
#include <numeric>
#include <vector>

namespace speclab {

std::optional<Interval> paired_difference(const BatchRatio& first, const BatchRatio& second,
                                          double confidence) {
  const std::size_t batches = first.numerators.size();
  assert(first.denominators.size() == batches && second.numerators.size() == batches &&
         second.denominators.size() == batches);
  std::vector<double> differences(batches);
  for (const auto& [side, sign] : {std::pair{&first, 1.0}, {&second, -1.0}}) {
    const double above = std::accumulate(side->numerators.begin(), side->numerators.end(), 0.0);
    const double below = std::accumulate(side->denominators.begin(), side->denominators.end(), 0.0);
    if (below == 0) return std::nullopt;
    const double ratio = above / below;
    for (std::size_t i = 0; i < batches; ++i) {
      // The batch's residual, in units of the ratio, around the ratio itself.
      const double residual = side->numerators[i] - ratio * side->denominators[i];
      differences[i] += sign * (ratio + residual * static_cast<double>(batches) / below);
    }
  }
  return mean_interval(differences, confidence);
}

}  // namespace speclab
