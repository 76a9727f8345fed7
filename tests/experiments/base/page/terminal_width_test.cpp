#include "experiments/base/page/table.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>

#include "experiments/base/page/page_text.hpp"

using namespace speclab;

namespace {

Table wide_table() {
  Table table{"t", "Caption", {"case", "alike", "second", "third", "verdict"}, {}, "A note."};
  for (int i = 0; i < 3; ++i) {
    const std::string number = std::to_string(1000 + i);
    table.rows.push_back({{"case " + number, {}, ""},
                          {"0.05", .05, ""},
                          {number + number, 1.0 * i, ""},
                          {number + number + number, 2.0 * i, ""},
                          {"reproduces", {}, "good"}});
  }
  return table;
}

std::size_t widest_row(const std::string& text) {
  std::istringstream lines(text);
  std::size_t widest = 0;
  std::string line;
  for (int i = 0; i < 6 && std::getline(lines, line); ++i) widest = std::max(widest, text_width(line));
  return widest;
}

}  // namespace

TEST_CASE("a table that fits is whole") {
  CHECK(terminal(wide_table(), 200) == terminal(wide_table(), 0));
  CHECK(terminal(wide_table(), 200).find("Left out") == std::string::npos);
}

TEST_CASE("columns are left out until the rest fits, alike ones first, and named with the width for all") {
  const std::size_t full = widest_row(terminal(wide_table(), 0));
  const std::string one_less = terminal(wide_table(), full - 1);
  CHECK(one_less.find("Left out for want of width: alike (0.05 in every row). COLUMNS=" +
                      std::to_string(full)) != std::string::npos);
  CHECK(one_less.find("A note.") != std::string::npos);
  for (std::size_t width = full; width > 25; --width) {
    const std::string fitted = terminal(wide_table(), width);
    CAPTURE(width);
    CHECK(widest_row(fitted) <= width);
    CHECK(fitted.find("case 1002") != std::string::npos);
    CHECK(fitted.find("reproduces") != std::string::npos);
  }
  CHECK(terminal(wide_table(), 32).find("alike (0.05 in every row), third") != std::string::npos);
  // The first column and the verdicts stay, however narrow the terminal.
  CHECK(terminal(wide_table(), 5).find("reproduces") != std::string::npos);
}

TEST_CASE("headers and text are broken between words before a column is left out, numbers never") {
  Table table{"t", "", {"what", "speedup, simulated ± interval", "remark"}, {}, ""};
  table.rows.push_back(
      {{"a", {}, ""}, {"2.8147 ± 0.0078", 2.8, ""}, {"formula within 6 of 6 intervals of it", {}, ""}});
  const std::string fitted = terminal(table, 50);
  CHECK(widest_row(fitted) <= 50);
  CHECK(fitted.find("Left out") == std::string::npos);
  CHECK(fitted.find("2.8147 ± 0.0078") != std::string::npos);
  for (const char* word : {"speedup,", "interval", "formula", "intervals"}) {
    CHECK(fitted.find(word) != std::string::npos);
  }
}

TEST_CASE("COLUMNS says how wide the output is, and a word does not") {
  ::setenv("COLUMNS", "57", 1);
  CHECK(output_width() == 57);
  ::setenv("COLUMNS", "wide", 1);
  CHECK(output_width() >= 20);
  ::unsetenv("COLUMNS");
}
