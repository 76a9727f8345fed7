#include "experiments/base/page/page_text.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "experiments/base/support/printable.hpp"

namespace speclab {
namespace {

constexpr std::array<CodePoints, 4> no_width = {{
    {0x0300, 0x036F},  // combining marks
    {0x200B, 0x200F},  // zero-width blanks and joiners
    {0x20D0, 0x20FF},  // combining marks for symbols
    {0xFE00, 0xFE0F},  // variation selectors
}};
constexpr std::array<CodePoints, 8> double_width = {{
    {0x1100, 0x115F},    // Hangul Jamo
    {0x2E80, 0xA4CF},    // CJK, kana, Yi
    {0xAC00, 0xD7A3},    // Hangul
    {0xF900, 0xFAFF},    // CJK compatibility
    {0xFE30, 0xFE6F},    // CJK forms
    {0xFF00, 0xFF60},    // full-width forms
    {0x1F300, 0x1FAFF},  // emoji
    {0x20000, 0x3FFFD},  // CJK extensions
}};

}  // namespace

std::size_t text_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const Glyph glyph = first_glyph(text);
    if (!within(glyph.code, no_width)) width += within(glyph.code, double_width) ? 2 : 1;
    text.remove_prefix(glyph.bytes);
  }
  return width;
}

std::string labelled_line(std::string_view label, std::size_t columns, std::string_view text) {
  std::string line(label);
  line.append(columns - std::min(columns, text_width(label)), ' ');
  line += text;
  return line + '\n';
}

std::string escape_markup(std::string_view text) {
  static const std::map<char, std::string_view> references{
      {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
  std::string out;
  out.reserve(text.size());
  for (const char letter : printable(text, std::string::npos)) {
    const auto found = references.find(letter);
    out += found == references.end() ? std::string_view(&letter, 1) : found->second;
  }
  return out;
}

bool is_markup_id(std::string_view id) {
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
  constexpr std::size_t letters = 52;
  return id.find_first_of(allowed.substr(0, letters)) == 0 &&
         id.find_first_not_of(allowed) == std::string_view::npos;
}

}  // namespace speclab
