#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "tests/experiments/catalog/models/built_model.hpp"

using namespace speclab;

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
  std::string model() const { return R"({"kind": "table", "file": ")" + path.string() + R"("})"; }

  std::filesystem::path path;
};

void check_same(const Model& model, const std::string& rows) {
  const Model expected = built(R"({"kind": "table", "rows": )" + rows + "}");
  REQUIRE(model.table() != nullptr);
  CHECK(model.table()->order() == expected.table()->order());
  REQUIRE(model.table()->contexts() == expected.table()->contexts());
  for (std::size_t context = 0; context < expected.table()->contexts(); ++context) {
    for (Token id = 0; id < expected.vocab(); ++id)
      CHECK(model.table()->row(context)[id] == expected.table()->row(context)[id]);
  }
}

/// Returns the message after the path and the name of the file.
std::string file_error(std::string_view extension, std::string_view content) {
  const File file(extension, content);
  const std::string error = error_of(file.model());
  const std::string start = "/model/file: " + file.path.string() + ":";
  REQUIRE(error.starts_with(start));
  return error.substr(start.size());
}

}  // namespace

TEST_CASE("the number of rows is the order; rows are normalised") {
  CHECK(built(R"({"kind": "table", "rows": [[7]]})").table()->order() == 0);
  const Model chain = built(R"({"kind": "table", "rows": [[1, 3], [1, 1]]})");
  CHECK(chain.table()->order() == 1);
  CHECK(probability(chain, 1) == 0.75);
  CHECK(built(R"({"kind": "table", "rows": [[1, 0], [0, 1], [1, 1], [2, 1]]})").table()->order() == 2);
}

TEST_CASE("rows that do not fit together") {
  CHECK(error_of(R"({"kind": "table"})") == "/model: a table needs either \"rows\" or \"file\"");
  CHECK(error_of(R"({"kind": "table", "rows": [[1]], "file": "x.csv"})").starts_with("/model: "));
  CHECK(error_of(R"({"kind": "table", "rows": [[1, 1], [1]]})").starts_with("/model/rows/1: has 1 "));
  CHECK(error_of(R"({"kind": "table", "rows": [[1, 1], [1, 1], [1, 1]]})").starts_with("/model/rows: "));
  CHECK(error_of(R"({"kind": "table", "rows": [[0, 0]]})").starts_with("/model: "));
  CHECK(error_of(R"({"kind": "table", "rows": [[0.5, 0.5], [0.5, 0.4]]})")
            .starts_with("/model/rows/1: sums to 0.9"));
  CHECK(error_of(R"({"kind": "table", "rows": [[0.3333, 0.3333, 0.3333]]})").empty());
  CHECK(error_of(R"({"kind": "table", "rows": [[-1, 1]]})").starts_with("/model/rows/0/0: "));
}

TEST_CASE("CSV: one row per line, spaces and empty lines ignored, either line end") {
  check_same(built(File(".csv", "0.5,0.5\n0.2,0.8\n").model()), "[[0.5, 0.5], [0.2, 0.8]]");
  check_same(built(File(".csv", " 1 , 2\t\r\n\r\n4,5").model()), "[[1, 2], [4, 5]]");
  check_same(built(File(".txt", "1e-3,2E3\n").model()), "[[1e-3, 2e3]]");
}

TEST_CASE("JSON: an array of rows") {
  check_same(built(File(".json", "[[0.5, 0.5], [1, 0]]").model()), "[[0.5, 0.5], [1, 0]]");
}

TEST_CASE("what is wrong with a file is said with its place in it") {
  CHECK(file_error(".csv", "0.5,0.5\n0.2,x\n") == "2: \"x\" is not a number");
  CHECK(file_error(".csv", "p,q\n0.5,0.5\n") == "1: \"p\" is not a number");
  CHECK(file_error(".csv", "0.5,,0.5\n") == "1: \"\" is not a number");
  CHECK(file_error(".csv", "1e999,1\n") == "1: \"1e999\" is not a number");
  CHECK(file_error(".csv", " \n\n") == " has no rows");
  CHECK(file_error(".json", "[[1, \"x\"]]").starts_with(" /0/1: "));
  CHECK(file_error(".json", "[0.5, 0.5]").starts_with(" /0: "));
  CHECK(file_error(".json", "[[1, 2],\n [3,]]").find("line 2") != std::string::npos);
  CHECK(error_of(R"({"kind": "table", "file": "no/such/rows.csv"})")
            .starts_with("/model/file: no/such/rows.csv: no such file"));
}

TEST_CASE("rows as written, exactly") {
  CHECK(written(R"({"kind": "table", "rows": [[1.1, 2.2], [3, 1]]})", 2) ==
        std::vector<std::vector<std::string>>{{"1/3", "2/3"}, {"3/4", "1/4"}});
  CHECK(written(R"({"kind": "table", "rows": [[1, 2]], "sampling": {"top_k": 1}})", 2).empty());
  CHECK(written(File(".csv", "1,2\n").model(), 2).empty());
}
