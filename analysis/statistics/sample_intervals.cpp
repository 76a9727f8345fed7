#include "analysis/statistics/sample_intervals.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

namespace speclab {

Interval independent_mean_interval(std::span<const double> values, const Support& support,
                                   double confidence) {
  assert(!values.empty());
  constexpr std::uint64_t few = 100;
  std::map<double, std::uint64_t> counts;
  for (const double value : values) ++counts[value];
  const auto commonest = std::ranges::max_element(counts, {}, [](const auto& one) { return one.second; });
  if (values.size() - commonest->second < few) return bounded_mean_interval(counts, support, confidence);
  const std::vector<double> ones(values.size(), 1);
  const Interval mean = *ratio_interval(values, ones, confidence);
  const double unseen = -std::log((1 - confidence) / 2) / static_cast<double>(values.size());
  return {mean.estimate,
          std::max(support.low, std::min(mean.low, std::lerp(mean.estimate, support.low, unseen))),
          std::min(support.high, std::max(mean.high, std::lerp(mean.estimate, support.high, unseen)))};
}

std::optional<Interval> difference_to_best(const BatchRatio& run, std::span<const BatchRatio> others,
                                           double confidence) {
  assert(!others.empty());
  const double each = family_confidence(confidence, 2 * static_cast<int>(others.size()) - 1);
  std::vector<Interval> differences;
  std::size_t best = 0;
  for (const BatchRatio& other : others) {
    const auto difference = paired_difference(run, other, each);
    if (!difference) return std::nullopt;
    differences.push_back(*difference);
    if (difference->estimate < differences[best].estimate) best = differences.size() - 1;
  }
  Interval least = differences[best];
  for (std::size_t i = 0; i < others.size(); ++i) {
    const auto behind = paired_difference(others[i], others[best], each);
    if (i == best || (behind->bounded() && behind->high < 0)) continue;
    least.low = std::min(least.low, differences[i].low);
    least.high = std::min(least.high, differences[i].high);
  }
  return least;
}

}  // namespace speclab
