#include "experiments/base/support/atomic_file.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>

#include "core/stop.hpp"
#include "tests/sim/scratch_folder.hpp"

namespace {

namespace fs = std::filesystem;
using speclab::ScratchFolder;
using speclab::write_file_atomically;

// While it lives, files may not grow beyond this many bytes, which acts like a full disk.
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

TEST_CASE("what a killed writer left is removed, and what others are writing stays") {
  const ScratchFolder folder;
  int told[2];
  REQUIRE(::pipe(told) == 0);
  const auto writer = [&](const char* name) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child != 0) return child;
    write_file_atomically(folder.path / name, [&](const auto& out) {
      out("half");
      if (::write(told[1], "1", 1) != 1) ::_exit(1);
      ::pause();
    });
    ::_exit(0);
  };
  const pid_t killed = writer("killed.csv");
  const pid_t writing = writer("writing.csv");
  char byte = 0;
  for (int i = 0; i < 2; ++i) REQUIRE(::read(told[0], &byte, 1) == 1);
  ::kill(killed, SIGKILL);
  ::waitpid(killed, nullptr, 0);
  std::ofstream(folder.path / ".mine.speclab.tmp.txt") << "of somebody else";
  const auto files = [&] { return std::distance(fs::directory_iterator(folder.path), {}); };
  CHECK(files() == 3);
  write_file_atomically(folder.path / "next.csv", "whole");  // the first file of this process there
  CHECK(files() == 3);
  CHECK(fs::exists(folder.path / ".mine.speclab.tmp.txt"));
  speclab::remove_partial_files(folder.path);
  CHECK(files() == 3);
  ::kill(writing, SIGKILL);
  ::waitpid(writing, nullptr, 0);
  speclab::remove_partial_files(folder.path);
  CHECK(files() == 2);
  ::close(told[0]);
  ::close(told[1]);
}

TEST_CASE("a file that is written piece by piece ends when the work shall end, and leaves nothing") {
  const ScratchFolder folder;
  bool end = false;
  const std::function<bool()> question = [&] { return end; };
  const speclab::StopScope scope(&question);
  CHECK_THROWS_AS(write_file_atomically(folder.path / "file",
                                        [&](const auto& out) {
                                          out("one");
                                          end = true;
                                          out("two");
                                        }),
                  speclab::Stopped);
  CHECK(fs::is_empty(folder.path));
  write_file_atomically(folder.path / "file", "one piece is written");
  CHECK(fs::exists(folder.path / "file"));
}
