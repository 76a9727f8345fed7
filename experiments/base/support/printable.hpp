// Makes untrusted text safe for a terminal or a message, and prints messages on standard error.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace speclab {

/// A range of Unicode's code points.
struct CodePoints {
  std::uint32_t first;
  std::uint32_t last;
};

inline bool within(std::uint32_t code, std::span<const CodePoints> ranges) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [code](const CodePoints& range) { return range.first <= code && code <= range.last; });
}

/// The first character of a text, or its first byte if that belongs to no character.
struct Glyph {
  std::size_t bytes = 0;
  bool shown = false;      ///< a terminal may show it unchanged
  std::uint32_t code = 0;  ///< code point; 0 for a byte that belongs to no character
};

/// Returns the first character of `text`, which must not be empty. `shown` is false for control characters,
/// characters that change the direction of text or break lines (Unicode's bidirectional controls, U+2028,
/// U+2029), invisible zero-width characters, and bytes that are not UTF-8.
Glyph first_glyph(std::string_view text);

/// Returns the text with characters that are not `shown` escaped as \x1b or \u202e. Newlines stay. If the
/// text has more than `most` bytes, a note with the number of omitted bytes replaces its middle.
std::string printable(std::string_view text, std::size_t most = 4000);

/// Returns a user's text as messages quote it.
inline std::string brief(std::string_view text) { return printable(text, 80); }

/// Returns the text as `printable` does, but with newlines as \x0a, for one line or one cell of a table.
std::string printable_line(std::string_view text, std::size_t most = 4000);

/// Prints the text as `printable` returns it, and a newline, on standard error. If standard error is closed,
/// full or a pipe without a reader, the text is lost, and nothing else happens.
void print_error(std::string_view text);

}  // namespace speclab
