// Makes text that somebody else wrote safe for a terminal or a message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace speclab {

/// The first character of a text, or a byte of it that belongs to none.
struct Glyph {
  std::size_t bytes = 0;
  bool shown = false;      ///< a terminal may show it unchanged
  std::uint32_t code = 0;  ///< code point; 0 for a byte that belongs to no character
};

/// Returns the first character of `text`, which must not be empty. Not shown are control characters,
/// characters that change the direction of the text around them or break lines (Unicode's bidirectional
/// controls, U+2028, U+2029), invisible characters of no width, and bytes that are not UTF-8.
Glyph first_glyph(std::string_view text);

/// Returns the text with such characters written as \x1b or \u202e, so that a terminal shows them instead of
/// obeying them. Newlines stay. If the text has more than `most` bytes, its middle is left out, and the
/// result says how much.
std::string printable(std::string_view text, std::size_t most = 4000);

/// Does the same for one line or one cell of a table: newlines are written as \x0a.
std::string printable_line(std::string_view text, std::size_t most = 4000);

}  // namespace speclab
