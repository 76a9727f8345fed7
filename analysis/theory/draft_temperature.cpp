#include "analysis/theory/draft_temperature.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

namespace speclab {

namespace {

constexpr std::size_t grid_points = 61;
constexpr std::size_t max_peaks = 3;
/// Values closer than this are equal up to rounding.
constexpr double equal_to_rounding = 1e-12;
constexpr double narrow = 1e-4;  // in the logarithm

struct Point {
  double log_temperature;
  double acceptance;
};

/// Returns the best point of a golden section between `low` and `high`, or `seen`, which lies between them.
Point golden_section(const std::function<double(double)>& acceptance, double low, double high, Point seen) {
  constexpr double ratio = 1 / std::numbers::phi;
  const auto at = [&](double log_temperature) {
    const Point point{log_temperature, acceptance(std::exp(log_temperature))};
    if (point.acceptance > seen.acceptance + equal_to_rounding) seen = point;
    return point;
  };
  Point left = at(high - ratio * (high - low));
  Point right = at(low + ratio * (high - low));
  while (high - low > narrow) {
    if (left.acceptance < right.acceptance) {
      low = left.log_temperature;
      left = right;
      right = at(low + ratio * (high - low));
    } else {
      high = right.log_temperature;
      right = left;
      left = at(high - ratio * (high - low));
    }
  }
  return seen;
}

}  // namespace

DraftTemperature best_draft_temperature(const std::function<double(double)>& acceptance) {
  DraftTemperature best{0, acceptance(0), false};
  std::vector<Point> grid;
  const double least = std::log(least_draft_temperature);
  const double step = (std::log(max_draft_temperature) - least) / (grid_points - 1);
  for (std::size_t i = 0; i < grid_points; ++i) {
    const double log_temperature = least + step * static_cast<double>(i);
    grid.push_back({log_temperature, acceptance(std::exp(log_temperature))});
  }
  std::vector<std::size_t> peaks;
  for (std::size_t i = 0; i < grid_points; ++i) {
    const bool rises = i == 0 || grid[i].acceptance > grid[i - 1].acceptance;
    const bool falls = i + 1 == grid_points || grid[i].acceptance >= grid[i + 1].acceptance;
    if (rises && falls) peaks.push_back(i);
  }
  std::stable_sort(peaks.begin(), peaks.end(),
                   [&](std::size_t a, std::size_t b) { return grid[a].acceptance > grid[b].acceptance; });
  peaks.resize(std::min(peaks.size(), max_peaks));
  for (const std::size_t peak : peaks) {
    const Point found = golden_section(acceptance, grid[peak == 0 ? 0 : peak - 1].log_temperature,
                                       grid[std::min(peak + 1, grid_points - 1)].log_temperature, grid[peak]);
    if (found.acceptance <= best.acceptance + equal_to_rounding) continue;
    best = {std::exp(found.log_temperature), found.acceptance,
            found.log_temperature >= grid.back().log_temperature - narrow};
  }
  return best;
}

}  // namespace speclab
