// Returns the cells of a result that were not interrupted.
#pragma once

#include <cstddef>
#include <vector>

#include "experiments/run/result.hpp"

namespace speclab {

/// A cell with its experiment's own result.
template <class T>
struct FinishedCell {
  std::size_t index;  ///< among all cells
  const CellResult& cell;
  const T& own;
};

/// Returns the finished cells of an experiment with struct T. They refer to the result, which must outlive
/// them.
template <class T>
std::vector<FinishedCell<T>> finished_cells(const Result& result) {
  std::vector<FinishedCell<T>> finished;
  for (std::size_t i = 0; i < result.cells.size(); ++i) {
    const CellResult& cell = result.cells[i];
    if (cell.own) finished.push_back({i, cell, own<T>(cell)});
  }
  return finished;
}

}  // namespace speclab
