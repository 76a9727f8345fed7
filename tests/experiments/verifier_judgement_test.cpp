#include "experiments/verifier_judgement.hpp"

#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "experiments/format/config_error.hpp"
#include "experiments/format/document.hpp"
#include "experiments/laboratory.hpp"
#include "experiments/presentation.hpp"

using namespace speclab;

namespace {

/// The golden vector, i.i.d.; all intervals of a config hold together with confidence 1 - 1e-7.
Json golden(const std::string& cases, const std::string& more = "{}") {
  Json config = parse_json(R"({
    "title": "golden", "experiment": "verifiers", "seed": 20241,
    "models": {"target": {"kind": "table", "rows": [[0.5, 0.3, 0.2]]},
               "draft": {"kind": "table", "rows": [[0.1, 0.3, 0.6]]}},
    "gamma": 2, "cost": {"c": 0.1}, "plan": {"trials": 64, "length": 1500},
    "confidence": 0.9999999, "simultaneous": true, "cases": [)" +
                           cases + "]}");
  config.update(parse_json(more));
  return config;
}

std::string one_case(const std::string& label, const std::string& verifier) {
  return std::string(R"({"label": ")") + label + R"(", "set": {"/verifier": )" + verifier + "}}";
}

const std::string comma = ",";

Json run(const Json& config) {
  return run_config(config, [](std::uint64_t) { return Control{}; }).result;
}

bool contains(const Json& interval, double value) {
  // The sums behind the intervals are rounded to 2^-32.
  return interval[1].get<double>() <= value + 1e-9 && value - 1e-9 <= interval[2].get<double>();
}

}  // namespace

TEST_CASE("the golden vector: acceptance, optimum, distance and regret of each rule") {
  // Null: the values worked out by hand and by exact enumeration. Regret is P(reject) - TV(p, q), TV = .4, of
  // rules whose positions are alike.
  struct Known {
    std::string verifier;
    double first;
    double optimal_transport_bound;
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
    cases += one_case(label, one.verifier);
  }
  // At gamma = 1 the first position is every position.
  const Json result = run(golden(cases, R"({"gamma": 1})"));
  for (const Json& cell : result.at("cells")) {
    CAPTURE(cell.dump());
    const Known& one = known.at(cell.at("label").get<std::string>());
    const Json& simulated = cell.at("simulated");
    CHECK(contains(simulated.at("first_acceptance"), one.first));
    CHECK(std::abs(simulated.at("optimum")[0].get<double>() - one.optimal_transport_bound) < 1e-9);
    CHECK(std::abs(simulated.at("tv_to_target")[0].get<double>() - one.distance) < 1e-9);
    CHECK(cell.at("lossless").get<bool>() == (one.distance == 0));
    CHECK(cell.contains("proved") == (one.distance == 0));
    CHECK(simulated.contains("regret") == (one.distance == 0));
    if (one.regret != none) CHECK(contains(simulated.at("regret"), one.regret));
    if (cell.at("label") == "token") {
      // Power: not merely wide.
      CHECK_FALSE(contains(simulated.at("first_acceptance"), 0.58));
      CHECK_FALSE(contains(simulated.at("regret"), 0.02));
      CHECK_FALSE(contains(simulated.at("regret"), -0.02));
    }
  }
}

TEST_CASE("a rule that samples the target again has a distance, and its fault no proof") {
  const Json cell = run(golden(one_case("fault", R"({"kind": "fault-resample-target"})"))).at("cells")[0];
  CHECK(cell.at("lossless") == false);
  // q min(1, p/q) + .4 p = (.3, .42, .28) against (.5, .3, .2).
  CHECK(cell.at("simulated").at("tv_to_target")[0].get<double>() == doctest::Approx(0.2).epsilon(1e-9));
}

TEST_CASE("temperature 0: greedy is lossless, greedy lenience is judged against the argmax") {
  const Json result = run(golden(
      one_case("greedy", R"({"kind": "greedy"})") + comma +
          one_case("lenient-greedy", R"({"kind": "lenient-greedy", "lenience": 0.5})"),
      R"({"models": {"target": {"kind": "table", "rows": [[0.5, 0.3, 0.2]], "sampling": {"temperature": 0}},
                     "draft": {"kind": "table", "rows": [[0.1, 0.3, 0.6]]}}})"));
  const Json& greedy = result.at("cells")[0];
  CHECK(greedy.at("lossless") == true);
  CHECK(contains(greedy.at("simulated").at("first_acceptance"), 0.1));
  CHECK(greedy.at("simulated").at("optimum")[0].get<double>() == doctest::Approx(0.1).epsilon(1e-9));
  CHECK(contains(greedy.at("simulated").at("regret"), 0));
  // Emits token 1 with .3, and the argmax else.
  const Json& lenient = result.at("cells")[1];
  CHECK(lenient.at("lossless") == false);
  CHECK(lenient.at("simulated").at("tv_to_target")[0].get<double>() == doctest::Approx(0.3).epsilon(1e-9));
  CHECK(lenient.at("simulated").at("optimum")[0].get<double>() == doctest::Approx(0.1).epsilon(1e-9));
}

TEST_CASE("a table of rules has the same bytes at one thread and at two") {
  const Json config = golden(one_case("token", R"({"kind": "token"})") + comma +
                             one_case("cascade", R"({"kind": "cascade"})") + comma +
                             one_case("tree", R"({"kind": "tree", "branching": [2, 2]})"));
  const auto bytes = [&](std::size_t threads) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    return run(config).dump();
  };
  CHECK(bytes(1) == bytes(2));
}

TEST_CASE("a tree is as deep as its own cell's gamma") {
  Json config = golden(one_case("tree", R"({"kind": "tree", "drafts": 1})"));
  config["sweep"] = parse_json(R"({"/gamma": [1, 3]})");
  const Json result = run(config);
  for (const std::size_t i : {0U, 1U}) {
    const Json& counts = result.at("cells")[i].at("counts");
    const auto rounds = counts.at("rounds").get<std::uint64_t>();
    CHECK(counts.at("drafted") == (i == 0 ? 1 : 3) * rounds);
    CHECK(counts.at("draft_runs") == (i == 0 ? 1 : 3) * rounds);
  }
}

TEST_CASE("gamma 0: plain decoding, without a first position") {
  const Json cell = run(golden(one_case("token", R"({"kind": "token"})"), R"({"gamma": 0})")).at("cells")[0];
  CHECK(cell.at("drafts") == 0);
  CHECK_FALSE(cell.at("simulated").contains("first_acceptance"));
  CHECK_FALSE(cell.at("simulated").contains("optimum"));
  CHECK(cell.at("simulated").at("tokens_per_round")[0] == 1);
}

TEST_CASE("the table says what is proved, and a witness stands beside it when asked for") {
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
  const Json result = run(golden(
      cases, R"({"verifiers": {"witness": true}, "check": {"tokens": 2, "samples": 20000, "level": 1e-9}})"));
  CHECK(result.at("cells")[0].at("witness").at("verdict") == "equal");
  CHECK_FALSE(result.at("cells")[1].contains("witness"));
  const Table with = result_table(result, "t", 10);
  CHECK(with.columns.back() == "test of equality");
  CHECK(texts(with, 0).find("equal, p = ") != std::string::npos);
}

TEST_CASE("printed values have nothing to be judged by") {
  Json config = golden(one_case("token", R"({"kind": "token"})"));
  config["cases"][0]["printed"] = Json{{"speed", "2.0"}};
  CHECK_THROWS_WITH_AS(run(config), doctest::Contains("measured"), ConfigError);
}

TEST_CASE("the figure of rules: few drafts first, then by acceptance, with the optimum of each") {
  const Json result = run(golden(one_case("recursive", R"({"kind": "recursive"})") + comma +
                                 one_case("token", R"({"kind": "token"})") + comma +
                                 one_case("greedy", R"({"kind": "greedy"})")));
  const std::vector<Figure> figures = result_figures(result, "rules", "speclab run");
  REQUIRE(figures.size() == 1);
  const Figure& figure = figures.front();
  CHECK(figure.categories == std::vector<std::string>{"greedy", "token", "recursive"});
  std::map<std::string, Series> series;
  for (const Series& one : figure.series) series[one.name] = one;
  CHECK(series.at("lossless").x == std::vector<double>{1, 2});
  CHECK(series.at("lossy").x == std::vector<double>{0});
  const Series& optimal_transport_bound = series.at("optimum for as many i.i.d. drafts");
  CHECK(optimal_transport_bound.style == SeriesStyle::levels);
  CHECK(optimal_transport_bound.x == std::vector<double>{0, 1, 2});
  CHECK(optimal_transport_bound.y[2] == doctest::Approx(0.69).epsilon(1e-9));
  for (const double y : series.at("lossless").low) CHECK(y < optimal_transport_bound.y[2]);
  // Not of a sweep, and not when the config says what to draw.
  Json other = result;
  other["config"]["figures"] = Json::array();
  CHECK(result_figures(other, "rules", "").empty());
}
