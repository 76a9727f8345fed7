#include "experiments/schedules.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <tbb/global_control.h>

#include <unistd.h>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "experiments/format/document.hpp"
#include "experiments/format/validate.hpp"
#include "experiments/laboratory.hpp"
#include "experiments/output.hpp"
#include "experiments/presentation.hpp"
#include "experiments/schedule_report.hpp"
#include "tests/bounds.hpp"
#include "tests/experiments/config_error_of.hpp"
#include "tests/sim/random_tokens.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

namespace {

Json coins(const std::string& more = "{}") {
  Json config = parse_json(R"({
    "title": "test", "experiment": "schedules", "alpha": 0.8, "gamma": 4, "cost": {"c": 0.1},
    "plan": {"trials": 32, "length": 4000}, "simultaneous": true,
    "schedules": {"compare": [
      {"kind": "plain"}, {"kind": "speculative"}, {"kind": "speculative", "gamma": 2, "c": 0.02},
      {"kind": "oracle"}, {"kind": "oracle", "charged": false}, {"kind": "heads"},
      {"kind": "hierarchical", "levels": [{"gamma": 3, "c": 0.2}, {"gamma": 4, "c": 0.02, "alpha": 0.9}]},
      {"kind": "dsi"}, {"kind": "dsi", "servers": 2, "lookahead": 2, "label": "mine"},
      {"kind": "pearl"}, {"kind": "pearl", "next_row": false},
      {"kind": "two_functions"}, {"kind": "two_functions", "interrupts": true},
      {"kind": "batched", "sequences": 4, "goal": 20},
      {"kind": "batched", "sequences": 4, "goal": 20, "replaced": false}]}
  })");
  // Simultaneous, so that all intervals hold together up to this.
  config["confidence"] = 0.9999999;
  config["seed"] = test_seed(20241105);
  config.merge_patch(parse_json(more));
  return config;
}

/// A text of twenty words in which some follow others, long enough for n-grams.
std::string some_text() {
  std::string text;
  Token before = 0;
  for (const Token token : random_tokens(3, 4000, 20)) {
    before = token % 3 == 0 ? (before * 7 + 3) % 20 : token;
    text += fmt::format("w{} ", before);
  }
  return text;
}

Json words_of(const TempFile& text) {
  Json config = coins(R"({"alpha": null, "plan": {"trials": 24, "length": 200, "prompt_tokens": 4},
    "schedules": {"trace_tokens": 8}})");
  config["models"] = parse_json(R"({"target": {"kind": "ngram", "order": 3}, "draft": {"kind": "unigram"}})");
  config["corpus"] = Json{{"file", text.path().string()}, {"vocabulary", 20}};
  return config;
}

Findings run(const Json& config, const Control& control = {}) {
  return run_config(config, [&](std::uint64_t) { return control; });
}

const Json& row_of(const Json& cell, const std::string& name) {
  for (const Json& row : cell.at("schedules")) {
    if (row.at("name") == name) return row;
  }
  FAIL("no row " << name);
  return cell;
}

}  // namespace

TEST_CASE("coins: every closed form is inside its interval, and all are judged") {
  const Json result = run(coins()).result;
  const Json& cell = result.at("cells")[0];
  CHECK(cell.at("formula_alpha") == "exact");
  CHECK(cell.at("alpha") == 0.8);
  REQUIRE(cell.at("schedules").size() == 15);
  CHECK(cell.at("agreement").size() == 15);
  for (const Json& row : cell.at("schedules")) {
    CAPTURE(row.dump());
    CHECK(row.at("inside") == true);
    CHECK(row.at("tokens").get<std::uint64_t>() >= 32 * 3900);
    CHECK(row.at("simulated")[1].get<double>() <= row.at("simulated")[0].get<double>());
  }
  CHECK(result_agreement(result).held == 15);

  // Names tell rows apart, and a user's own name stands.
  CHECK(row_of(cell, "mine").at("kind") == "dsi");
  std::set<std::string> names;
  for (const Json& row : cell.at("schedules")) names.insert(row.at("name").get<std::string>());
  CHECK(names.size() == 15);
  // A schedule's own gamma and c stand for the config's.
  CHECK(row_of(cell, "speculative, γ = 2").at("formula").get<double>() ==
        doctest::Approx((1 - std::pow(0.8, 3)) / 0.2 / 1.04));
}

TEST_CASE("the forms usually given are outside their intervals where they mean another program") {
  const Json cell = run(coins()).result.at("cells")[0];
  for (const char* name : {"hierarchical, 2 levels", "mine", "PEARL, γ = 4", "two functions, interrupting",
                           "batch of 4, refilled", "batch of 4, emptied"}) {
    const Json& row = row_of(cell, name);
    CAPTURE(row.dump());
    const double usual = row.at("usual").at("value").get<double>();
    CHECK((usual < row.at("simulated")[1].get<double>() || usual > row.at("simulated")[2].get<double>()));
  }
}

TEST_CASE("differences are to the first speculative schedule, and the same row has none") {
  const Json cell = run(coins()).result.at("cells")[0];
  CHECK(cell.at("reference") == "speculative, γ = 4");
  CHECK_FALSE(row_of(cell, "speculative, γ = 4").contains("difference"));
  const double reference = row_of(cell, "speculative, γ = 4").at("simulated")[0].get<double>();
  for (const Json& row : cell.at("schedules")) {
    if (!row.contains("difference")) continue;
    CHECK(row.at("difference")[0].get<double>() ==
          doctest::Approx(row.at("simulated")[0].get<double>() - reference));
  }
  // Heads take the same rounds for less: paired, that is far surer than either speed.
  const auto width = [](const Json& interval) {
    return interval[2].get<double>() - interval[1].get<double>();
  };
  const Json& heads = row_of(cell, "heads, γ = 4");
  CHECK(width(heads.at("difference")) < 0.5 * width(heads.at("simulated")));

  const Json alone =
      run(coins(R"({"schedules": {"compare": [{"kind": "plain"}, {"kind": "dsi"}]}})")).result.at("cells")[0];
  CHECK_FALSE(alone.contains("reference"));
  CHECK_FALSE(alone.at("schedules")[1].contains("difference"));
}

TEST_CASE("models: the measured acceptance stands in the forms, with their error, unjudged") {
  const TempFile text(some_text());
  const Json cell = run(words_of(text)).result.at("cells")[0];
  CHECK(cell.at("formula_alpha") == "measured");
  CHECK(cell.at("alpha").size() == 3);
  CHECK(cell.at("alpha")[0].get<double>() > 0.2);
  CHECK(cell.at("alpha")[0].get<double>() < 0.98);
  CHECK_FALSE(cell.contains("agreement"));
  const Json& row = row_of(cell, "speculative, γ = 4");
  CHECK_FALSE(row.contains("inside"));
  CHECK(row.at("error_percent").get<double>() ==
        doctest::Approx(100 * (row.at("formula").get<double>() / row.at("simulated")[0].get<double>() - 1)));
}

TEST_CASE("models of one acceptance in every context are judged as coins are") {
  Json config = coins(R"({"alpha": null, "plan": {"length": 400}})");
  config["models"] = parse_json(R"({"target": {"kind": "zipf", "vocab": 20},
    "draft": {"kind": "mixture", "alpha": 0.8, "other": {"kind": "zipf", "reversed": true}}})");
  const Json cell = run(config).result.at("cells")[0];
  CHECK(cell.at("formula_alpha") == "exact");
  CHECK(cell.at("alpha").get<double>() == doctest::Approx(0.8));
  CHECK(cell.at("agreement").size() == 15);
}

TEST_CASE("the same bytes at one and two threads") {
  const TempFile text(some_text());
  for (const Json& config : {coins(R"({"schedules": {"trace_tokens": 8}})"), words_of(text)}) {
    std::string dumps[2];
    for (std::size_t threads : {1, 2}) {
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
      dumps[threads - 1] = run(config).result.dump();
    }
    CHECK(dumps[0] == dumps[1]);
  }
}

TEST_CASE(
    "the Chrome trace: complete events, inside their schedule's end, lanes named and never overlapping") {
  const Findings findings = run(coins(R"({"schedules": {"trace_tokens": 8}})"));
  const Json& traces = findings.result.at("cells")[0].at("trace");
  CHECK(traces.size() == 15);
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("speclab-trace-{}", getpid());
  write_data(folder, findings);
  std::ifstream file(folder / "trace.json");
  std::stringstream contents;
  contents << file.rdbuf();
  const Json trace = Json::parse(contents.str());
  std::filesystem::remove_all(folder);

  std::map<int, std::string> processes;
  std::map<std::pair<int, int>, double> lane_ends;
  std::size_t runs = 0;
  bool inside = true;
  bool apart = true;
  for (const Json& event : trace.at("traceEvents")) {
    const int process = event.at("pid").get<int>();
    const std::pair lane{process, event.at("tid").get<int>()};
    if (event.at("ph") == "M") {
      if (event.at("name") == "process_name") processes[process] = event.at("args").at("name");
      if (event.at("name") == "thread_name") lane_ends[lane] = 0;
      continue;
    }
    REQUIRE(event.at("ph") == "X");
    REQUIRE(lane_ends.contains(lane));
    const Json& of = traces[static_cast<std::size_t>(process - 1)];
    CHECK(of.at("schedule") == processes.at(process));
    const double start = event.at("ts").get<double>();
    const double end = start + event.at("dur").get<double>();
    inside = inside && start >= 0 && end <= 1000 * of.at("end").get<double>() + 1e-6;
    apart = apart && start >= lane_ends[lane] - 1e-6;
    lane_ends[lane] = end;
    ++runs;
  }
  CHECK(inside);
  CHECK(apart);
  CHECK(processes.size() == 15);
  std::size_t recorded = 0;
  for (const Json& each : traces) recorded += each.at("events").size();
  CHECK(runs == recorded);
  CHECK(chrome_trace(run(coins()).result).is_null());
}

TEST_CASE("tables, figures and CSV") {
  const Json result = run(coins(R"({"schedules": {"trace_tokens": 8}})")).result;
  const std::vector<Table> tables = schedule_tables(result, "result");
  REQUIRE(tables.size() == 1);
  CHECK(tables[0].rows.size() == 15);
  for (const auto& row : tables[0].rows) CHECK(row.size() == tables[0].columns.size());
  const std::vector<Figure> figures = schedule_figures(result);
  REQUIRE(figures.size() == 1);
  // Runs that follow one another share a row; DSI, PEARL and two functions have one a lane.
  const auto rows_named = [&](const std::string& label) {
    return std::count_if(figures[0].trace.begin(), figures[0].trace.end(),
                         [&](const TraceRow& row) { return row.label == label; });
  };
  CHECK(rows_named("speculative, γ = 4") == 1);
  CHECK(rows_named("PEARL, γ = 4: draft") == 1);
  CHECK(rows_named("PEARL, γ = 4") == 0);
  const std::string lines = result_csv(result);
  CHECK(std::count(lines.begin(), lines.end(), '\n') == 16);

  const Json swept = run(coins(R"({"plan": {"length": 200}, "sweep": {"/alpha": [0.5, 0.9]}})")).result;
  CHECK(schedule_tables(swept, "result").size() == 2);
  const std::vector<Figure> curves = schedule_figures(swept);
  REQUIRE(curves.size() == 1);
  CHECK(curves[0].series.size() == 30);
  CHECK(curves[0].series[0].x == std::vector<double>{0.5, 0.9});
  const Json lengths = run(coins(R"({"plan": {"length": 200}, "sweep": {"/gamma": [3, 4, 5]}})")).result;
  // One curve a schedule, also where its name says what is swept.
  CHECK(schedule_figures(lengths)[0].series.size() == 30);
  CHECK(schedule_figures(lengths)[0].series[2].name == "speculative");
  CHECK(schedule_figures(lengths)[0].series[4].name == "speculative, γ = 2");
  const std::string swept_lines = result_csv(swept);
  CHECK(std::count(swept_lines.begin(), swept_lines.end(), '\n') == 31);
}

TEST_CASE("the ends of the range of alpha") {
  for (const double alpha : {0.0, 1.0}) {
    CAPTURE(alpha);
    const Json cell =
        run(coins(fmt::format(R"({{"alpha": {}, "plan": {{"length": 300}}}})", alpha))).result.at("cells")[0];
    for (const auto& [name, inside] : cell.at("agreement").items()) {
      CAPTURE(name);
      CHECK(inside == true);
    }
    CHECK(row_of(cell, "DSI, all 10 servers").at("formula").is_null() == (alpha == 1));
  }
}

TEST_CASE("a config without a list compares the usual schedules") {
  Json config = coins(R"({"plan": {"length": 600}})");
  config.erase("schedules");
  const Json cell = run(config).result.at("cells")[0];
  CHECK(cell.at("schedules").size() == 8);
}

TEST_CASE("what does not fit is refused by its path") {
  const auto path_of = [](const std::string& more) {
    const std::string sentence = config_error_of([&] { measure_workload(coins(more)); });
    return sentence.substr(0, sentence.find(": "));
  };
  CHECK(path_of(R"({"alpha": null})") == "/alpha");
  CHECK(path_of(R"({"verifier": {"kind": "block"}})") == "/verifier/kind");
  CHECK(path_of(R"({"plan": {"trials": 1}})") == "/plan/trials");
  CHECK(path_of(R"({"plan": {"length": 2e8}})") == "/plan/length");
  CHECK(path_of(R"({"cost": {"c": 0}})") == "/cost/c");
  CHECK(path_of(R"({"schedules": {"compare": [{"kind": "dsi", "c": 1.5}]}})") == "/schedules/compare/0/c");
  CHECK(path_of(R"({"schedules": {"compare": [{"kind": "pearl", "gamma": 0}]}})") ==
        "/schedules/compare/0/gamma");
  CHECK(path_of(R"({"schedules": {"compare": [{"kind": "batched", "goal": 1000}]}})") ==
        "/schedules/compare/0/goal");
  CHECK(path_of(R"({"schedules": {"compare": [{"kind": "hierarchical",
    "levels": [{"gamma": 2, "c": 0.1, "alpha": 0.5}]}]}})") == "/schedules/compare/0/levels/0/alpha");
  CHECK(path_of(R"({"cases": [{"printed": {"speed": "2"}}]})") == "/cases/0/printed");
}

TEST_CASE("stopped before its end, a cell is partial and holds nothing else") {
  const Json result = run(coins(), Control{.stop = [] { return true; }}).result;
  CHECK(result.at("partial") == true);
  CHECK(result.at("cells")[0].at("partial") == true);
  CHECK_FALSE(result.at("cells")[0].contains("schedules"));
}
