// A folder that is deleted after the test.
#pragma once

#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

namespace speclab {

struct ScratchFolder {
  std::filesystem::path path;

  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "speclab-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~ScratchFolder() { std::filesystem::remove_all(path); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
};

}  // namespace speclab
