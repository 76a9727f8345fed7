#include "experiments/base/command/out_folder.hpp"

#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/support/atomic_file.hpp"
#include "experiments/base/support/data_files.hpp"

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
  throw UsageError("--out {}: cannot write in {}: {}", folder.string(), there.string(),
                   std::generic_category().message(problem));
}

void write_figures(const std::filesystem::path& folder, const Section& section) {
  for (const Drawing& figure : section.figures)
    write_file_atomically(folder / (figure.id + ".svg"), svg_file(figure));
}

std::filesystem::path built_explorer() {
  std::error_code error;
  for (const char* place : {"explorer/explorer.html", "build/explorer/explorer.html"}) {
    std::filesystem::path page = program_file(place);
    if (std::filesystem::is_regular_file(page, error)) return page;
  }
  return {};
}

void write_report(const std::filesystem::path& folder, const Page& page,
                  const std::filesystem::path& explorer) {
  const char* const name = "explorer.html";
  std::error_code error;
  if (!explorer.empty()) {
    std::filesystem::copy_file(explorer, folder / name, std::filesystem::copy_options::overwrite_existing,
                               error);
  }
  // The page links to the explorer only if it could be copied.
  write_file_atomically(folder / "report.html", html(page, explorer.empty() || error ? "" : name));
}

}  // namespace speclab
