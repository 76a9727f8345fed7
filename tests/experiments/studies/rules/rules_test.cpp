#include "experiments/studies/rules/rule_comparison.hpp"

#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/config/experiment.hpp"
#include "experiments/results/metric_tables.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/run/result.hpp"
#include "tests/experiments/config_error_of.hpp"
#include "tests/experiments/run_of.hpp"

using namespace speclab;

namespace {

/// Returns a config with the golden vector, i.i.d. All its intervals hold jointly with confidence 1 - 1e-7.
Json golden(const std::string& cases, const std::string& more = "{}") {
  Json config = parse_json(R"({
    "title": "golden", "experiment": "rules", "seed": 20241,
    "models": {"target": {"kind": "table", "rows": [[0.5, 0.3, 0.2]]},
               "draft": {"kind": "table", "rows": [[0.1, 0.3, 0.6]]}},
    "gamma": 2, "cost": {"c": 0.1}, "simulation": {"trials": 64, "length": 1500},
    "confidence": 0.9999999, "simultaneous": true, "cases": [)" +
                           cases + "]}");
  config.update(parse_json(more));
  return config;
}

std::string one_case(const std::string& label, const std::string& rule) {
  return std::string(R"({"label": ")") + label + R"(", "set": {"/rule": )" + rule + "}}";
}

const std::string comma = ",";

Result run(const Json& config) { return run_of(config).result; }

const RuleComparison& comparison(const CellResult& cell) { return own<RuleComparison>(cell); }

const Interval& simulated(const CellResult& cell, Metric metric) { return *find(cell.simulated, metric); }

bool has(const CellResult& cell, Metric metric) { return find(cell.simulated, metric) != nullptr; }

bool contains(const Interval& interval, double value) {
  // The sums from which intervals are computed are rounded to 2^-32.
  return interval.low <= value + 1e-9 && value - 1e-9 <= interval.high;
}

}  // namespace

TEST_CASE("the golden vector: acceptance, bound, distance and regret of each rule") {
  // Null: values computed by hand and by exact enumeration. Regret is P(reject) - TV(p, q), with TV = .4, for
  // rules whose positions are alike.
  struct Known {
    std::string rule;
    double first;
    double bound;
    double distance;
    double regret;
  };
  constexpr double none = -1;
  const std::map<std::string, Known> known{
      {"token", {R"({"kind": "token"})", 0.6, 0.6, 0, 0}},
      {"match", {R"({"kind": "match"})", 0.26, 0.6, 0, 0.34}},
      {"gumbel", {R"({"kind": "gumbel"})", 18.0 / 35, 0.6, 0, 0.6 - 18.0 / 35}},
      {"rejection", {R"({"kind": "rejection"})", 0.2, 0.6, 0, 0.4}},
      {"lenient", {R"({"kind": "lenient", "lenience": 0.5})", 0.8, 0.6, 0.2, none}},
      {"literal", {R"({"kind": "lenient", "lenience": 0.5, "residual": "literal"})", 0.8, 0.6, 0.25, none}},
      {"target", {R"({"kind": "lenient", "lenience": 0.5, "residual": "target"})", 0.8, 0.6, 0.3, none}},
      {"greedy", {R"({"kind": "greedy"})", 0.1, 0.6, 0.5, none}},
      {"lenient-greedy", {R"({"kind": "lenient-greedy", "lenience": 0.5})", 0.4, 0.6, 0.2, none}},
      {"recursive", {R"({"kind": "recursive", "drafts": 2})", 0.64, 0.69, 0, -0.04}},
      {"recursive 3", {R"({"kind": "recursive", "drafts": 3})", 0.676, 0.771, 0, none}},
      {"without replacement", {R"({"kind": "without-replacement", "drafts": 2})", 0.7, 0.69, 0, none}}};
  std::string cases;
  for (const auto& [label, one] : known) {
    if (!cases.empty()) cases += comma;
    cases += one_case(label, one.rule);
  }
  // At gamma = 1 the first position is the only one.
  using enum Metric;
  const Result result = run(golden(cases, R"({"gamma": 1})"));
  for (const CellResult& cell : result.cells) {
    CAPTURE(cell.label);
    const Known& one = known.at(cell.label);
    CHECK(contains(simulated(cell, first_token_acceptance), one.first));
    CHECK(std::abs(simulated(cell, optimal_transport_bound).estimate - one.bound) < 1e-9);
    CHECK(std::abs(simulated(cell, tv_to_target).estimate - one.distance) < 1e-9);
    CHECK(comparison(cell).lossless == (one.distance == 0));
    CHECK(cell.proved.empty() == (one.distance != 0));
    CHECK(has(cell, regret) == (one.distance == 0));
    if (one.regret != none) CHECK(contains(simulated(cell, regret), one.regret));
    if (cell.label == "token") {
      // Power: the intervals are not merely wide.
      CHECK_FALSE(contains(simulated(cell, first_token_acceptance), 0.58));
      CHECK_FALSE(contains(simulated(cell, regret), 0.02));
      CHECK_FALSE(contains(simulated(cell, regret), -0.02));
    }
  }
}

TEST_CASE("tokens that a rule drops unread are not examined") {
  // The first drafted token survives with .6 >= .5, and the second with .36, which drops it.
  const Result result = run(golden(one_case("scheduled", R"({"kind": "scheduled", "survival": 0.5})")));
  CHECK(contains(simulated(result.cells[0], Metric::regret), 0));
  CHECK_FALSE(contains(simulated(result.cells[0], Metric::regret), -0.02));
  const Result dropped = run(golden(one_case("all dropped", R"({"kind": "scheduled", "survival": 0.7})")));
  CHECK_FALSE(has(dropped.cells[0], Metric::regret));
}

TEST_CASE("a rule that samples the target again has a distance, and its fault no proof") {
  const Result result = run(golden(one_case("fault", R"({"kind": "fault-resample-target"})")));
  CHECK_FALSE(comparison(result.cells[0]).lossless);
  // q min(1, p/q) + .4 p = (.3, .42, .28) against (.5, .3, .2).
  CHECK(simulated(result.cells[0], Metric::tv_to_target).estimate == doctest::Approx(0.2).epsilon(1e-9));
}

TEST_CASE("temperature 0: greedy is lossless, greedy lenience is compared with the argmax") {
  using enum Metric;
  const Result result = run(golden(
      one_case("greedy", R"({"kind": "greedy"})") + comma +
          one_case("lenient-greedy", R"({"kind": "lenient-greedy", "lenience": 0.5})"),
      R"({"models": {"target": {"kind": "table", "rows": [[0.5, 0.3, 0.2]], "sampling": {"temperature": 0}},
                     "draft": {"kind": "table", "rows": [[0.1, 0.3, 0.6]]}}})"));
  const CellResult& greedy = result.cells[0];
  CHECK(comparison(greedy).lossless);
  CHECK(contains(simulated(greedy, first_token_acceptance), 0.1));
  CHECK(simulated(greedy, optimal_transport_bound).estimate == doctest::Approx(0.1).epsilon(1e-9));
  CHECK(contains(simulated(greedy, regret), 0));
  // The rule emits token 1 with probability .3, and the argmax otherwise.
  const CellResult& lenient = result.cells[1];
  CHECK_FALSE(comparison(lenient).lossless);
  CHECK(simulated(lenient, tv_to_target).estimate == doctest::Approx(0.3).epsilon(1e-9));
  CHECK(simulated(lenient, optimal_transport_bound).estimate == doctest::Approx(0.1).epsilon(1e-9));
}

TEST_CASE("a table of rules has the same bytes at one thread and at two, and survives a file") {
  const Json config = golden(one_case("token", R"({"kind": "token"})") + comma +
                             one_case("cascade", R"({"kind": "cascade"})") + comma +
                             one_case("tree", R"({"kind": "tree", "branching": [2, 2]})"));
  const auto bytes = [&](std::size_t threads) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    return bytes_of(run(config));
  };
  const std::string once = bytes(1);
  CHECK(once == bytes(2));
  CHECK(bytes_of(read_result(parse_json(once))) == once);
}

TEST_CASE("a tree is as deep as its own cell's gamma") {
  Json config = golden(one_case("tree", R"({"kind": "tree", "drafts": 1})"));
  config["sweep"] = parse_json(R"({"/gamma": [1, 3]})");
  const Result result = run(config);
  for (const std::size_t i : {0U, 1U}) {
    const Counts& counts = result.cells[i].counts;
    CHECK(*counts.drafted == (i == 0 ? 1 : 3) * *counts.rounds);
    CHECK(*counts.draft_runs == (i == 0 ? 1 : 3) * *counts.rounds);
  }
}

TEST_CASE("gamma 0: plain decoding, without a first position") {
  const Result result = run(golden(one_case("token", R"({"kind": "token"})"), R"({"gamma": 0})"));
  const CellResult& cell = result.cells[0];
  CHECK(comparison(cell).drafts == 0);
  CHECK_FALSE(has(cell, Metric::first_token_acceptance));
  CHECK_FALSE(has(cell, Metric::optimal_transport_bound));
  CHECK(simulated(cell, Metric::tokens_per_target_step).estimate == 1);
}

TEST_CASE(
    "the table says what is proved, and has a test of equality when asked for, by its former name too") {
  const std::string cases = one_case("token", R"({"kind": "token"})") + comma +
                            one_case("lenient", R"({"kind": "lenient", "lenience": 0.5})");
  const auto texts = [](const Table& table, std::size_t row) {
    std::string all;
    for (const auto& cell : table.rows[row]) all += cell.text + "|";
    return all;
  };
  const Table without = result_table(run(golden(cases)), "t", 10);
  CHECK(texts(without, 0).find("|0 (proved)|") != std::string::npos);
  CHECK(texts(without, 1).find("|0.2|") != std::string::npos);
  CHECK(without.note.find("Regret") != std::string::npos);
  const Result result = run(golden(cases, R"({"rules": {"equality_test": true},
                                    "check": {"tokens": 2, "samples": 20000, "level": 1e-9}})"));
  REQUIRE(comparison(result.cells[0]).equality_test);
  CHECK_FALSE(comparison(result.cells[0]).equality_test->different);
  CHECK_FALSE(comparison(result.cells[1]).equality_test);
  const Table with = result_table(result, "t", 10);
  CHECK(with.columns.back() == "test of equality");
  CHECK(texts(with, 0).find("equal, adjusted p = ") != std::string::npos);
}

TEST_CASE("printed values have no formula to be compared with") {
  Json config = golden(one_case("token", R"({"kind": "token"})"));
  config["cases"][0]["printed"] = Json{{"speedup", "2.0"}};
  CHECK(config_error_of([&] { run(config); }).find("measured") != std::string::npos);
}

TEST_CASE("the figure of rules: few drafts first, then by acceptance, with the bound of each") {
  Result result = run(golden(one_case("recursive", R"({"kind": "recursive"})") + comma +
                             one_case("token", R"({"kind": "token"})") + comma +
                             one_case("greedy", R"({"kind": "greedy"})")));
  const std::vector<Figure> figures = figures_of(result, Timings{});
  REQUIRE(figures.size() == 1);
  const Figure& figure = figures.front();
  CHECK(figure.categories == std::vector<std::string>{"greedy", "token", "recursive"});
  std::map<std::string, Series> series;
  for (const Series& one : figure.series) series[one.name] = one;
  CHECK(series.at("lossless").x == std::vector<double>{1, 2});
  CHECK(series.at("lossy").x == std::vector<double>{0});
  const Series& bound = series.at("optimal transport bound for as many i.i.d. drafts");
  CHECK(bound.style == SeriesStyle::levels);
  CHECK(bound.x == std::vector<double>{0, 1, 2});
  CHECK(bound.y[2] == doctest::Approx(0.69).epsilon(1e-9));
  for (const double y : series.at("lossless").low) CHECK(y < bound.y[2]);
  // There is no such figure for a sweep, or if the config names its figures.
  Config drawn = *result.config;
  drawn.figures.emplace();
  result.config = std::make_shared<const Config>(drawn);
  CHECK(figures_of(result, Timings{}).empty());
}
