// Makes a folder for the files of a measurement.
#pragma once

#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

namespace speclab {

/// A new folder in the system's temporary folder; the destructor removes it with its contents.
struct TemporaryFolder {
  std::filesystem::path path;

  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "speclab-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
      throw std::runtime_error(fmt::format("{}: cannot make a temporary folder", pattern));
    }
    path = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
};

}  // namespace speclab
