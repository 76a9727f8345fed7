#include "experiments/support/data_files.hpp"

#include <system_error>

namespace speclab {

namespace {

/// Empty where the system does not say where this program is.
std::filesystem::path installed(const std::filesystem::path& relative) {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return {};
  return (program.parent_path() / SPECLAB_DATA_FROM_BIN / relative).lexically_normal();
}

}  // namespace

std::filesystem::path data_file(const std::filesystem::path& relative) {
  std::error_code error;
  const std::filesystem::path there = installed(relative);
  return there.empty() || std::filesystem::exists(relative, error) ? relative : there;
}

std::filesystem::path program_file(const std::filesystem::path& relative) {
  std::error_code error;
  const std::filesystem::path there = installed(relative);
  return std::filesystem::exists(there, error) ? there : SPECLAB_SOURCE_TREE / relative;
}

}  // namespace speclab
