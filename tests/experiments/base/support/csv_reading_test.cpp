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
  CHECK(rows[0] == std::vector<double>{1, 2});
  CHECK_THROWS_WITH_AS(read_numbers("1,2\n\nx\n", "f"), "f:3: \"x\" is not a number", std::invalid_argument);
  CHECK_THROWS_WITH_AS(read_numbers("a,b\n", "f"), "f:1: \"a\" is not a number", std::invalid_argument);
  CHECK_THROWS_WITH_AS(read_numbers("1,2\na,b\n", "f"), "f:2: \"a\" is not a number", std::invalid_argument);
  CHECK_THROWS_WITH_AS(read_numbers("1,2,\n", "f"), "f:1: \"\" is not a number", std::invalid_argument);
  const auto marked = read_numbers(
      "\xef\xbb\xbf"
      "1\n2\n",
      "f");
  CHECK(marked.at(0) == std::vector<double>{1});
  CHECK_THROWS_WITH_AS(read_numbers("\xff\xfe"
                                    "1",
                                    "f"),
                       doctest::Contains("f: begins with the byte order mark of UTF-16"),
                       std::invalid_argument);
}

TEST_CASE("columns stand where the header says, and without one in the order that was asked for") {
  const auto numbers_of = [](const char* text) { return read_numbers(text, "f", {"time", "tokens"}); };
  using Rows = std::vector<std::vector<double>>;
  CHECK(numbers_of("1,2\n\n3,4\n") == Rows{{1, 2}, {3, 4}});
  CHECK(numbers_of("time,tokens\n1,2\n") == Rows{{1, 2}});
  CHECK(numbers_of("tokens, time\n1,2\n3,4\n") == Rows{{2, 1}, {4, 3}});
  CHECK(numbers_of("\xef\xbb\xbf"
                   "tokens,time\n1,2\n") == Rows{{2, 1}});
  CHECK(numbers_of("").empty());
  for (const auto& [text, said] :
       {std::pair{"n_draft,n_acc\n1,2\n", "f:1: columns n_draft,n_acc; expected time, tokens"},
        {"time,tokens,user\n1,2,3\n", "f:1: columns time,tokens,user"},
        {"time\n1\n", "f:1: 1 numbers"},
        {"time,tokens,time\n1,2,3\n", "f:1: columns"},
        {"time,tokens\n1,2,3\n", "f:2: 3 numbers"},
        {"1,2\ntime,tokens\n", "f:2: \"time\" is not a number"},
        {"\xff\xfe"
         "1,2\n",
         "f: begins with the byte order mark of UTF-16"}}) {
    CAPTURE(text);
    CHECK_THROWS_WITH_AS(numbers_of(text), doctest::Contains(said), std::invalid_argument);
  }
}
