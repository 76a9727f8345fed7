#include "experiments/base/support/text_files.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "sim/error.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;
namespace fs = std::filesystem;

namespace {

/// A folder of the test's own, gone when the test is over.
struct TempFolder {
  fs::path path;

  TempFolder() : path(TempFile("").path()) { fs::create_directories(path / "inner" / ".hidden"); }
  ~TempFolder() { fs::remove_all(path); }
  fs::path add(const std::string& name, std::uintmax_t bytes) const {
    std::ofstream(path / name) << "";
    fs::resize_file(path / name, bytes);  // without blocks on the disk
    return path / name;
  }
};

}  // namespace

TEST_CASE("files of a folder and of those in it, without hidden ones, in order") {
  const TempFolder folder;
  const fs::path second = folder.add("inner/a", 3);
  const fs::path first = folder.add("b", 3);
  folder.add(".b", 3);
  folder.add("inner/.hidden/c", 3);
  CHECK(text_files(folder.path) == std::vector<fs::path>{first, second});
}

TEST_CASE("a folder of too many bytes or files is refused before one is read, with what it has") {
  const TempFolder folder;
  folder.add("large", std::uintmax_t{3} << 30U);
  CHECK(text_files(folder.path).size() == 1);
  folder.add("inner/too", std::uintmax_t{2} << 30U);
  CHECK_THROWS_WITH_AS(text_files(folder.path), doctest::Contains(folder.path.c_str()), ModelError);
  CHECK_THROWS_WITH_AS(text_files(folder.path), doctest::Contains("2 files and 5 GiB"), ModelError);
}

TEST_CASE("a folder of which a part cannot be read is refused, since its texts would be fewer") {
  const TempFolder folder;
  folder.add("b", 3);
  CHECK(text_files(folder.path).size() == 1);
  CHECK_THROWS_WITH_AS(text_files(folder.path / "none"), doctest::Contains("cannot be read"), ModelError);
}
