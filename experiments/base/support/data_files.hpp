// Finds configs and scripts that are installed with the program.
#pragma once

#include <filesystem>

namespace speclab {

/// Returns the absolute path of a file that comes with this program ("scripts/numpy_reference.py"): installed
/// with it, else in the source tree from which it was built. Never searches the working folder, which may be
/// untrusted. The file need not exist.
std::filesystem::path program_file(const std::filesystem::path& relative);

/// Returns `relative` ("configs/paper") in the working folder if it exists there or nowhere, else the file
/// that comes with this program.
std::filesystem::path data_file(const std::filesystem::path& relative);

}  // namespace speclab
