// Tests the experiment "trace": what it records of rounds, and how it shows them.
#include <doctest/doctest.h>

#include <string>

#include "experiments/results/presentation.hpp"
#include "tests/experiments/config_error_of.hpp"
#include "tests/experiments/run_of.hpp"

using namespace speclab;

namespace {

/// Returns a config whose target always continues 0, 1, 2, 0, ..., and whose draft always agrees or never
/// does.
Json config_of(const std::string& draft_rows) {
  return parse_json(R"({
    "title": "test", "experiment": "trace", "cost": {"c": 0.1}, "simulation": {"prompt": [0]},
    "models": {"target": {"kind": "table", "rows": [[0, 1, 0], [0, 0, 1], [1, 0, 0]]},
               "draft": {"kind": "table", "rows": )" +
                    draft_rows + R"(}},
    "trace": {"tokens": 8, "gammas": [0, 3]}})");
}

const std::string same = "[[0, 1, 0], [0, 0, 1], [1, 0, 0]]";
const std::string other = "[[1, 0, 0], [0, 1, 0], [0, 0, 1]]";

}  // namespace

TEST_CASE("a draft that is the target: plain decoding takes a run a token, three drafts a run for four") {
  const Result result = run_of(config_of(same)).result;
  const Json trace = result_json(result).at("cells").at(0).at("trace").at("gammas");
  CHECK(trace.at(0).at("gamma") == 0);
  CHECK(trace.at(0).at("target_runs") == 8);
  CHECK(trace.at(0).at("draft_runs") == 0);
  CHECK(trace.at(0).at("time") == 8.0);
  CHECK(trace.at(1).at("target_runs") == 2);
  CHECK(trace.at(1).at("draft_runs") == 6);
  CHECK(trace.at(1).at("tokens") == 8);
  CHECK(trace.at(1).at("time").get<double>() == doctest::Approx(2 * 1.3));
  CHECK(trace.at(1).at("prompt") == Json::array({"0"}));
  CHECK(trace.at(1).at("rounds").at(0) ==
        parse_json(R"({"drafted": ["1", "2", "0"], "accepted": 3, "next": "1"})"));
}

TEST_CASE("text coloured by what happened, a timeline a gamma, a row of runs a gamma") {
  for (const bool agrees : {true, false}) {
    const RunResult run = run_of(config_of(agrees ? same : other));
    const auto passages = passages_of(run.result, "id");
    REQUIRE(passages.size() == 2);
    const auto& round = passages[1].lines.at(1);  // after the prompt
    CHECK(round.front().kind == (agrees ? SpanKind::accepted : SpanKind::rejected));
    CHECK(round.back().kind == (agrees ? SpanKind::bonus : SpanKind::correction));
    const auto figures = figures_of(run.result, Timings{});
    REQUIRE(figures.size() == 1);
    CHECK(figures.front().trace.size() == 2);
    CHECK(figures.front().trace[0].blocks.size() == 8);
    CHECK(tables_of(run.result, run.timings, "id").at(0).rows.size() == 2);
  }
}

TEST_CASE("trace takes rules of one draft") {
  Json config = config_of(same);
  config["rule"] = {{"kind", "recursive"}};
  CHECK(config_error_of([&] { run_of(config); }).starts_with("/rule/kind: \"recursive\" drafts several"));
}

TEST_CASE("gamma of the config is refused: a trace has its own") {
  Json config = config_of("[[0, 1, 0], [0, 0, 1], [1, 0, 0]]");
  CHECK_NOTHROW(read_config(config));
  config["gamma"] = 3;
  CHECK(config_error_of([&] { read_config(config); }) ==
        "/gamma: trace does not read \"gamma\"; leave it out, and give \"gammas\" to \"trace\"");
}
