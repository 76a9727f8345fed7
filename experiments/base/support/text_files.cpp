#include "experiments/base/support/text_files.hpp"

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

std::string byte_order_mark_problem(std::string_view text) {
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
    return "begins with the byte order mark of UTF-16; write it as UTF-8 (iconv -f utf-16 -t utf-8)";
  if (text.starts_with("\xef\xbb\xbf"))
    return "begins with a byte order mark, the bytes EF BB BF; leave them out (tail -c +4)";
  return "";
}

}  // namespace speclab
