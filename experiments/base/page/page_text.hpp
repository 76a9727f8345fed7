// Makes text safe inside HTML and SVG, and measures its width on a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace speclab {

/// Returns `printable` text with & < > " ' replaced by character references: safe as element content and in
/// quoted attributes.
std::string escape_markup(std::string_view text);

/// Returns true for ids that need no escaping in HTML, in SVG and in fragments: a letter, then letters,
/// digits, '-' and '_'.
bool is_markup_id(std::string_view id);

/// Returns the columns that UTF-8 text takes in a fixed-width font: none for combining marks, two for East
/// Asian letters and emoji, one for everything else (control characters and stray bytes too). Needs no
/// locale.
std::size_t text_width(std::string_view text);

/// The columns of labels in plans.
inline constexpr std::size_t plan_label_width = 24;

/// Returns a line: `label`, padded with blanks to `columns` columns, then `text`.
std::string labelled_line(std::string_view label, std::size_t columns, std::string_view text);

}  // namespace speclab
