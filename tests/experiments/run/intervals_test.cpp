// Tests how results state the error of their numbers: with intervals if possible, and without a verdict if
// there is none.
#include <doctest/doctest.h>

#include <fmt/format.h>
#include <string>

#include "experiments/results/metric_tables.hpp"
#include "experiments/results/presentation.hpp"
#include "tests/experiments/run_of.hpp"

using namespace speclab;

namespace {

/// Runs a pair whose acceptance rate differs between contexts.
Result dependent(int trials, int length) {
  return run_of(parse_json(fmt::format(R"({{"title": "test", "seed": 3, "gamma": 3, "models": {{
      "target": {{"kind": "markov", "vocab": 12, "concentration": 0.5, "seed": 1}},
      "draft": {{"kind": "markov", "vocab": 12, "concentration": 0.5, "seed": 2}}}},
      "simulation": {{"trials": {}, "length": {}}}}})",
                                       trials, length)))
      .result;
}

Result independent(double alpha, int seed, double confidence) {
  return run_of({{"title", "test"},
                 {"experiment", "iid"},
                 {"alpha", alpha},
                 {"gamma", 5},
                 {"seed", seed},
                 {"confidence", confidence},
                 {"simulation", {{"trials", 8}, {"length", 50}}}})
      .result;
}

}  // namespace

TEST_CASE("few sequences of dependent rounds: estimates without bounds, and a sentence") {
  for (const int trials : {1, 4, 7}) {
    const Result result = dependent(trials, 300);
    const CellResult& cell = result.cells.front();
    CHECK(has_unknown_error(cell));
    CHECK(cell.simulated.size() == 8);
    for (const auto& [metric, interval] : cell.simulated) CHECK_FALSE(interval.bounded());
    CHECK(cell.agreement.empty());
    CHECK(interval_note(result).find("± ?") != std::string::npos);
    CHECK(verdict_cell(result, cell).text.find("too few independent sequences") != std::string::npos);
    CHECK(csv_of(result, {}).find("too few independent sequences") != std::string::npos);
    // This also holds after writing and reading.
    CHECK(has_unknown_error(read_result(result_json(result)).cells.front()));
  }
  const Result enough = dependent(8, 300);
  CHECK_FALSE(has_unknown_error(enough.cells.front()));
  CHECK(interval_note(enough) == "± is the 95% interval.");
  for (const auto& [metric, interval] : enough.cells.front().simulated) CHECK(interval.judges());
}

TEST_CASE("one sequence of rounds that are known to be independent has intervals") {
  const Result result = run_of(parse_json(R"({"title": "test", "seed": 3, "gamma": 3, "models": {
      "target": {"kind": "zipf", "vocab": 50},
      "draft": {"kind": "mixture", "alpha": 0.8, "other": {"kind": "zipf", "reversed": true}}},
      "simulation": {"trials": 1, "length": 3000}})"))
                            .result;
  const CellResult& cell = result.cells.front();
  REQUIRE(cell.exact_alpha);
  CHECK_FALSE(has_unknown_error(cell));
  CHECK(cell.agreement.size() == 6);
}

TEST_CASE("at extremes a formula that is right is not refuted, nor judged by a number without width") {
  // Null: each of 7,200 intervals holds with probability 1 - 1e-7. Most runs at .9999 see no rejection at
  // all.
  for (const double alpha : {0.0, 0.01, 0.5, 0.99, 0.9999, 1.0}) {
    for (int seed = 1; seed <= 200; ++seed) {
      const CellResult cell = independent(alpha, seed, 0.9999999).cells.front();
      CAPTURE(alpha);
      CAPTURE(seed);
      CHECK(cell.agreement.size() == 6);
      for (const auto& [name, held] : cell.agreement) CHECK_MESSAGE(held, name);
      for (const PositionAcceptance& position : cell.positions) CHECK(position.unconditional->judges());
    }
  }
  // Without drafts nothing is random: numbers have no width, and there is no verdict.
  const Result plain =
      run_of(parse_json(R"({"title": "test", "experiment": "iid", "alpha": 0.5, "gamma": 0})")).result;
  CHECK(plain.cells.front().agreement.empty());
}

TEST_CASE("schedules at extremes: a formula that is right is not refuted by trials that took the same time") {
  // Null: in 16 runs each of some intervals holds with probability 1 - 1e-7. With alpha = .9999 most trials
  // see no rejection.
  std::size_t judged = 0;
  for (const double alpha : {0.9, 0.9999}) {
    for (int seed = 1; seed <= 8; ++seed) {
      const CellResult cell = run_of({{"title", "test"},
                                      {"experiment", "schedules"},
                                      {"alpha", alpha},
                                      {"gamma", 5},
                                      {"seed", seed},
                                      {"cost", {{"c", 0.1}}},
                                      {"confidence", 0.9999999},
                                      {"schedules", {{"compare", {{{"kind", "speculative"}}}}}},
                                      {"simulation", {{"trials", 64}, {"length", 500}}}})
                                  .result.cells.front();
      CAPTURE(alpha);
      CAPTURE(seed);
      for (const auto& [name, held] : cell.agreement) CHECK_MESSAGE(held, name);
      judged += cell.agreement.size();
    }
  }
  CHECK(judged >= 8);
}

TEST_CASE("the confidence is printed with the digits that tell it from 1") {
  CHECK(interval_note(independent(0.5, 1, 0.95)) == "± is the 95% interval.");
  CHECK(interval_note(independent(0.5, 1, 0.9999)) == "± is the 99.99% interval.");
  CHECK(interval_note(independent(0.5, 1, 0.9999999)) == "± is the 99.99999% interval.");
}
