// Lists the files of a folder of texts.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace speclab {

/// Returns the regular files of a folder and its subfolders, except those whose name begins with a dot, in
/// the order of their paths. Reads none of them. Throws ModelError, which names the folder and what was found
/// so far, for more than 100,000 files or 4 GiB, and if a subfolder cannot be read.
std::vector<std::filesystem::path> text_files(const std::filesystem::path& folder);

/// Returns the problem with a text that begins with the byte order mark of UTF-16, as the end of a sentence;
/// empty if it does not.
std::string byte_order_mark_problem(std::string_view text);
/// Returns the text without the byte order mark of UTF-8, which some programs write in front of it.
std::string_view without_byte_order_mark(std::string_view text);

}  // namespace speclab
