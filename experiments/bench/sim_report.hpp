// The result of `speclab bench sim` as tables and a figure.
#pragma once

#include "experiments/base/page/page.hpp"
#include "experiments/bench/sim_result.hpp"

namespace speclab {

/// Facts, tables with rows, and notes on what stands in which column. Without the figure.
Page sim_text(const SimReport& report);

/// With the figure.
Page sim_page(const SimReport& report);

}  // namespace speclab
