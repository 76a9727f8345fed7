// Files that come with the program and are not part of it: configs, scripts.
#pragma once

#include <filesystem>

namespace speclab {

/// A file that comes with this program ("configs/first.json"): where it is installed beside this
/// program, else in the source tree that this program was built from. Never in the working folder, which may
/// be somebody else's. The path is absolute; the file need not exist.
std::filesystem::path program_file(const std::filesystem::path& relative);

/// `relative` ("configs/paper") in the working folder, where it is there or nowhere, else what comes with
/// this program.
std::filesystem::path data_file(const std::filesystem::path& relative);

}  // namespace speclab
