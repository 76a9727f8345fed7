#include "experiments/base/support/text_files.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/stop.hpp"
#include "sim/error.hpp"

namespace speclab {

namespace fs = std::filesystem;

std::vector<fs::path> text_files(const fs::path& folder) {
  constexpr std::size_t max_files = 100'000;
  constexpr double max_gib = 4;
  std::vector<fs::path> files;
  double gib = 0;
  StopCounter stop(1000);
  std::error_code error;
  std::error_code of_file;
  for (auto at = fs::recursive_directory_iterator(folder, error);
       !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    stop.step();
    const bool hidden = at->path().filename().string().starts_with('.');
    if (hidden && at->is_directory(of_file)) at.disable_recursion_pending();
    if (hidden || !at->is_regular_file(of_file)) continue;
    files.push_back(at->path());
    const std::uintmax_t size = at->file_size(of_file);
    if (!of_file) gib += static_cast<double>(size) / 0x1p30;
    if (files.size() <= max_files && gib <= max_gib) continue;
    throw ModelError(fmt::format(
        "{}: the folder and its subfolders hold more than {} files or {} GiB ({} files and {:.3g} GiB were found so far); give a folder that holds only the texts",
        folder.string(), max_files, max_gib, files.size(), gib));
  }
  // After an error the list is incomplete, so that it is not used.
  if (error) {
    throw ModelError(
        fmt::format("{}: a subfolder cannot be read ({}); give a folder that holds only the texts",
                    folder.string(), error.message()));
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string byte_order_mark_problem(std::string_view text) {
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
    return "begins with the byte order mark of UTF-16; write it as UTF-8 (iconv -f utf-16 -t utf-8)";
  return "";
}

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

}  // namespace speclab
