#include "experiments/base/support/data_files.hpp"

#include <system_error>

namespace speclab {

std::filesystem::path program_file(const std::filesystem::path& relative) {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path installed =
      (program.parent_path() / SPECLAB_DATA_FROM_BIN / relative).lexically_normal();
  return !program.empty() && std::filesystem::exists(installed, error) ? installed
                                                                       : SPECLAB_SOURCE_TREE / relative;
}

std::filesystem::path data_file(const std::filesystem::path& relative) {
  std::error_code error;
  if (std::filesystem::exists(relative, error)) return relative;
  const std::filesystem::path shipped = program_file(relative);
  return std::filesystem::exists(shipped, error) ? shipped : relative;
}

}  // namespace speclab
