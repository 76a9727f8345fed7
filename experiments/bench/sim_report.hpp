// The result of `speclab bench sim` as tables and a figure.
#pragma once

#include <string>
#include <vector>

#include "experiments/format/shape.hpp"
#include "experiments/report/page.hpp"

namespace speclab {

/// For the terminal and the page; tables without rows are left out.
std::vector<Table> sim_tables(const Json& result);

/// What stands in which column, and what the bound does and does not say: one sentence a line.
std::vector<std::string> sim_notes(const Json& result);

/// A whole report. std::runtime_error when gnuplot is missing.
Page sim_page(const Json& result);

}  // namespace speclab
