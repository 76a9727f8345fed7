// The style sheet and script that every page contains.
#pragma once

#include <string>
#include <string_view>

namespace speclab {

/// Returns the style sheet: readable on a phone and on paper, light or dark as the reader's system or the
/// page's button asks.
std::string page_style();

/// The script for theme, values of figures, legends, sorting, downloads and the sign that a wide table
/// scrolls.
extern const std::string_view page_script;

}  // namespace speclab
