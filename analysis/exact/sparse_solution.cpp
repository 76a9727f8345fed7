#include "analysis/exact/optimum.hpp"

#include <cstddef>
#include <limits>
#include <map>
#include <set>

#include "core/stop.hpp"

namespace speclab {

namespace {

/// The remaining equations, row by row and indexed by column.
struct System {
  std::vector<std::map<int, Rational>> rows;
  std::vector<std::set<int>> in_column;  ///< remaining rows in each column

  explicit System(const std::vector<SparseVector>& columns)
      : rows(columns.size()), in_column(columns.size()) {
    for (std::size_t column = 0; column < columns.size(); ++column) {
      for (const auto& [row, value] : columns[column]) {
        rows[static_cast<std::size_t>(row)].emplace(static_cast<int>(column), value);
        in_column[column].insert(row);
      }
    }
  }

  /// Returns row and column of an entry with little fill-in: the shortest remaining row of the shortest
  /// remaining column.
  std::pair<int, int> pivot(const std::set<std::pair<std::size_t, int>>& by_length) const {
    const int column = by_length.begin()->second;
    int best = -1;
    std::size_t least = std::numeric_limits<std::size_t>::max();
    for (const int row : in_column[static_cast<std::size_t>(column)]) {
      const std::size_t length = rows[static_cast<std::size_t>(row)].size();
      if (length < least) {
        least = length;
        best = row;
      }
    }
    return {best, column};
  }
};

}  // namespace

std::optional<std::vector<Rational>> solve_exactly(const std::vector<SparseVector>& columns,
                                                   std::vector<Rational> right) {
  System system(columns);
  std::set<std::pair<std::size_t, int>> by_length;  // remaining columns, by their number of remaining entries
  const auto length = [&](int column) { return system.in_column[static_cast<std::size_t>(column)].size(); };
  for (int column = 0; column < static_cast<int>(columns.size()); ++column)
    by_length.emplace(length(column), column);
  std::vector<std::pair<int, int>> order;
  while (!by_length.empty()) {
    end_if_stopped();
    const auto [row, column] = system.pivot(by_length);
    if (row < 0) return std::nullopt;
    order.emplace_back(row, column);
    const auto& pivot_row = system.rows[static_cast<std::size_t>(row)];
    for (const auto& [other, value] : pivot_row) by_length.erase({length(other), other});
    for (const auto& [other, value] : pivot_row) system.in_column[static_cast<std::size_t>(other)].erase(row);
    const std::set<int> below = system.in_column[static_cast<std::size_t>(column)];
    const Rational& pivot = pivot_row.at(column);
    for (const int target : below) {
      auto& changed = system.rows[static_cast<std::size_t>(target)];
      const Rational factor = changed.at(column) / pivot;
      for (const auto& [other, value] : pivot_row) {
        const auto [place, fresh] = changed.try_emplace(other);
        place->second -= factor * value;
        auto& in_column = system.in_column[static_cast<std::size_t>(other)];
        if (place->second == Rational(0)) {
          changed.erase(place);
          in_column.erase(target);
        } else if (fresh) {
          in_column.insert(target);
        }
      }
      right[static_cast<std::size_t>(target)] -= factor * right[static_cast<std::size_t>(row)];
    }
    for (const auto& [other, value] : pivot_row) {
      if (other != column) by_length.emplace(length(other), other);
    }
  }
  std::vector<Rational> solution(columns.size());
  for (auto place = order.rbegin(); place != order.rend(); ++place) {
    const auto& [row, column] = *place;
    Rational rest = right[static_cast<std::size_t>(row)];
    const auto& entries = system.rows[static_cast<std::size_t>(row)];
    for (const auto& [other, value] : entries) {
      if (other != column) rest -= value * solution[static_cast<std::size_t>(other)];
    }
    solution[static_cast<std::size_t>(column)] = rest / entries.at(column);
  }
  return solution;
}

}  // namespace speclab
