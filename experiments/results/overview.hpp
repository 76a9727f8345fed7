// Results of more cells than a page can show.
#pragma once

#include <string>
#include <vector>

#include "experiments/base/page/table.hpp"
#include "experiments/run/result.hpp"

namespace speclab {

/// A page of so many cells is read and drawn by a browser in less than a second.
inline constexpr std::size_t max_cells_on_page = 20'000;

struct Overview {
  Result sample;              ///< with the cells of some values of each axis
  std::vector<Table> tables;  ///< of all cells: each metric, then its means along each axis
  std::string note;           ///< what is shown, for people
};

/// Goes through the cells once. `id` begins the ids of the tables.
Overview overview_of(const Result& result, const CellSource& cells, const std::string& id);

}  // namespace speclab
