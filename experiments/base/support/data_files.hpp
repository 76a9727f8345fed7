// Finds configs and texts that are installed with the program.
#pragma once

#include <filesystem>
#include <string>

namespace speclab {

/// Returns the absolute path of a file that comes with this program ("configs/first.json"): in share/speclab,
/// or in the source tree if the program is in its build folder. Never searches the working folder, which may
/// be untrusted. The file need not exist.
std::filesystem::path program_file(const std::filesystem::path& relative);

/// Returns `relative` ("configs/paper") in the working folder if it exists there or nowhere, else the file
/// that comes with this program.
std::filesystem::path data_file(const std::filesystem::path& relative);

/// Returns the name by which data_file finds a config or text that comes with this program; any other path
/// unchanged. Results carry these names, so that they do not depend on where the program is installed.
std::string shipped_name(const std::string& file);

}  // namespace speclab
