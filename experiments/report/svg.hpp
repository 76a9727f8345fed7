// gnuplot's SVG, fitted for a page that holds several.
#pragma once

#include <string>
#include <string_view>

namespace speclab {

/// The <svg> element of a document that gnuplot wrote, without prolog: every id, and every reference to one,
/// gets `prefix` in front, since gnuplot gives all its drawings the same ids; gnuplot's own titles, which
/// browsers show as tooltips, make way for `label`, which screen readers speak. std::runtime_error when there
/// is no such element.
std::string inline_svg(std::string_view document, std::string_view prefix, std::string_view label);

}  // namespace speclab
