#include "analysis/statistics/cell_layout.hpp"

#include <algorithm>
#include <cstddef>

#include "analysis/statistics/goodness_of_fit.hpp"

namespace speclab {

CellSums CellLayout::sums(std::span<const double> first_values, std::span<const double> second_values) const {
  CellSums out{std::vector<double>(members.size()), std::vector<double>(members.size())};
  for (std::size_t i = 0; i < cell_of.size(); ++i) {
    if (cell_of[i] == no_cell) {
      out.first_pool += first_values[i];
      out.second_pool += second_values[i];
      continue;
    }
    const auto cell = static_cast<std::size_t>(cell_of[i]);
    out.first[cell] += first_values[i];
    out.second[cell] += second_values[i];
    out.first_total += first_values[i];
    out.second_total += second_values[i];
  }
  return out;
}

CellLayout lay_out(std::span<const double> expected, double minimum) {
  CellLayout layout{std::vector<int>(expected.size(), CellLayout::no_cell),
                    std::vector<bool>(expected.size())};
  double rare_left = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] >= minimum) continue;
    layout.rare[i] = true;
    ++layout.rare_classes;
    rare_left += expected[i];
  }
  const bool grouped = layout.rare_classes > 0 && rare_left >= minimum;
  layout.has_pool = layout.rare_classes > 0 && !grouped;
  const double enough = std::max(minimum, rare_left / max_rare_groups);
  const auto new_cell = [&] {
    layout.members.push_back(0);
    return layout.cells() - 1;
  };
  int group = grouped ? new_cell() : CellLayout::no_cell;
  double in_group = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (layout.rare[i] && in_group >= enough && rare_left >= enough) {
      group = new_cell();
      in_group = 0;
    }
    layout.cell_of[i] = layout.rare[i] ? group : new_cell();
    if (layout.cell_of[i] != CellLayout::no_cell)
      ++layout.members[static_cast<std::size_t>(layout.cell_of[i])];
    if (layout.rare[i] && grouped) {
      in_group += expected[i];
      rare_left -= expected[i];
    }
  }
  return layout;
}

}  // namespace speclab
