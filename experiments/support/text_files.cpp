#include "experiments/support/text_files.hpp"

#include <algorithm>

namespace speclab {

namespace fs = std::filesystem;

std::vector<fs::path> text_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (auto at = fs::recursive_directory_iterator(folder, error); at != fs::recursive_directory_iterator();
       at.increment(error)) {
    if (error) break;
    const bool hidden = at->path().filename().string().starts_with('.');
    if (hidden && at->is_directory(error)) at.disable_recursion_pending();
    if (!hidden && at->is_regular_file(error)) files.push_back(at->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace speclab
