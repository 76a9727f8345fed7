// Selects the files that an option names.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace speclab {

/// Returns the `files` whose names, without folder and extension, `only` lists: each once, in the order of
/// `only`. Returns all of them if `only` is empty. Throws UsageError for a name that matches no file.
std::vector<std::filesystem::path> files_named(const std::vector<std::filesystem::path>& files,
                                               const std::vector<std::string>& only);

}  // namespace speclab
