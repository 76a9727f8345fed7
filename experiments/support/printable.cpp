#include "experiments/support/printable.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/text/utf8.hpp"

namespace speclab {

namespace {

unsigned char byte_at(std::string_view text, std::size_t at) { return static_cast<unsigned char>(text[at]); }

/// Control characters of one byte, and those of two (U+0080 to U+009F), which terminals obey as well.
bool is_control(std::string_view text, std::size_t at, std::size_t length) {
  const unsigned char lead = byte_at(text, at);
  if (length == 1) return lead < ' ' || lead == 0x7f;
  return length == 2 && lead == 0xc2 && byte_at(text, at + 1) < 0xa0;
}

std::string escaped(std::string_view text, bool keep_newlines, bool escape_quotes) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text.substr(at));
    const std::size_t taken = std::max<std::size_t>(length, 1);
    const bool newline = keep_newlines && text[at] == '\n';
    if (!newline && (length == 0 || is_control(text, at, length))) {
      for (std::size_t i = 0; i < taken; ++i) out += fmt::format("\\x{:02x}", byte_at(text, at + i));
    } else {
      if (escape_quotes && (text[at] == '\'' || text[at] == '\\')) out += '\\';
      out.append(text.substr(at, taken));
    }
    at += taken;
  }
  return out;
}

bool hidden(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text.substr(at));
    if (length == 0 || is_control(text, at, length)) return true;
    at += length;
  }
  return false;
}

}  // namespace

std::string printable(std::string_view text, std::size_t most) {
  if (text.size() <= most) return escaped(text, true, false);
  const std::size_t before = most / 4 * 3;
  const std::size_t after = most / 4;
  // Characters cut in two would be shown as bytes.
  std::size_t begin = before;
  while (begin > 0 && (byte_at(text, begin) & 0xc0U) == 0x80 && before - begin < 3) --begin;
  std::size_t end = text.size() - after;
  while (end < text.size() && (byte_at(text, end) & 0xc0U) == 0x80 && end + after < text.size() + 3) ++end;
  return fmt::format("{} [{} bytes left out] {}", escaped(text.substr(0, begin), true, false), end - begin,
                     escaped(text.substr(end), true, false));
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view safe =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (hidden(text)) return "$'" + escaped(text, false, true) + "'";
  // ~ and = at the start of a word mean something to a shell.
  if (!text.empty() && text.front() != '=' && text.find_first_not_of(safe) == std::string_view::npos) {
    return std::string(text);
  }
  std::string out = "'";
  for (const char letter : text) {
    if (letter == '\'') {
      out += R"('\'')";
    } else {
      out += letter;
    }
  }
  return out + "'";
}

std::string shell_command(std::string_view program, const std::vector<std::string>& arguments) {
  std::string command(program);
  for (const std::string& argument : arguments) command += " " + shell_word(argument);
  return command;
}

}  // namespace speclab
