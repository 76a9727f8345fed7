// Text for a shell: words, and lines of them, that it reads back as they were.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace speclab {

/// The text as one word that sh, dash, bash and zsh read back byte for byte: as it stands where that is safe,
/// else in single quotes. What a terminal does not show (control characters but newlines, bytes that are not
/// UTF-8, characters that change the direction of text) is written by printf, in octal. The text holds no
/// NUL.
std::string shell_word(std::string_view text);

/// The words with spaces between them.
std::string shell_line(const std::vector<std::string>& words);

/// A program with its arguments, as they can be pasted into a shell: "speclab bench kernels --only 'a b'".
/// The program stands as it is.
std::string shell_command(std::string_view program, const std::vector<std::string>& arguments);

/// An option of a program and its value, as arguments: {"--out", "x"}; {"--out=-x"} where the value could be
/// read as an option itself.
std::vector<std::string> option_words(const std::string& option, const std::string& value);

/// A file as an argument that no program reads as an option: "./-x" for "-x", else as it is.
std::string file_argument(const std::string& file);

}  // namespace speclab
