#include "experiments/results/metric_tables.hpp"

#include <doctest/doctest.h>

#include <string>

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
