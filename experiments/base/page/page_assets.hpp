// The style sheet and script that every page contains.
#pragma once

#include <string>
#include <string_view>

namespace speclab {

/// Returns the style sheet: readable on a phone and on paper, light or dark as the reader's system or the
/// page's button asks.
std::string page_style();

/// page.css and page.js, as the build embeds them. The script has the theme, values of figures, legends,
/// sorting, downloads and the cue of wide tables.
extern const std::string_view page_css;
extern const std::string_view page_js;

}  // namespace speclab
