// The files of a folder of texts.
#pragma once

#include <filesystem>
#include <vector>

namespace speclab {

/// Regular files of a folder and the folders in it, but not those whose name begins with a dot, in the order
/// of their paths.
std::vector<std::filesystem::path> text_files(const std::filesystem::path& folder);

}  // namespace speclab
