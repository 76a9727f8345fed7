#include "experiments/base/support/shell_word.hpp"

#include <fmt/format.h>

#include "experiments/base/support/printable.hpp"

namespace speclab {

namespace {

/// Returns the number of bytes from the beginning of `text` that a terminal does not show. It does show
/// newlines.
std::size_t hidden_bytes(std::string_view text) {
  std::size_t count = 0;
  while (count < text.size() && text[count] != '\n') {
    const Glyph glyph = first_glyph(text.substr(count));
    if (glyph.shown) break;
    count += glyph.bytes;
  }
  return count;
}

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
  if (!text.empty() && text.front() != '=' && text.find_first_not_of(safe) == std::string_view::npos) {
    return std::string(text);
  }
  std::string out;
  while (!text.empty()) {
    std::size_t taken = hidden_bytes(text);
    if (taken > 0) {
      out += printed_word(text.substr(0, taken));
    } else {
      while (taken < text.size() && hidden_bytes(text.substr(taken)) == 0)
        taken += first_glyph(text.substr(taken)).bytes;
      out += quoted_word(text.substr(0, taken));
    }
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
