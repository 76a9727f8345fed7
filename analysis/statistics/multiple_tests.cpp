#include "analysis/statistics/multiple_tests.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace speclab {

std::vector<double> holm_adjusted(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return p_values[a] < p_values[b]; });
  std::vector<double> adjusted(p_values.size());
  double running = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const auto remaining = static_cast<double>(order.size() - rank);
    running = std::max(running, std::min(1.0, remaining * p_values[order[rank]]));
    adjusted[order[rank]] = running;
  }
  return adjusted;
}

int looks_at_doublings(std::uint64_t first, std::uint64_t most) {
  int looks = 1;
  for (std::uint64_t size = first; size <= most / 2; size *= 2) ++looks;
  return looks;
}

double look_confidence(double confidence, int looks) {
  assert(confidence > 0 && confidence < 1 && looks >= 1);
  return 1 - (1 - confidence) / looks;
}

}  // namespace speclab
