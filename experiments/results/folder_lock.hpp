// Ensures that only one run at a time writes into a folder.
#pragma once

#include <filesystem>
#include <vector>

namespace speclab {

/// Holds a lock on the folder, which is created if it is missing, until the object or the process ends.
/// Removes files that killed processes left half-written in it. Throws UsageError if another process holds
/// the folder. On a file system without locks there is no protection.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder);
  /// Removes the folders that this object created and that are still empty.
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  std::vector<std::filesystem::path> made_;  ///< innermost first
  int descriptor_ = -1;
};

}  // namespace speclab
