// Ensures that only one run at a time writes into a folder.
#pragma once

#include <filesystem>
#include <vector>

namespace speclab {

/// Locks a folder, created if missing, until this object or the process ends. Throws UsageError if another
/// process holds the lock, or if a result's file there is not regular. A file system without locks gives no
/// protection.
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
