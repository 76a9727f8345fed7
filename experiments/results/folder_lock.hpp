// One run at a time writes into a folder.
#pragma once

#include <filesystem>
#include <vector>

namespace speclab {

/// Holds the folder, which is made when it is missing, until the end of the object or of the process, and
/// removes what killed processes left half-written in it. Throws UsageError when another process holds the
/// folder. File systems without locks are used without one.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder);
  /// Folders that this object made and that are still empty go.
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  std::vector<std::filesystem::path> made_;  ///< the innermost first
  int descriptor_ = -1;
};

}  // namespace speclab
