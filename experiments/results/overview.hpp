// Chooses cells of results with more cells than a page can show.
#pragma once

#include <string>

#include "experiments/run/result.hpp"

namespace speclab {

/// Most cells that a page shows; a browser draws so many within a second.
inline constexpr std::size_t max_cells_on_page = 20'000;

struct Overview {
  Result sample;     ///< a part of the result: only some values of each axis
  std::string note;  ///< says which part is shown
};

/// Returns the overview; reads the cells once.
Overview overview_of(const Result& result, const CellSource& cells);

}  // namespace speclab
