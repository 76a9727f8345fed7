// Finds files that come with the program but are not part of it: configs and scripts.
#pragma once

#include <filesystem>

namespace speclab {

/// Returns the absolute path of a file that comes with this program ("scripts/numpy_reference.py"): where it
/// is installed with this program, else in the source tree from which this program was built. Never looks in
/// the working folder, which may be somebody else's. The file need not exist.
std::filesystem::path program_file(const std::filesystem::path& relative);

/// Returns `relative` ("configs/paper") in the working folder if it exists there or nowhere, else the file
/// that comes with this program.
std::filesystem::path data_file(const std::filesystem::path& relative);

}  // namespace speclab
