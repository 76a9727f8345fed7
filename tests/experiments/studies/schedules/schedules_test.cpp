#include "experiments/studies/schedules/schedules.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "experiments/config/experiment.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/run/result.hpp"
#include "tests/bounds.hpp"
#include "tests/experiments/config_error_of.hpp"
#include "tests/experiments/run_of.hpp"
#include "tests/sim/random_tokens.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

namespace {

/// Returns a config with independent acceptances and seventeen schedules, merged with `more`.
Json independent(const std::string& more = "{}") {
  Json config = parse_json(R"({
    "title": "test", "experiment": "schedules", "alpha": 0.8, "gamma": 4, "cost": {"c": 0.1},
    "simulation": {"trials": 32, "length": 4000}, "simultaneous": true,
    "schedules": {"compare": [
      {"kind": "plain"}, {"kind": "speculative"}, {"kind": "speculative", "gamma": 2, "c": 0.02},
      {"kind": "upper-bound"}, {"kind": "upper-bound", "drafting_paid": false}, {"kind": "heads"},
      {"kind": "hierarchical", "levels": [{"gamma": 3, "c": 0.2}, {"gamma": 4, "c": 0.02, "alpha": 0.9}]},
      {"kind": "dsi"}, {"kind": "dsi", "servers": 2, "lookahead": 2, "label": "mine"},
      {"kind": "pearl"}, {"kind": "pearl", "next_row": false},
      {"kind": "asynchronous"}, {"kind": "asynchronous", "plain_after_miss": true},
      {"kind": "speculative_function_execution"},
      {"kind": "speculative_function_execution", "interrupts": true},
      {"kind": "batched", "sequences": 4, "goal": 20},
      {"kind": "batched", "sequences": 4, "goal": 20, "replaced": false}]}
  })");
  // The confidence is simultaneous: all intervals hold jointly.
  config["confidence"] = 0.9999999;
  config["seed"] = test_seed(20241105);
  config.merge_patch(parse_json(more));
  return config;
}

/// Returns a text with twenty words, long enough for n-grams; some words follow certain others.
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
  Json config =
      independent(R"({"alpha": null, "simulation": {"trials": 24, "length": 200, "prompt_tokens": 4},
    "schedules": {"trace_tokens": 8}})");
  config["models"] = parse_json(R"({"target": {"kind": "ngram", "order": 3}, "draft": {"kind": "unigram"}})");
  config["corpus"] = Json{{"file", text.path().string()}, {"vocabulary", 20}};
  return config;
}

const SchedulesResult& first_of(const Result& result) {
  REQUIRE_FALSE(result.cells.empty());
  REQUIRE(result.cells[0].own != nullptr);
  return own<SchedulesResult>(result.cells[0]);
}

const ScheduleRow& row_of(const SchedulesResult& found, const std::string& name) {
  const auto row = std::find_if(found.rows.begin(), found.rows.end(),
                                [&](const ScheduleRow& each) { return each.name == name; });
  REQUIRE_MESSAGE(row != found.rows.end(), "no row ", name);
  return *row;
}

bool holds(const Interval& interval, double value) { return interval.low <= value && value <= interval.high; }

}  // namespace

TEST_CASE("independent acceptances: every formula is within its interval, and all are compared") {
  const Result result = run_of(independent()).result;
  const SchedulesResult& found = first_of(result);
  CHECK(result.cells[0].formula_alpha == AlphaSource::exact);
  CHECK(result.cells[0].exact_alpha == 0.8);
  CHECK_FALSE(found.measured_alpha.has_value());
  REQUIRE(found.rows.size() == 17);
  CHECK(result.cells[0].agreement.size() == 17);
  for (const ScheduleRow& row : found.rows) {
    CAPTURE(row.name);
    CHECK(row.formula_within_interval == true);
    CHECK(row.tokens >= 32 * 3900);
    CHECK(row.speedup.low <= row.speedup.estimate);
  }
  CHECK(agreement(result).held == 17);

  // An upper bound is no schedule that could be the fastest.
  CHECK(presentation_of(result.shown()).headline(result, {}).find("upper bound") == std::string::npos);

  // Names distinguish rows, and a user's own name is kept.
  CHECK(row_of(found, "mine").kind == "dsi");
  std::set<std::string> names;
  for (const ScheduleRow& row : found.rows) names.insert(row.name);
  CHECK(names.size() == 17);
  // A schedule's own gamma and c replace the config's.
  CHECK(row_of(found, "speculative, γ = 2, c = 0.02").gamma == 2);
  CHECK(row_of(found, "speculative, γ = 2, c = 0.02").c == 0.02);
  CHECK_FALSE(row_of(found, "speculative, γ = 4").gamma.has_value());
  CHECK(*row_of(found, "speculative, γ = 2, c = 0.02").formula ==
        doctest::Approx((1 - std::pow(0.8, 3)) / 0.2 / 1.04));
}

TEST_CASE("commonly printed formulas are outside their intervals where they mean another program") {
  const Result result = run_of(independent()).result;
  for (const char* name :
       {"hierarchical, 2 levels", "mine", "PEARL, γ = 4", "speculative function execution, interrupting",
        "batch of 4, refilled", "batch of 4, emptied"}) {
    const ScheduleRow& row = row_of(first_of(result), name);
    CAPTURE(name);
    REQUIRE(row.commonly_printed);
    CHECK_FALSE(holds(row.speedup, *row.commonly_printed->value));
  }
}

TEST_CASE("differences are to the first speculative schedule, and the same row has none") {
  const Result result = run_of(independent()).result;
  const SchedulesResult& found = first_of(result);
  CHECK(found.reference == "speculative, γ = 4");
  CHECK_FALSE(row_of(found, "speculative, γ = 4").difference.has_value());
  const double reference = row_of(found, "speculative, γ = 4").speedup.estimate;
  for (const ScheduleRow& row : found.rows) {
    if (!row.difference) continue;
    CHECK(row.difference->estimate == doctest::Approx(row.speedup.estimate - reference));
  }
  // Heads have the same rounds at a lower cost: paired, the difference is far more certain than either
  // speedup.
  const ScheduleRow& heads = row_of(found, "heads, γ = 4");
  CHECK(heads.difference->half_width() < 0.5 * heads.speedup.half_width());

  const Result other =
      run_of(independent(R"({"schedules": {"compare": [{"kind": "plain"}, {"kind": "dsi"}]}})")).result;
  CHECK_FALSE(first_of(other).reference.has_value());
  CHECK_FALSE(first_of(other).rows[1].difference.has_value());
}

TEST_CASE("models: the measured acceptance rate stands in the formulas, whose error is stated") {
  const TempFile text(some_text());
  const Result result = run_of(words_of(text)).result;
  const SchedulesResult& found = first_of(result);
  CHECK(result.cells[0].formula_alpha == AlphaSource::measured);
  REQUIRE(found.measured_alpha);
  CHECK(found.measured_alpha->estimate > 0.2);
  CHECK(found.measured_alpha->estimate < 0.98);
  CHECK(result.cells[0].agreement.empty());
  const ScheduleRow& row = row_of(found, "speculative, γ = 4");
  CHECK_FALSE(row.formula_within_interval.has_value());
  CHECK(*row.error_percent == doctest::Approx(100 * (*row.formula / row.speedup.estimate - 1)));
}

TEST_CASE("models of one acceptance rate in every context are compared as independent acceptances are") {
  Json config = independent(R"({"alpha": null, "simulation": {"length": 400}})");
  config["models"] = parse_json(R"({"target": {"kind": "zipf", "vocab": 20},
    "draft": {"kind": "mixture", "alpha": 0.8, "other": {"kind": "zipf", "reversed": true}}})");
  const Result result = run_of(config).result;
  CHECK(result.cells[0].formula_alpha == AlphaSource::exact);
  CHECK(*result.cells[0].exact_alpha == doctest::Approx(0.8));
  CHECK(result.cells[0].agreement.size() == 17);
}

TEST_CASE("the same bytes at one and two threads, and the same result after reading them") {
  const TempFile text(some_text());
  for (const Json& config : {independent(R"({"schedules": {"trace_tokens": 8}})"), words_of(text)}) {
    std::string bytes[2];
    for (std::size_t threads : {1, 2}) {
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
      bytes[threads - 1] = bytes_of(run_of(config).result);
    }
    CHECK(bytes[0] == bytes[1]);
    CHECK(bytes_of(read_result(Json::parse(bytes[0]))) == bytes[0]);
  }
}

TEST_CASE("traces: runs inside their schedule's end, and never overlapping on a track") {
  const Result result = run_of(independent(R"({"schedules": {"trace_tokens": 8}})")).result;
  const auto& traces = first_of(result).traces;
  REQUIRE(traces);
  CHECK(traces->size() == 17);
  bool inside = true;
  bool apart = true;
  for (const ScheduleTrace& trace : *traces) {
    CHECK_FALSE(trace.runs.empty());
    std::map<std::string, double> track_ends;
    for (const TracedRun& run : trace.runs) {
      inside = inside && run.start >= 0 && run.end <= trace.end + 1e-9;
      apart = apart && run.start >= track_ends[run.track] - 1e-9;
      track_ends[run.track] = run.end;
    }
  }
  CHECK(inside);
  CHECK(apart);
  CHECK_FALSE(first_of(run_of(independent()).result).traces);
}

TEST_CASE("tables, figures and CSV") {
  const Result result = run_of(independent(R"({"schedules": {"trace_tokens": 8}})")).result;
  const std::vector<Table> tables = tables_of(result, {}, "result");
  REQUIRE(tables.size() == 1);
  CHECK(tables[0].rows.size() == 17);
  for (const auto& row : tables[0].rows) CHECK(row.size() == tables[0].columns.size());
  const std::vector<Figure> figures = figures_of(result, Timings{});
  REQUIRE(figures.size() == 2);
  CHECK(figures[0].categories.size() == 17);
  // Runs that follow one another share a row; DSI, PEARL and function execution have one row per track.
  const auto rows_named = [&](const std::string& label) {
    return std::count_if(figures[1].trace.begin(), figures[1].trace.end(),
                         [&](const TraceRow& row) { return row.label == label; });
  };
  CHECK(rows_named("speculative, γ = 4") == 1);
  CHECK(rows_named("PEARL, γ = 4: draft") == 1);
  CHECK(rows_named("PEARL, γ = 4") == 0);
  const std::string lines = csv_of(result, {});
  CHECK(std::count(lines.begin(), lines.end(), '\n') == 18);

  const Result swept =
      run_of(independent(R"({"simulation": {"length": 200}, "sweep": {"/alpha": [0.5, 0.9]}})")).result;
  CHECK(tables_of(swept, {}, "result").size() == 2);
  const std::vector<Figure> curves = figures_of(swept, Timings{});
  REQUIRE(curves.size() == 1);
  CHECK(curves[0].series.size() == 34);
  CHECK(curves[0].series[0].x == std::vector<double>{0.5, 0.9});
  const Result lengths =
      run_of(independent(R"({"simulation": {"length": 200}, "sweep": {"/gamma": [3, 4, 5]}})")).result;
  // Each schedule has one curve, even if its name contains the swept number.
  const std::vector<Figure> by_gamma = figures_of(lengths, Timings{});
  CHECK(by_gamma[0].series.size() == 34);
  CHECK(by_gamma[0].series[2].name == "speculative");
  CHECK(by_gamma[0].series[4].name == "speculative, γ = 2, c = 0.02");
  const std::string swept_lines = csv_of(swept, {});
  CHECK(std::count(swept_lines.begin(), swept_lines.end(), '\n') == 35);
}

TEST_CASE("the ends of the range of alpha") {
  for (const double alpha : {0.0, 1.0}) {
    CAPTURE(alpha);
    const Result result =
        run_of(independent(fmt::format(R"({{"alpha": {}, "simulation": {{"length": 300}}}})", alpha))).result;
    for (const auto& [name, within] : result.cells[0].agreement) {
      CAPTURE(name);
      CHECK(within);
    }
    CHECK(row_of(first_of(result), "DSI, all 10 servers").formula.has_value() == (alpha < 1));
  }
}

TEST_CASE("a config without a list compares the usual schedules") {
  Json config = independent(R"({"simulation": {"length": 600}})");
  config.erase("schedules");
  CHECK(first_of(run_of(config).result).rows.size() == 8);
}

TEST_CASE("what does not fit is refused by its path") {
  const auto path_of = [](const std::string& more) {
    const std::string sentence = config_error_of([&] { measure_workload(read_config(independent(more))); });
    return sentence.substr(0, sentence.find(": "));
  };
  CHECK(path_of(R"({"alpha": null})") == "/alpha");
  CHECK(path_of(R"({"models": {"target": {"kind": "uniform", "vocab": 2}, "draft": {"kind": "uniform"}}})") ==
        "/alpha");
  CHECK(path_of(R"({"rule": {"kind": "block"}})") == "/rule");
  CHECK(path_of(R"({"simulation": {"trials": 1}})") == "/simulation/trials");
  CHECK(path_of(R"({"simulation": {"length": 2e8}})") == "/simulation/length");
  CHECK(path_of(R"({"cost": {"c": 0}})") == "/cost/c");
  CHECK(path_of(R"({"schedules": {"compare": [{"kind": "dsi", "c": 1.5}]}})") == "/schedules/compare/0/c");
  // With 1/c drafts and as many target runs in the time of a target run, a timeline of 1,000 would hold
  // 20,000,000.
  CHECK(path_of(R"({"cost": {"c": 1e-4}, "schedules": {"trace_tokens": 1000}})") ==
        "/schedules/trace_tokens");
  CHECK(path_of(R"({"cost": {"c": 1e-9}, "schedules": {"trace_tokens": 1}})") == "/cost/c");
  CHECK(path_of(R"({"cost": {"c": 1e-3}, "schedules": {"trace_tokens": 8}})").empty());
  CHECK(path_of(R"({"cases": [{"printed": {"speedup": "2"}}]})") == "/cases/0/printed");
}

TEST_CASE("stopped before its end, a cell is partial and holds nothing else") {
  const Result result = run_of(independent(), Control{.stop = [] { return true; }}).result;
  CHECK(result.partial);
  CHECK(result.cells[0].partial);
  CHECK(result.cells[0].own == nullptr);
}
