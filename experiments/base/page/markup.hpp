// Makes text safe inside HTML and SVG.
#pragma once

#include <string>
#include <string_view>

namespace speclab {

/// Returns `text` with & < > " ' replaced by character references: safe as element content and in quoted
/// attributes.
std::string escape_markup(std::string_view text);

/// Returns true for ids that need no escaping in HTML, in SVG and in fragments: a letter, then letters,
/// digits, '-' and '_'.
bool is_markup_id(std::string_view id);

}  // namespace speclab
