#include "experiments/results/summary.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "experiments/base/support/csv.hpp"
#include "experiments/results/printed_numbers.hpp"
#include "tests/experiments/run_of.hpp"

using namespace speclab;

namespace {

/// Returns a result with two printed numbers (the second is wrong) and one measured value. 1.75 is (1 -
/// .5^3)/(1 - .5).
Result judged() {
  return run_of(parse_json(R"({"title": "Table 7: speedups", "experiment": "predict", "metrics": ["speedup"],
      "gamma": 2, "measured_note": "Another machine.",
      "cases": [{"label": "right: alpha", "set": {"/alpha": 0.5}, "printed": {"speedup": "1.75"}},
                {"label": "wrong: alpha", "set": {"/alpha": 0.5}, "printed": {"speedup": "1.9"},
                 "measured": {"EMP": "1.4"}}]})"))
      .result;
}

}  // namespace

TEST_CASE("a summary has what is judged, and summary.csv what is measured as well, with the reason") {
  Summary summary;
  summary.add(judged(), "table7");
  summary.add_failure("table8", "no such file");
  const Table table = summary.table();
  REQUIRE(table.rows.size() == 3);  // two numbers and the failure
  CHECK(table.rows[0].back().css_class == "good");
  CHECK(table.rows[1].back().css_class == "bad");

  const std::vector<TextLine> lines = lines_of(summary.csv(), "");
  REQUIRE(lines.size() == 5);
  CHECK(lines[0].text ==
        "config,cell,label,metric,source,printed,formula,simulated,simulated_low,simulated_high,verdict,why");
  CHECK(lines[1].text.starts_with("table7,0,right: alpha,speedup,paper,1.75,1.75,"));
  CHECK(lines[3].text == "table7,1,wrong: alpha,speedup,EMP,1.4,1.75,,,,not judged,Another machine.");
}

TEST_CASE("each section has a row that leads to it, with how many of its printed numbers reproduce") {
  Summary summary;
  summary.add(judged(), "table7");
  const Table sections = summary.sections();
  REQUIRE(sections.rows.size() == 1);
  CHECK(sections.rows[0][0].text == "Table 7");
  CHECK(sections.rows[0][0].section == "table7");
  CHECK(sections.rows[0][1].text.starts_with("1 of 2"));
  CHECK(sections.rows[0][1].css_class == "bad");
}

TEST_CASE("values beside are in a table with ours and the reason") {
  const Table table = measured_table(judged(), "beside");
  REQUIRE(table.rows.size() == 1);
  CHECK(table.rows[0].front().text == "wrong: alpha");
  CHECK(table.rows[0].back().text == "1.4");
  CHECK(table.note == "Another machine.");
}

TEST_CASE("of printed numbers the verdict is a matter of the height: within 1 it rounds to what is printed") {
  PrintedNumbers numbers;
  numbers.add(judged(), "table7");
  const std::vector<Figure> figures = numbers.figures();
  REQUIRE(figures.size() == 1);
  for (const Series& series : figures[0].series) {
    if (series.style != SeriesStyle::points) continue;
    REQUIRE(series.names.size() == series.y.size());
    const bool good = series.name == words(Reproduction::reproduces);
    for (std::size_t i = 0; i < series.y.size(); ++i) {
      CHECK((std::abs(series.y[i]) <= 1) == good);
      CHECK(series.names[i].starts_with("table7: "));
      CHECK(series.labels[i] == (good ? "" : "wrong"));
    }
  }
}
