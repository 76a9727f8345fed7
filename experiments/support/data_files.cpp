#include "experiments/support/data_files.hpp"

#include <system_error>

namespace speclab {

std::filesystem::path data_file(const std::filesystem::path& relative) {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error || std::filesystem::exists(relative, error)) return relative;
  return (program.parent_path() / SPECLAB_DATA_FROM_BIN / relative).lexically_normal();
}

}  // namespace speclab
