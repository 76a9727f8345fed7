#include "experiments/results/metric_tables.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "experiments/base/support/csv.hpp"
#include "experiments/results/presentation.hpp"
#include "tests/experiments/config_error_of.hpp"
#include "tests/experiments/run_of.hpp"

using namespace speclab;

namespace {

/// Runs a sweep over γ of 64 sequences with four rounds each.
Table table_over_gamma(const std::string& target, const std::string& draft, double temperature) {
  Json config{{"title", "γ"},
              {"experiment", "decode"},
              {"models", {{"target", Json::parse(target)}, {"draft", Json::parse(draft)}}},
              {"sampling", {{"temperature", temperature}}},
              {"simulation", {{"trials", 64}, {"length", 4}}},
              {"sweep", {{"/gamma", {1, 8}}}}};
  return result_table(run_of(config).result, "id", 10);
}

}  // namespace

TEST_CASE(
    "where cells of a sweep over γ have other acceptance rates the table says that their texts differ") {
  // The text is 1 2 3 3 3 ..., and the draft predicts only the token after a 3: of five tokens it predicts
  // two, of twelve nine.
  const std::string target =
      R"({"kind": "table", "rows": [[0.1, 0.7, 0.1, 0.1], [0.1, 0.1, 0.7, 0.1], [0, 0.1, 0.2, 0.7], [0, 0, 0, 1]]})";
  const std::string draft =
      R"({"kind": "table", "rows": [[0, 0, 0.1, 0.9], [0, 0, 0, 1], [1, 0, 0, 0], [0, 0, 0, 1]]})";
  const Table told = table_over_gamma(target, draft, 0);
  CHECK(told.note.find("α (contexts) differs") != std::string::npos);
  CHECK(told.note.find("320 to 768 tokens") != std::string::npos);
  // Acceptance is the same in every context.
  const Table alike = table_over_gamma(R"({"kind": "zipf", "vocab": 4})", R"({"kind": "uniform"})", 1);
  CHECK(alike.note.find("α (contexts) differs") == std::string::npos);
}

TEST_CASE("α (contexts) is the rate of the rule itself; for a rule without one it is –, with the reason") {
  const auto run = [](const char* experiment) {
    return run_of({{"title", "rates"},
                   {"experiment", experiment},
                   {"models",
                    {{"target", {{"kind", "table"}, {"rows", {{0.5, 0.3, 0.2}}}}},
                     {"draft", {{"kind", "table"}, {"rows", {{0.1, 0.3, 0.6}}}}}}},
                   {"simulation", {{"trials", 64}, {"length", 20}}},
                   {"metrics", {"alpha_overlap"}},
                   {"sweep", {{"/rule/kind", {"token", "greedy", "block", "tree"}}}}})
        .result;
  };
  for (const char* experiment : {"decode", "acceptance"}) {
    CAPTURE(experiment);
    const Result result = run(experiment);
    const auto alpha = [&](std::size_t cell) {
      return value_of(result.cells[cell].simulated, Metric::alpha_overlap);
    };
    CHECK(alpha(0)->estimate == doctest::Approx(0.6));  // .1 + .3 + .2
    CHECK(alpha(1)->estimate == doctest::Approx(0.1));  // the draft's probability of the target's argmax
    CHECK_FALSE(alpha(2));
    CHECK_FALSE(alpha(3));
    const Table table = result_table(result, "id", 10);
    const auto column = std::ranges::find(table.columns, "α (contexts), simulated") - table.columns.begin();
    REQUIRE(static_cast<std::size_t>(column) < table.columns.size());
    const auto shown = [&](std::size_t row) {
      return table.rows[row][static_cast<std::size_t>(column)].text;
    };
    CHECK(shown(0) == "0.6");
    CHECK(shown(2) == "–");
    CHECK(shown(3) == "–");
    CHECK(table.note.find("A rule without an acceptance rate in a context has no α") != std::string::npos);
    // In results.csv the number is empty.
    const auto lines = lines_of(csv_of(result, {}), "results.csv");
    const std::vector<std::string> header = split(lines[0].text, ',');
    const auto at = std::ranges::find(header, "simulated_alpha_overlap") - header.begin();
    const auto field = [&](std::size_t line) {
      return split(lines[line].text, ',').at(static_cast<std::size_t>(at));
    };
    CHECK(number_in(field(1)).value() == doctest::Approx(0.6));
    CHECK(field(3).empty());
  }
  const Table only = metric_table(
      run_of({{"title", "one"},
              {"models", {{"target", {{"kind", "zipf"}, {"vocab", 4}}}, {"draft", {{"kind", "uniform"}}}}},
              {"rule", {{"kind", "block"}}},
              {"simulation", {{"trials", 64}, {"length", 20}}}})
          .result,
      "id");
  CHECK(only.rows[0][0].text == "α (contexts)");
  CHECK(only.rows[0][2].text == "–");
  CHECK(only.note.find("A rule without an acceptance rate in a context") != std::string::npos);
}

TEST_CASE("a simulation cannot go on until an acceptance rate is known that the rule does not have") {
  const auto refused = [](const char* rule) {
    return config_error_of([&] {
      run_of({{"title", "t"},
              {"models", {{"target", {{"kind", "zipf"}, {"vocab", 4}}}, {"draft", {{"kind", "uniform"}}}}},
              {"rule", {{"kind", rule}}},
              {"simulation",
               {{"trials", 16},
                {"length", 20},
                {"until", {{"metric", "alpha_overlap"}, {"half_width", 0.5}}}}}});
    });
  };
  CHECK(refused("token").empty());
  CHECK(refused("block").starts_with("/simulation/until/metric: \"alpha_overlap\" is unknown for \"block\""));
}

TEST_CASE(
    "the rows of a case's cells are told apart by the sweep's values; labels in files stay the case's") {
  const Json config{{"title", "two ways"},
                    {"experiment", "predict"},
                    {"cases", {{{"label", "a"}, {"set", {{"/alpha", 0.7}}}}, {{"set", {{"/alpha", 0.9}}}}}},
                    {"sweep", {{"/gamma", {1, 3}}}}};
  const Result result = run_of(config).result;
  std::vector<std::string> names;
  for (const auto& row : result_table(result, "id", 10).rows) names.push_back(row.front().text);
  CHECK(names == std::vector<std::string>{"a, gamma = 1", "a, gamma = 3", "alpha = 0.9, gamma = 1",
                                          "alpha = 0.9, gamma = 3"});
  CHECK(result.cells.front().label == "a");
}
