// Prints a cell's text, for a terminal and for a page.
#pragma once

#include <string>

#include "experiments/base/page/table.hpp"

namespace speclab {

/// Returns the cell's text, or "–" for a number that is not finite if the text is C's word for it ("nan",
/// "-inf").
std::string printed_text(const Cell& cell);

}  // namespace speclab
