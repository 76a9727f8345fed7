// Writes files atomically: a reader finds either the old or the new file.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

namespace speclab {

/// Replaces `path` by a file with these contents: writes them beside it, flushes them to the disk, then
/// renames the new file to `path`. Creates missing parent folders. Before the first file in a folder, removes
/// the partial files that killed processes left there. If any step fails, the old file stays, the partial one
/// is removed, and std::runtime_error names the path and the system's reason.
void write_file_atomically(const std::filesystem::path& path, std::string_view contents);

/// Replaces `path` as above by contents that `write` passes in parts. Throws Stopped between two parts if the
/// work is to stop (core/stop.hpp).
void write_file_atomically(
    const std::filesystem::path& path,
    const std::function<void(const std::function<void(std::string_view piece)>& out)>& write);

/// Removes the partial files that killed processes left in the folder. Files that others are writing stay:
/// they are locked (flock).
void remove_partial_files(const std::filesystem::path& folder);

}  // namespace speclab
