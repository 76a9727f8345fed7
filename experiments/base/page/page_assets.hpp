// What every page carries inside itself.
#pragma once

#include <string>
#include <string_view>

namespace speclab {

/// The style sheet: readable on a phone and on paper, light or dark as the reader's system asks or the page's
/// button says.
std::string page_style();

/// page.css and page.js, as the build embeds them. The script has the theme, values of figures, legends,
/// sorting, downloads and the cue of wide tables.
extern const std::string_view page_css;
extern const std::string_view page_js;

}  // namespace speclab
