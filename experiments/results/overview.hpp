// Summarises results with more cells than a page can show.
#pragma once

#include <string>
#include <vector>

#include "experiments/base/page/table.hpp"
#include "experiments/run/result.hpp"

namespace speclab {

/// Largest number of cells that a page shows; a browser loads and draws so many in less than a second.
inline constexpr std::size_t max_cells_on_page = 20'000;

struct Overview {
  Result sample;              ///< result with only some values of each axis
  std::vector<Table> tables;  ///< tables over all cells: each metric, then its means along each axis
  std::string note;           ///< says which part is shown
};

/// Returns the overview; reads the cells once. `id` is the beginning of the tables' ids.
Overview overview_of(const Result& result, const CellSource& cells, const std::string& id);

}  // namespace speclab
