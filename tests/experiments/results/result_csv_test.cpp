#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "experiments/base/support/csv.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/results/result_rows.hpp"
#include "tests/experiments/run_of.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

namespace {

/// Returns the words of each line; no field of these results has a comma.
std::vector<std::vector<std::string>> fields_of(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  for (const TextLine& line : lines_of(text, "")) rows.push_back(split(line.text, ','));
  return rows;
}

std::string field(const std::vector<std::vector<std::string>>& rows, std::size_t row,
                  const std::string& name) {
  for (std::size_t i = 0; i < rows[0].size(); ++i) {
    if (rows[0][i] == name) return rows[row][i];
  }
  return "no column " + name;
}

}  // namespace

TEST_CASE("results.csv has one row per cell with names for data frames and what is the same in all rows") {
  const TempFile table("0.5,0.3,0.2\n");
  Json config = parse_json(R"({"title": "CSV", "experiment": "decode", "seed": 7,
      "models": {"target": {"kind": "table", "file": ""}, "draft": {"kind": "table", "rows": [[0.3, 0.3, 0.4]]}},
      "cost": {"c": 0.05}, "simulation": {"trials": 8, "length": 50}, "sweep": {"/cost/c_hat": [0.1, 0.2]}, "gamma": 3})");
  config["models"]["target"] = {{"kind", "table"}, {"file", table.path().string()}};
  const Result result = run_of(config).result;
  const auto rows = fields_of(csv_of(result, {}));
  REQUIRE(rows.size() == 3);
  for (const std::string& name : rows[0]) CHECK(name.find_first_of("/ .") == std::string::npos);
  CHECK(std::set<std::string>(rows[0].begin(), rows[0].end()).size() == rows[0].size());
  for (std::size_t i = 1; i < rows.size(); ++i) {
    REQUIRE(rows[i].size() == rows[0].size());
    CHECK(field(rows, i, "cell") == std::to_string(i - 1));
    CHECK(field(rows, i, "cost_c") == "0.05");
    CHECK(field(rows, i, "seed") == "7");
    CHECK(field(rows, i, "inputs") == table.path().string());
    CHECK(field(rows, i, "inputs_sha256").size() == 64);
    CHECK(field(rows, i, "version") == result.version);
  }
  // Values that cells set are the cells' own, not constants.
  CHECK(field(rows, 1, "cost_c_hat") == "0.1");
  CHECK(field(rows, 2, "cost_c_hat") == "0.2");
  CHECK(field(rows, 2, "gamma") == "3");
  CHECK(number_in(field(rows, 1, "simulated_speedup_low")).value() <=
        number_in(field(rows, 1, "simulated_speedup")).value());
}

TEST_CASE("a path is a column's name without slashes") {
  CHECK(column_name("/models/draft/alpha") == "models_draft_alpha");
  CHECK(column_name("task") == "task");
}

TEST_CASE("measured values of a paper have columns, and why they differ") {
  CHECK(measured_column("paper: T5-XXL EnDe") == "measured_paper_T5_XXL_EnDe");
  CHECK(measured_column("α here") == "measured_α_here");
  const Result result =
      run_of(parse_json(R"({"title": "CSV", "experiment": "predict", "measured_note": "Other models.",
      "cases": [{"label": "a", "set": {"/alpha": 0.5}, "measured": {"paper: T5-XXL": ".20"}},
                {"label": "b", "set": {"/alpha": 0.6}}]})"))
          .result;
  const auto rows = fields_of(csv_of(result, {}));
  REQUIRE(rows.size() == 3);
  CHECK(field(rows, 1, "measured_paper_T5_XXL") == ".20");
  CHECK(field(rows, 2, "measured_paper_T5_XXL").empty());
  CHECK(field(rows, 2, "measured_note") == "Other models.");
}
