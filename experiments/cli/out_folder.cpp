#include "experiments/cli/out_folder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "experiments/config/config_error.hpp"
#include "experiments/support/atomic_file.hpp"

namespace speclab {

void refuse_unwritable(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::path there = std::filesystem::absolute(folder, error);
  while (!std::filesystem::exists(there, error) && there != there.parent_path()) there = there.parent_path();
  int problem = 0;
  if (!std::filesystem::is_directory(there, error)) {
    problem = ENOTDIR;
  } else if (access(there.c_str(), W_OK | X_OK) != 0) {
    problem = errno;
  }
  if (problem == 0) return;
  throw UsageError(fmt::format("--out {}: cannot write in {}: {}", folder.string(), there.string(),
                               std::generic_category().message(problem)));
}

void write_figures(const std::filesystem::path& folder, const Section& section) {
  for (const Drawing& figure : section.figures)
    write_file_atomically(folder / (figure.id + ".svg"), figure.svg + "\n");
}

}  // namespace speclab
