#include "experiments/base/support/data_files.hpp"

#include <dlfcn.h>

#include <system_error>

namespace speclab {

namespace {

namespace fs = std::filesystem;

constexpr char data_from_bin[] = SPECLAB_DATA_FROM_BIN;

/// Returns the folder with the files that come with this program, or with the Python package.
const fs::path& program_root() {
  static const fs::path root = [] {
    std::error_code error;
    Dl_info own{};
    // For a program the loader knows only the name by which it was started.
    const bool module = dladdr(data_from_bin, &own) != 0 && std::string(own.dli_fname).ends_with(".so");
    const fs::path file = module ? own.dli_fname : fs::read_symlink("/proc/self/exe", error);
    if (file.empty()) return fs::path("/");  // without /proc; never the working folder
    return fs::weakly_canonical(file.parent_path() / (module ? "_program/share/speclab" : data_from_bin),
                                error);
  }();
  return root;
}

}  // namespace

fs::path program_file(const fs::path& relative) { return program_root() / relative; }

fs::path data_file(const fs::path& relative) {
  std::error_code error;
  if (fs::exists(relative, error)) return relative;
  fs::path shipped = program_file(relative);
  return fs::exists(shipped, error) ? shipped : relative;
}

std::string shipped_name(const std::string& file) {
  for (const char* folder : {"configs", "data"}) {
    const std::string root = program_file(folder).string() + "/";
    if (file.starts_with(root)) return folder + file.substr(root.size() - 1);
  }
  return file;
}

}  // namespace speclab
