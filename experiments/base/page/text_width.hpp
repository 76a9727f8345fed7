// Measures the width of text on a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace speclab {

/// Returns the columns that UTF-8 text takes in a fixed-width font: none for combining marks, two for East
/// Asian letters and emoji, one for everything else (control characters and stray bytes too). Needs no
/// locale.
std::size_t text_width(std::string_view text);

/// Returns a line: `label`, padded with blanks to `columns` columns, then `text`.
std::string labelled_line(std::string_view label, std::size_t columns, std::string_view text);

}  // namespace speclab
