// What every page carries inside itself.
#pragma once

#include <string_view>

namespace speclab {

/// The style sheet: dark text on white, readable on a phone and on paper.
extern const std::string_view page_style;

/// The script that sorts a table by the column whose heading is pressed.
extern const std::string_view page_script;

}  // namespace speclab
