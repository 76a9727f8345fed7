// Text that somebody else wrote, for a terminal, a message or a command line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace speclab {

/// The text with control characters and bytes that are not UTF-8 as \x1b, so that a terminal shows them
/// instead of obeying them. Newlines stay. Of more than `most` bytes the middle is left out, and the text
/// says how much.
std::string printable(std::string_view text, std::size_t most = 4000);

/// The text as one word of a POSIX shell: as it stands where that is safe, else in quotes. What quotes cannot
/// hold visibly (control characters, bytes that are not UTF-8) is written as $'\x1b', which bash and zsh
/// read.
std::string shell_word(std::string_view text);

/// A program with its arguments, as they can be pasted into a shell: "speclab bench kernels --only 'a b'".
std::string shell_command(std::string_view program, const std::vector<std::string>& arguments);

}  // namespace speclab
