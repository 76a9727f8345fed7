#include "experiments/results/result_section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "experiments/base/page/cells.hpp"
#include "experiments/config/cells.hpp"

namespace speclab {

namespace {

constexpr std::size_t max_in_sample = 3000;  // a heat map draws each cell

/// Returns the numbers of cases and of values along each axis of the sweep. Returns one axis if the cells are
/// not the product of these, as when an experiment divides each cell into several.
std::vector<std::size_t> lengths_of_axes(const ShownConfig& config, std::size_t cells) {
  std::vector<std::size_t> axes{config.cases ? config.cases->size() : 1};
  std::size_t product = axes.front();
  if (config.sweep) {
    for (const auto& [path, axis] : *config.sweep) {
      axes.push_back(axis_values(*axis, "/sweep/" + path).size());
      product *= axes.back();
    }
  }
  return product == cells ? axes : std::vector<std::size_t>{cells};
}

/// Returns the number of values to show per axis; the longest axes are thinned first.
std::vector<std::size_t> kept_values(const std::vector<std::size_t>& axes) {
  std::vector<std::size_t> kept = axes;
  double product = 1;
  for (const std::size_t values : axes) product *= static_cast<double>(values);
  while (product > max_in_sample) {
    std::size_t& longest = *std::max_element(kept.begin(), kept.end());
    product *= static_cast<double>(longest - 1) / static_cast<double>(longest);
    --longest;
  }
  return kept;
}

/// Returns true if place `at` of `count` is one of `kept` equally spaced places, which include both ends.
bool is_kept(std::size_t at, std::size_t count, std::size_t kept) {
  if (kept >= count) return true;
  if (kept == 1) return at == 0;
  const std::size_t number = (at * (kept - 1) + count - 2) / (count - 1);
  return number * (count - 1) / (kept - 1) == at;
}

}  // namespace

Overview overview_of(const Result& result, const CellSource& cells) {
  const std::vector<std::size_t> axes = lengths_of_axes(result.shown(), cells.size());
  const std::vector<std::size_t> kept = kept_values(axes);
  Overview overview;
  Result& sample = overview.sample;
  static_cast<ResultHead&>(sample) = result;
  std::vector<std::size_t> at(axes.size());
  cells.each([&](const CellResult& cell) {
    bool in_sample = true;
    for (std::size_t axis = 0; axis < axes.size(); ++axis)
      in_sample = in_sample && is_kept(at[axis], axes[axis], kept[axis]);
    if (in_sample) sample.cells.push_back(cell);
    for (std::size_t axis = axes.size(); axis-- > 0;) {
      if (++at[axis] < axes[axis]) break;
      at[axis] = 0;
    }
  });
  overview.note = fmt::format(
      "{} cells are more than a page can show: figures and tables show {} of them, equally spaced along each axis. results.csv lists every one.",
      grouped(cells.size()), grouped(sample.cells.size()));
  return overview;
}

}  // namespace speclab
