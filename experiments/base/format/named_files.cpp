#include "experiments/base/format/named_files.hpp"

#include <algorithm>

#include "experiments/base/format/config_error.hpp"

namespace speclab {

std::vector<std::filesystem::path> files_named(const std::vector<std::filesystem::path>& files,
                                               const std::vector<std::string>& only) {
  if (only.empty()) return files;
  std::vector<std::string> names;
  for (const std::filesystem::path& file : files) names.push_back(file.stem().string());
  std::vector<std::filesystem::path> picked;
  for (const std::string& name : only) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) throw UsageError("--only: unknown \"{}\"{}", name, suggestion(name, names));
    const std::filesystem::path& file = files[static_cast<std::size_t>(found - names.begin())];
    if (std::find(picked.begin(), picked.end(), file) == picked.end()) picked.push_back(file);
  }
  return picked;
}

}  // namespace speclab
