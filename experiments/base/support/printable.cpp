#include "experiments/base/support/printable.hpp"

#include <fmt/format.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <mutex>

#include "sim/text/utf8.hpp"

namespace speclab {

namespace {

unsigned char byte_at(std::string_view text, std::size_t at) { return static_cast<unsigned char>(text[at]); }

/// Unicode 15: general categories Cc, Zl and Zp, the property Bidi_Control, and the characters of Cf that are
/// invisible. Joiners (U+200C, U+200D) are not listed: they belong to words and emoji.
constexpr std::array<CodePoints, 13> hidden = {{{0x00, 0x1f},
                                                {0x7f, 0x9f},
                                                {0xad, 0xad},          // soft hyphen
                                                {0x61c, 0x61c},        // Arabic letter mark
                                                {0x180e, 0x180e},      // Mongolian vowel separator
                                                {0x200b, 0x200b},      // zero-width space
                                                {0x200e, 0x200f},      // marks of direction
                                                {0x2028, 0x202e},      // ends of lines, embedded directions
                                                {0x2060, 0x206f},      // word joiner to deprecated controls
                                                {0xfeff, 0xfeff},      // byte order mark
                                                {0xfff9, 0xfffb},      // annotations
                                                {0xfffe, 0xffff},      // no characters
                                                {0xe0000, 0xe0fff}}};  // tags

std::string escaped(std::string_view text, bool keep_newlines) {
  std::string out;
  while (!text.empty()) {
    const Glyph glyph = first_glyph(text);
    const std::string_view sequence = text.substr(0, glyph.bytes);
    constexpr std::uint32_t first_written_as_code = 0x100;
    if (glyph.shown || (keep_newlines && text.front() == '\n')) {
      out.append(sequence);
    } else if (glyph.code >= first_written_as_code) {
      out += fmt::format("\\u{:04x}", glyph.code);
    } else {
      for (const char byte : sequence) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    }
    text.remove_prefix(glyph.bytes);
  }
  return out;
}

std::string shortened(std::string_view text, std::size_t most, bool keep_newlines) {
  if (text.size() <= most) return escaped(text, keep_newlines);
  const std::size_t before = most / 4 * 3;
  const std::size_t after = most / 4;
  // The cuts do not split a character, whose bytes would be escaped.
  std::size_t begin = before;
  while (begin > 0 && (byte_at(text, begin) & 0xc0U) == 0x80 && before - begin < 3) --begin;
  std::size_t end = text.size() - after;
  while (end < text.size() && (byte_at(text, end) & 0xc0U) == 0x80 && end + after < text.size() + 3) ++end;
  return fmt::format("{} [{} bytes left out] {}", escaped(text.substr(0, begin), keep_newlines), end - begin,
                     escaped(text.substr(end), keep_newlines));
}

}  // namespace

Glyph first_glyph(std::string_view text) {
  const std::size_t length = utf8_length(text);
  if (length == 0) return {1, false, 0};
  std::uint32_t code = byte_at(text, 0) & (length == 1 ? 0x7fU : 0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) code = (code << 6U) | (byte_at(text, i) & 0x3fU);
  return {length, !within(code, hidden), code};
}

std::string printable(std::string_view text, std::size_t most) { return shortened(text, most, true); }

std::string printable_line(std::string_view text, std::size_t most) { return shortened(text, most, false); }

void print_error(std::string_view text) {
  const std::string line = printable(text) + "\n";
  static std::mutex mutex;  // the handler is that of all threads
  const std::scoped_lock lock(mutex);
  const auto former = std::signal(SIGPIPE, SIG_IGN);
  std::fputs(line.c_str(), stderr);
  std::signal(SIGPIPE, former);
}

}  // namespace speclab
