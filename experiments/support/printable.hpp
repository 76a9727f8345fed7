// Text that somebody else wrote, for a terminal, a message or a command line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace speclab {

/// The text with control characters and bytes that are not UTF-8 as \x1b, so that a terminal shows them
/// instead of obeying them. Newlines stay. Of more than `most` bytes the middle is left out, and the text
/// says how much.
std::string printable(std::string_view text, std::size_t most = 4000);

/// The text as one word of a POSIX shell: as it stands where that is safe, else in quotes. What quotes cannot
/// hold visibly (control characters, bytes that are not UTF-8) is written as $'\x1b', which bash and zsh
/// read.
std::string shell_word(std::string_view text);

}  // namespace speclab
