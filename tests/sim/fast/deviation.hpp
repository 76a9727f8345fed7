// Compares two runs.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/tally.hpp"

namespace speclab {

/// Returns how far two runs differ, in standard errors over batches, in the mean acceptance rates of drafted
/// tokens' contexts and in the mean accepted lengths: the larger of both.
inline double deviation(const std::vector<Tally>& one, const std::vector<Tally>& two) {
  struct Mean {
    double value;
    double variance;  ///< variance of `value`
  };
  const auto mean_of = [](const std::vector<Tally>& batches, const auto& of_batch) {
    double sum = 0;
    double squares = 0;
    for (const Tally& batch : batches) {
      const double value = of_batch(batch);
      sum += value;
      squares += value * value;
    }
    const auto n = static_cast<double>(batches.size());
    return Mean{sum / n, (squares / n - sum / n * (sum / n)) / (n - 1)};
  };
  const auto between = [&](const auto& of_batch) {
    const Mean a = mean_of(one, of_batch);
    const Mean b = mean_of(two, of_batch);
    return std::abs(a.value - b.value) / std::sqrt(a.variance + b.variance);
  };
  const double rates = between([](const Tally& batch) {
    return static_cast<double>(batch.overlap_quanta) * Tally::quantum /
           static_cast<double>(batch.overlap_contexts);
  });
  return std::max(rates, between([](const Tally& batch) {
                    return static_cast<double>(batch.accepted) / static_cast<double>(batch.rounds);
                  }));
}

}  // namespace speclab
