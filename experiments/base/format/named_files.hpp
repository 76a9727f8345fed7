// Files that an option names.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace speclab {

/// Those of `files` whose names, without folder and ending, `only` lists: each once, in the order of `only`.
/// All where it is empty. Throws UsageError for a name that none has.
std::vector<std::filesystem::path> files_named(const std::vector<std::filesystem::path>& files,
                                               const std::vector<std::string>& only);

}  // namespace speclab
