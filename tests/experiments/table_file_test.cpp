#include "experiments/table_file.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/format/config_error.hpp"

using namespace speclab;
using Rows = std::vector<std::vector<double>>;

namespace {

class File {
 public:
  File(std::string_view extension, std::string_view content) {
    static std::atomic<int> made{0};
    path = std::filesystem::temp_directory_path() / ("speclab_rows_" + std::to_string(::getpid()) + "_" +
                                                     std::to_string(made++) + std::string(extension));
    std::ofstream(path, std::ios::binary) << content;
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }

  std::filesystem::path path;
};

Rows rows(std::string_view extension, std::string_view content) {
  return read_table_file(File(extension, content).path, "/rows");
}

/// The message without the name of the file.
std::string error_of(std::string_view extension, std::string_view content) {
  const File file(extension, content);
  try {
    read_table_file(file.path, "/rows");
  } catch (const ConfigError& error) {
    CHECK(error.path == "/rows");
    const std::string message = error.what();
    REQUIRE(message.starts_with(file.path.string() + ":"));
    return message.substr(file.path.string().size() + 1);
  }
  return "no error";
}

}  // namespace

TEST_CASE("CSV: one row a line, spaces and empty lines ignored, either line end") {
  CHECK(rows(".csv", "0.5,0.5\n0.2,0.8\n") == Rows{{0.5, 0.5}, {0.2, 0.8}});
  CHECK(rows(".csv", " 1 , 2\t,3\r\n\r\n4,5,6") == Rows{{1, 2, 3}, {4, 5, 6}});
  CHECK(rows(".txt", "1e-3,2E3\n") == Rows{{1e-3, 2e3}});
}

TEST_CASE("JSON: an array of rows") {
  CHECK(rows(".json", "[[0.5, 0.5], [1, 0]]") == Rows{{0.5, 0.5}, {1, 0}});
}

TEST_CASE("what is wrong with a file is said with its line") {
  CHECK(error_of(".csv", "0.5,0.5\n0.2,x\n") == "2: \"x\" is not a number");
  CHECK(error_of(".csv", "p,q\n0.5,0.5\n") == "1: \"p\" is not a number");
  CHECK(error_of(".csv", "0.5,,0.5\n") == "1: \"\" is not a number");
  CHECK(error_of(".csv", "\n\n0.5;0.5\n") == "3: \"0.5;0.5\" is not a number");
  CHECK(error_of(".csv", "50%,50%\n") == "1: \"50%\" is not a number");
  CHECK(error_of(".csv", "1e999,1\n") == "1: \"1e999\" is not a number");
  CHECK(error_of(".csv", "") == " holds no rows");
  CHECK(error_of(".csv", " \n\n") == " holds no rows");
  CHECK(error_of(".json", "[]") == " holds no rows");
  CHECK(error_of(".json", "[[]]") == " holds no rows");
  CHECK(error_of(".json", "[[1, \"x\"]]") == " not an array of arrays of numbers");
  CHECK(error_of(".json", "[[1, true]]") == " not an array of arrays of numbers");
  CHECK(error_of(".json", "[0.5, 0.5]") == " not an array of arrays of numbers");
  CHECK(error_of(".json", "{\"rows\": [[1]]}") == " not an array of arrays of numbers");
  CHECK(error_of(".json", "[[1, 2],\n [3,]]").starts_with(" not JSON (line 2, column 5)"));
}

TEST_CASE("a file that cannot be read") {
  try {
    read_table_file("no/such/rows.csv", "/models/target/file");
    FAIL("no error");
  } catch (const ConfigError& error) {
    CHECK(error.sentence() ==
          "/models/target/file: no/such/rows.csv: cannot be read: No such file or directory");
  }
}
