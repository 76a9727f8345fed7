// Files that are either the old one or the new one, never half of each.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

namespace speclab {

/// Replaces `path` by a file of these contents: written beside it, flushed to the disk, then renamed over it.
/// Creates missing parent folders, and removes what killed processes left in the folder before the first file
/// that this process writes there. When any step fails the old file stays, the partial one is removed, and
/// std::runtime_error names the path and the system's reason.
void write_file_atomically(const std::filesystem::path& path, std::string_view contents);

/// The same for contents that `write` hands over piece by piece. Throws Stopped between two pieces once the
/// work shall end (core/stop.hpp).
void write_file_atomically(
    const std::filesystem::path& path,
    const std::function<void(const std::function<void(std::string_view piece)>& out)>& write);

/// Removes what processes that were killed while they wrote left in the folder. Files that others are writing
/// stay: they are locked (flock).
void remove_partial_files(const std::filesystem::path& folder);

}  // namespace speclab
