// Quotes words and command lines for a shell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace speclab {

/// Returns the text as one word that sh, dash, bash and zsh read back byte for byte: unchanged if that is
/// safe, else in single quotes. Characters that a terminal does not show (control characters except newlines,
/// bytes that are not UTF-8, characters that change the direction of text) are written by printf, in octal.
/// The text must not contain NUL.
std::string shell_word(std::string_view text);

/// Returns the words with spaces between them.
std::string shell_line(const std::vector<std::string>& words);

/// Returns a program with its arguments, in a form that can be pasted into a shell: "speclab bench kernels
/// --only 'a b'". The program's name is not quoted.
std::string shell_command(std::string_view program, const std::vector<std::string>& arguments);

/// Returns an option and its value as arguments: {"--out", "x"}, or {"--out=-x"} if the value could be read
/// as an option.
std::vector<std::string> option_words(const std::string& option, const std::string& value);

/// Returns a file name that no program reads as an option: "./-x" for "-x", else unchanged.
std::string file_argument(const std::string& file);

}  // namespace speclab
