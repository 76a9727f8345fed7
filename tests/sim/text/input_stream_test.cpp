#include "sim/text/input_stream.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>

#include "core/stop.hpp"
#include "tests/sim/scratch_folder.hpp"

namespace {

namespace fs = std::filesystem;
using speclab::InputStream;
using speclab::ScratchFolder;

std::string content(const fs::path& file) {
  InputStream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("files and pipes are read to their end") {
  const ScratchFolder folder;
  std::string text(200'000, 'x');
  text += std::string(1, '\0') + "\xff\nend";
  std::ofstream(folder.path / "file", std::ios::binary) << text;
  CHECK(content(folder.path / "file") == text);
  REQUIRE(::mkfifo((folder.path / "pipe").c_str(), 0600) == 0);
  std::thread writer([&] { std::ofstream(folder.path / "pipe", std::ios::binary) << text; });
  CHECK(content(folder.path / "pipe") == text);
  writer.join();
  CHECK(!InputStream(folder.path / "missing"));
}

TEST_CASE("waiting for a pipe ends when the work shall end") {
  const ScratchFolder folder;
  REQUIRE(::mkfifo((folder.path / "pipe").c_str(), 0600) == 0);
  int asked = 0;
  const std::function<bool()> question = [&] { return ++asked > 2; };
  const speclab::StopScope scope(&question);
  CHECK_THROWS_AS(content(folder.path / "pipe"), speclab::Stopped);
  InputStream lines(folder.path / "pipe");
  std::string line;
  CHECK_THROWS_AS(std::getline(lines, line), speclab::Stopped);
}
