// Presents the result of `speclab bench sim` as tables and a figure.
#pragma once

#include "experiments/base/page/page.hpp"
#include "experiments/bench/sim_result.hpp"

namespace speclab {

/// Returns facts, tables with rows, and notes that explain the columns; no figure.
Page sim_text(const SimReport& report);

/// Returns the same with the figure.
Page sim_page(const SimReport& report);

}  // namespace speclab
