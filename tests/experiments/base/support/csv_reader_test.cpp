#include "experiments/base/support/csv_reader.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

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
  CHECK(number_in(" -1.5e2 ") == -150);
  for (const char* const bad : {"", "1x", "nan", "inf", "1 2", "0x10"}) CHECK_FALSE(number_in(bad));
}

TEST_CASE("rows of numbers, with or without a header") {
  const auto rows = read_numbers("tokens,batch\n1,2\n\n3\n", "f", true);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].numbers == std::vector<double>{1, 2});
  CHECK(rows[1].where == "f:4");
  CHECK_THROWS_WITH_AS(read_numbers("a,b\n", "f", false), "f:1: \"a\" is not a number",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(read_numbers("1,2\na,b\n", "f", true), "f:2: \"a\" is not a number",
                       std::invalid_argument);
  CHECK_THROWS_AS(read_numbers("a,b\nc,d\n", "f", true), std::invalid_argument);
  CHECK_THROWS_WITH_AS(read_numbers("1,2,\n", "f", true), "f:1: \"\" is not a number", std::invalid_argument);
  for (const bool header_allowed : {false, true}) {
    CHECK_THROWS_WITH_AS(read_numbers("\xef\xbb\xbf"
                                      "1\n2\n",
                                      "f", header_allowed),
                         doctest::Contains("f: begins with a byte order mark"), std::invalid_argument);
  }
}
