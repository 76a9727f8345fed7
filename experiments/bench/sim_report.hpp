// The result of `speclab bench sim` as tables and a figure.
#pragma once

#include <string>
#include <vector>

#include "experiments/bench/sim_result.hpp"
#include "experiments/report/page.hpp"

namespace speclab {

/// For the terminal and the page; tables without rows are left out.
std::vector<Table> sim_tables(const SimReport& report);

/// What stands in which column, and what the bound does and does not say: one sentence a line.
std::vector<std::string> sim_notes(const SimReport& report);

/// A whole report. std::runtime_error when gnuplot is missing.
Page sim_page(const SimReport& report);

}  // namespace speclab
