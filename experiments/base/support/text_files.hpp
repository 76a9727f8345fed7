// The files of a folder of texts.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace speclab {

/// Regular files of a folder and the folders in it, but not those whose name begins with a dot, in the order
/// of their paths. Nothing is read. Throws ModelError, which names the folder and how much was found until
/// then, for more than 100,000 files and for more than 4 GiB in them: "/" is no folder of texts.
std::vector<std::filesystem::path> text_files(const std::filesystem::path& folder);

/// What is wrong with a text that begins with a byte order mark, for the end of a sentence; empty without
/// one.
std::string byte_order_mark_problem(std::string_view text);

}  // namespace speclab
