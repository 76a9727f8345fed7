// Tables within the width of a terminal.
#pragma once

#include <cstddef>
#include <string>

#include "experiments/page/table.hpp"

namespace speclab {

/// Columns of the standard output: of the variable COLUMNS where it is a number, else of the terminal, else
/// (a pipe or a file) 100.
std::size_t output_width();

/// The table in at most `width` columns, 0 for any number. Where it is wider, columns that say the same in
/// every row are left out first, and their value is named below; then headers and text, but no numbers, are
/// broken between words; then columns are left out from the right. The first column stays, and so does a last
/// one of verdicts. What was left out is named below the table with the width that shows it whole.
/// std::invalid_argument when a row is not as long as its header.
std::string terminal(const Table& table, std::size_t width);

}  // namespace speclab
