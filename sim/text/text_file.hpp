// Reading a whole file.
#pragma once

#include <filesystem>
#include <string>

namespace speclab {

/// The content of a file. Throws ModelError, naming the file, when it cannot be read.
std::string load_text(const std::filesystem::path& file);

}  // namespace speclab
