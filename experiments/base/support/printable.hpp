// Text that somebody else wrote, for a terminal or a message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace speclab {

/// The first character of a text, or a byte of it that belongs to none.
struct Glyph {
  std::size_t bytes = 0;
  bool shown = false;      ///< by a terminal, as it stands
  std::uint32_t code = 0;  ///< its code point; 0 of a byte that belongs to no character
};

/// Not shown are control characters, those that change the direction of the text around them or break lines
/// (Unicode's bidirectional controls, U+2028, U+2029), those without width that look like nothing, and bytes
/// that are not UTF-8. `text` is not empty.
Glyph first_glyph(std::string_view text);

/// The text with what is not shown as \x1b or \u202e, so that a terminal shows it instead of obeying it.
/// Newlines stay. Of more than `most` bytes the middle is left out, and the text says how much.
std::string printable(std::string_view text, std::size_t most = 4000);

/// The same for one line or one cell of a table: newlines are written as \x0a.
std::string printable_line(std::string_view text, std::size_t most = 4000);

}  // namespace speclab
