#include "experiments/base/support/shell_word.hpp"

#include <fmt/format.h>

#include <optional>

#include "experiments/base/support/printable.hpp"

namespace speclab {

namespace {

/// Avoids $'...', which dash does not know. Prints no newline at the end, which the shell would drop.
std::string printed_word(std::string_view bytes) {
  std::string octal;
  for (const char byte : bytes) octal += fmt::format("\\{:03o}", static_cast<unsigned char>(byte));
  return fmt::format("\"$(printf '{}')\"", octal);
}

/// Single quotes cannot contain a single quote.
std::string quoted_word(std::string_view text) {
  std::string out = "'";
  for (const char letter : text)
    out += letter == '\'' ? std::string_view(R"('\'')") : std::string_view(&letter, 1);
  return out + "'";
}

}  // namespace

std::string shell_word(std::string_view text) {
  constexpr std::string_view safe =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  // zsh expands a word that begins with =.
  if (!text.empty() && text.front() != '=' && text.find_first_not_of(safe) == std::string_view::npos)
    return std::string(text);
  std::string out;
  // Each pass takes the characters up to the next one that a terminal shows if it does not show these, or
  // does not show if it does. It shows newlines.
  while (!text.empty()) {
    std::optional<bool> shown;
    std::size_t taken = 0;
    while (taken < text.size()) {
      const Glyph glyph = first_glyph(text.substr(taken));
      const bool here = glyph.shown || text[taken] == '\n';
      if (shown.value_or(here) != here) break;
      shown = here;
      taken += glyph.bytes;
    }
    out += *shown ? quoted_word(text.substr(0, taken)) : printed_word(text.substr(0, taken));
    text.remove_prefix(taken);
  }
  return out.empty() ? "''" : out;
}

std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_word(word);
  return line;
}

std::string shell_command(std::string_view program, const std::vector<std::string>& arguments) {
  return fmt::format("{}{}{}", program, arguments.empty() ? "" : " ", shell_line(arguments));
}

std::vector<std::string> option_words(const std::string& option, const std::string& value) {
  if (value.empty() || value.front() == '-') return {option + "=" + value};
  return {option, value};
}

std::string file_argument(const std::string& file) { return file.starts_with('-') ? "./" + file : file; }

}  // namespace speclab
