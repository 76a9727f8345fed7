// Files that are either the old one or the new one, never half of each.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

namespace speclab {

/// Replaces `path` by a file of these contents: written beside it, flushed to the disk, then renamed over it.
/// Creates missing parent folders. When any step fails the old file stays, the partial one is removed, and
/// std::runtime_error names the path and the system's reason.
void write_file_atomically(const std::filesystem::path& path, std::string_view contents);

/// The same for contents that `write` hands over piece by piece.
void write_file_atomically(
    const std::filesystem::path& path,
    const std::function<void(const std::function<void(std::string_view piece)>& out)>& write);

/// Removes what processes that were killed while they wrote left in the folder. Nobody else may be writing
/// there.
void remove_partial_files(const std::filesystem::path& folder);

}  // namespace speclab
