#include "experiments/base/support/csv.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace speclab;

TEST_CASE("lines are numbered as they stand in the file") {
  const auto lines = lines_of("\n a, b \r\n\n\tc", "some.csv");
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].where == "some.csv:2");
  CHECK(lines[0].text == "a, b");
  CHECK(lines[1].where == "some.csv:4");
  CHECK(lines_of(" \n", "x").empty());
}

TEST_CASE("words between separators, and numbers in them") {
  CHECK(split("a, b,", ',') == std::vector<std::string>{"a", "b", ""});
  CHECK(split("", ';') == std::vector<std::string>{""});
  CHECK(split("\"a, b\" , \"\",c \"d, e\"", ',') == std::vector<std::string>{"a, b", "", "c \"d", "e\""});
  CHECK(split("\"open, b", ',') == std::vector<std::string>{"\"open", "b"});
  CHECK(number_in(" -1.5e2 ") == -150);
  for (const char* const bad : {"", "1x", "nan", "inf", "1 2", "0x10"}) CHECK_FALSE(number_in(bad));
}

TEST_CASE("rows of numbers") {
  const auto rows = read_numbers("1,2\n\n3\n", "f");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].numbers == std::vector<double>{1, 2});
  CHECK(rows[1].where == "f:3");
  CHECK_THROWS_WITH_AS(read_numbers("a,b\n", "f"), "f:1: \"a\" is not a number", std::invalid_argument);
  CHECK_THROWS_WITH_AS(read_numbers("1,2\na,b\n", "f"), "f:2: \"a\" is not a number", std::invalid_argument);
  CHECK_THROWS_WITH_AS(read_numbers("1,2,\n", "f"), "f:1: \"\" is not a number", std::invalid_argument);
  const auto marked = read_numbers(
      "\xef\xbb\xbf"
      "1\n2\n",
      "f");
  CHECK(marked.at(0).numbers == std::vector<double>{1});
  CHECK(marked.at(0).where == "f:1");
  CHECK_THROWS_WITH_AS(read_numbers("\xff\xfe"
                                    "1",
                                    "f"),
                       doctest::Contains("f: begins with the byte order mark of UTF-16"),
                       std::invalid_argument);
}

TEST_CASE("columns stand where the header says, and without one in the order that was asked for") {
  const std::vector<ColumnNames> columns{{"time", "TIMESTAMP"}, {"tokens"}};
  const auto fields_of = [&](const char* text) {
    std::string all;
    each_row(text, "f", columns, [&](const std::string& where, const std::vector<std::string>& fields) {
      all += where + " " + fields.at(0) + " " + fields.at(1) + "\n";
    });
    return all;
  };
  CHECK(fields_of("1,2\n\n3,4\n") == "f:1 1 2\nf:3 3 4\n");
  CHECK(fields_of("time,tokens\n1,2\n") == "f:2 1 2\n");
  CHECK(fields_of("tokens, TIMESTAMP\n1,2\nx,4\n") == "f:2 2 1\nf:3 4 x\n");
  CHECK(fields_of("\xef\xbb\xbf"
                  "tokens,time\n1,2\n") == "f:2 2 1\n");
  CHECK(fields_of("") == "");
  for (const auto& [text, said] :
       {std::pair{"n_draft,n_acc\n1,2\n",
                  "f:1: column \"n_draft\" is not known; expected the columns time or TIMESTAMP, tokens"},
        {"time,tokens,user\n1,2,3\n", "f:1: column \"user\" is not known"},
        {"time\n1\n", "f:1: column \"tokens\" is missing"},
        {"time,tokens,TIMESTAMP\n1,2,3\n", "f:1: column \"TIMESTAMP\" occurs twice"},
        {"time,tokens\n1,2,3\n", "f:2: 3 fields"},
        {"1\n", "f:1: 1 fields"},
        {"\xff\xfe"
         "1,2\n",
         "f: begins with the byte order mark of UTF-16"}}) {
    CAPTURE(text);
    CHECK_THROWS_WITH_AS(fields_of(text), doctest::Contains(said), std::invalid_argument);
  }
}
