#include "experiments/support/atomic_file.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace {

namespace fs = std::filesystem;
using speclab::write_file_atomically;

struct ScratchFolder {
  fs::path path;

  ScratchFolder() {
    std::string name = (fs::temp_directory_path() / "speclab-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~ScratchFolder() { fs::remove_all(path); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
};

// Files may not grow beyond this many bytes while it lives: a full disk, in effect.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : former_handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &former_);
    const rlimit limit = {bytes, former_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &former_);
    ::signal(SIGXFSZ, former_handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit former_ = {};
  void (*former_handler_)(int);
};

std::string contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

long entries(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

std::string error_of(const fs::path& path, const std::string& text) {
  try {
    write_file_atomically(path, text);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("a file is written, its folders made, and replaced") {
  const ScratchFolder folder;
  const fs::path path = folder.path / "a" / "b" / "result.json";
  const std::string text("line\n\0binary", 12);
  write_file_atomically(path, text);
  CHECK(contents(path) == text);
  write_file_atomically(path, "");
  CHECK(contents(path).empty());
  CHECK(entries(path.parent_path()) == 1);
}

TEST_CASE("a write that fails leaves the old contents and no partial file") {
  const ScratchFolder folder;
  const fs::path path = folder.path / "result.json";
  write_file_atomically(path, "old");
  std::string error;
  {
    const FileSizeLimit limit(1000);
    error = error_of(path, std::string(5000, 'x'));
  }
  CHECK(error.find(path.string()) != std::string::npos);
  CHECK(error.find("File too large") != std::string::npos);
  CHECK(contents(path) == "old");
  CHECK(entries(folder.path) == 1);
}

TEST_CASE("errors name the path and the reason") {
  const ScratchFolder folder;
  fs::create_directories(folder.path / "taken" / "inside");
  const std::string over_folder = error_of(folder.path / "taken", "x");
  CHECK(over_folder.find((folder.path / "taken").string()) != std::string::npos);
  CHECK(over_folder.find("directory") != std::string::npos);
  CHECK(entries(folder.path) == 1);
  write_file_atomically(folder.path / "file", "x");
  const std::string under_file = error_of(folder.path / "file" / "below", "x");
  CHECK(under_file.find("Not a directory") != std::string::npos);
}
