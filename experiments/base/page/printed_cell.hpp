// How a cell's text is printed, on a terminal and on a page.
#pragma once

#include <string>

#include "experiments/base/page/table.hpp"

namespace speclab {

/// The cell's text; "–" for a number that is not finite where the text is C's word for it ("nan", "-inf").
std::string printed_text(const Cell& cell);

}  // namespace speclab
