#include <doctest/doctest.h>
#include <fmt/format.h>
#include <tbb/global_control.h>

#include <atomic>
#include <string>

#include "tests/experiments/config_error_of.hpp"
#include "tests/experiments/run_of.hpp"
#include "tests/sim/random_tokens.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

namespace {

/// Returns a text with twenty words, long enough for n-grams.
std::string some_text() {
  std::string text;
  for (const Token token : random_tokens(3, 3000, 20)) text += fmt::format("w{} ", token);
  return text;
}

Json config_of(const TempFile& text, const std::string& more = "{}") {
  Json config = parse_json(R"({
    "title": "test", "experiment": "beam", "seed": 5, "gamma": 3,
    "models": {"target": {"kind": "ngram", "order": 4}, "draft": {"kind": "bigram"}},
    "beam": {"width": 3, "draft_width": 6, "length": 12},
    "cost": {"c": 0.1, "c_hat": 0.2},
    "simulation": {"trials": 40, "prompt_tokens": 4}
  })");
  config["corpus"] = Json{{"file", text.path().string()}, {"vocabulary", 20}};
  config.merge_patch(parse_json(more));
  return config;
}

CellResult cell_of(const Json& config) { return run_of(config).result.cells.at(0); }

double estimate(const CellResult& cell, Metric metric) {
  const Interval* interval = find(cell.simulated, metric);
  REQUIRE(interval != nullptr);
  return interval->estimate;
}

double formula(const CellResult& cell, Metric metric) {
  const double* value = find(cell.formula, metric);
  REQUIRE(value != nullptr);
  return *value;
}

double as_double(const std::optional<std::uint64_t>& count) { return static_cast<double>(count.value()); }

}  // namespace

TEST_CASE("the numbers of a cell follow from its counts, and all beams are identical") {
  using enum Metric;
  const TempFile text(some_text());
  const CellResult cell = cell_of(config_of(text));
  const Counts& counts = cell.counts;
  CHECK(counts.searches == 40);
  CHECK(counts.identical == 40);
  CHECK(estimate(cell, identical_beams) == 1);
  CHECK(counts.emitted == 40 * 12);
  CHECK(*counts.emitted == *counts.rounds + *counts.accepted);
  CHECK(*counts.accepted > 0);
  CHECK(*counts.accepted < *counts.examined);
  // In the first step of a search there is one sequence, the prompt; in each other step there are three.
  CHECK(counts.plain_rows == 40 * (1 + 11 * 3));
  CHECK(*counts.target_rows <= *counts.rounds * (3 + 6 * 3));

  const double rounds = as_double(counts.rounds);
  const double plain_rows = as_double(counts.plain_rows);
  const double rows_of_target = as_double(counts.target_rows);
  CHECK(estimate(cell, accepted_per_target_step) == doctest::Approx(as_double(counts.accepted) / rounds));
  CHECK(estimate(cell, tokens_per_target_step) == doctest::Approx(as_double(counts.emitted) / rounds));
  CHECK(estimate(cell, alpha_examined) ==
        doctest::Approx(as_double(counts.accepted) / as_double(counts.examined)));
  CHECK(estimate(cell, speedup) ==
        doctest::Approx(as_double(counts.emitted) / (rounds + 0.1 * as_double(counts.drafted))));
  CHECK(estimate(cell, Metric::target_rows) == doctest::Approx(rows_of_target / plain_rows));
  CHECK(estimate(cell, operations) ==
        doctest::Approx((rows_of_target + 0.2 * as_double(counts.draft_rows)) / plain_rows));
  CHECK(cell.positions.size() == 3);
}

TEST_CASE("the formula at the measured acceptance: A.4's budget w + u gamma over the steps it buys") {
  using enum Metric;
  const TempFile text(some_text());
  const CellResult cell = cell_of(config_of(text));
  const double alpha = estimate(cell, alpha_examined);
  const double steps = 1 + alpha + alpha * alpha + alpha * alpha * alpha;
  CHECK(cell.formula_alpha == AlphaSource::measured);
  CHECK(formula(cell, tokens_per_target_step) == doctest::Approx(steps));
  CHECK(formula(cell, target_rows) == doctest::Approx((3 + 6 * 3) / (3 * steps)));
  CHECK(formula(cell, operations) == doctest::Approx((3 + 6 * 3 + 0.2 * (3 + 6 * 2)) / (3 * steps)));
  CHECK(formula(cell, speedup) == doctest::Approx(steps / 1.3));
}

TEST_CASE("gamma 0 is plain beam search") {
  using enum Metric;
  const TempFile text(some_text());
  const CellResult cell = cell_of(config_of(text, R"({"gamma": 0})"));
  for (const Metric metric : {tokens_per_target_step, speedup, operations, memory_accesses, target_rows}) {
    CAPTURE(metric_name(metric));
    CHECK(estimate(cell, metric) == 1);
    CHECK(formula(cell, metric) == 1);
  }
  CHECK(cell.counts.draft_rows == 0);
}

TEST_CASE("a planted fault is caught by the comparison of beams") {
  const TempFile text(some_text());
  const CellResult cell = cell_of(config_of(text, R"({"beam": {"acceptance": "fault_best_contained"}})"));
  CHECK(*cell.counts.identical < 20);
  CHECK(estimate(cell, Metric::identical_beams) < 0.5);
}

TEST_CASE("one fixed prompt is one search") {
  const Json config = parse_json(R"({"title": "t", "experiment": "beam",
    "models": {"target": {"kind": "markov", "vocab": 6, "seed": 1}, "draft": {"kind": "markov", "vocab": 6, "seed": 2}},
    "simulation": {"prompt": [1, 2]}})");
  CHECK(measure_workload(read_config(config)).steps == 32);
  const CellResult cell = cell_of(config);
  CHECK(cell.counts.searches == 1);
  CHECK(cell.counts.identical == 1);
}

TEST_CASE("the same bytes at one thread and at two, and progress adds up") {
  const TempFile text(some_text());
  const Json config = config_of(text, R"({"sweep": {"/gamma": [1, 3], "/beam/draft_width": [3, 8]}})");
  std::string alone;
  {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, 1);
    alone = bytes_of(run_of(config).result);
  }
  std::atomic<std::uint64_t> done{0};
  CHECK(bytes_of(run_of(config, {.progress = [&](std::uint64_t more) { done += more; }}).result) == alone);
  CHECK(done == measure_workload(read_config(config)).steps);
  CHECK(done == 4 * 40 * 12);
}

TEST_CASE("stopped on the way: partial, without numbers, and gone on with to the same bytes") {
  const TempFile text(some_text());
  const Json config = config_of(text, R"({"sweep": {"/gamma": [1, 2, 3]}})");
  std::atomic<std::uint64_t> done{0};
  const Result part = run_of(config, {.stop = [&] { return done > 60 * 12; },
                                      .progress = [&](std::uint64_t more) { done += more; }})
                          .result;
  CHECK(part.partial);
  CHECK_FALSE(part.cells[0].partial);
  CHECK(part.cells[1].partial);
  CHECK(part.cells[1].simulated.empty());
  const RunResult resumed = run_config(
      read_config(config), [](std::uint64_t) { return Control{}; }, going_on_from(part));
  CHECK(bytes_of(resumed.result) == bytes_of(run_of(config).result));
}

TEST_CASE("what does not suit a beam search is refused") {
  const auto error = [](const char* more) {
    Json config = parse_json(R"({"title": "t", "experiment": "beam",
      "models": {"target": {"kind": "uniform", "vocab": 4}, "draft": {"kind": "uniform", "vocab": 4}}})");
    config.update(parse_json(more));
    return config_error_of([&] { measure_workload(read_config(config)); });
  };
  CHECK(error("{}").empty());
  CHECK(error(R"({"beam": {"width": 4, "draft_width": 4}})").empty());
  CHECK(error(R"({"beam": {"width": 5, "draft_width": 4}})")
            .starts_with("/beam/draft_width: 4 is below the width 5"));
  CHECK(error(R"({"rule": {"kind": "fault-accept-all"}})").starts_with("/rule: beam does not read \"rule\""));
}
