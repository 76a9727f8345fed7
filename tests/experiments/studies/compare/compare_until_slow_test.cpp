// Tests "compare" with `until`: it decodes more held-out documents and looks at the intervals each time their
// number doubles.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "analysis/theory/theorems.hpp"
#include "core/random/philox.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/support/machine.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/studies/compare/compare.hpp"
#include "tests/experiments/config_error_of.hpp"
#include "tests/experiments/run_of.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

namespace {

/// Returns documents of words that repeat in runs.
std::string documents_in_runs(std::uint32_t count) {
  const std::vector<std::string> words{"the", "sea", "was", "calm", "and", "dark", "ship", "slept"};
  std::string text;
  for (std::uint32_t document = 0; document < count; ++document) {
    Philox stream(3, Site{document, 0, Draw{Use::world, 5}});
    std::size_t at = stream() % words.size();
    for (int i = 0; i < 40; ++i) {
      text += words[at] + " ";
      at = stream() % 4 == 0 ? stream() % words.size() : (at + 1) % words.size();
    }
    text += "\f\n";
  }
  return text;
}

Json comparison(const TempFile& text, const std::string& until) {
  Json config =
      parse_json(R"({"title": "t", "experiment": "compare", "simulation": {"until": )" + until + R"(},
    "compare": {"gammas": [1, 3], "batches": 15, "policies": [{"kind": "heuristic"}],
      "tasks": [{"name": "model", "corpus": {"hold_out": 2}, "target": {"kind": "ngram", "order": 3},
                 "sequences": 10, "tokens": 25, "prompt_tokens": 5}],
      "drafters": [{"kind": "model", "name": "bigram", "model": {"kind": "bigram"}, "c": 0.1},
                   {"kind": "lookup", "rule": {"kind": "greedy"}}]}})");
  config["compare"]["tasks"][0]["corpus"]["file"] = text.path().string();
  return config;
}

const CompareResult& comparison_of(const CellResult& cell) { return own<CompareResult>(cell); }

std::string error_of(const Json& config) {
  return config_error_of([&] { run_of(config); });
}

}  // namespace

TEST_CASE("200 seeds reach their half-width with every gamma, with the coverage that they state") {
  const TempFile text(documents_in_runs(1200));
  // Rows have no context: acceptances are independent, and the speedup is Theorem 3.8's. A sequence ends at a
  // stopping time, which leaves the ratio unchanged (Wald).
  Json config =
      comparison(text, R"({"metric": "speedup", "half_width": 0.06, "relative": true, "max_rounds": 1e7})");
  config["compare"]["tasks"][0]["target"] = {{"kind", "unigram"}};
  config["compare"]["drafters"] = parse_json(
      R"([{"kind": "model", "name": "uniform", "model": {"kind": "mixture", "epsilon": 0.35, "other": {"kind": "point", "token": 1}}, "c": 0.1}])");
  config["compare"].erase("policies");
  config["sweep"] = {{"/seed", {{"from", 1}, {"to", 200}, {"step", 1}}}};
  const Result result = run_of(config).result;
  REQUIRE(result.cells.size() == 200);
  int missed = 0;
  int later = 0;
  for (const CellResult& cell : result.cells) {
    REQUIRE(cell.until);
    CHECK(cell.until->reached);
    later += cell.until->looks > 1 ? 1 : 0;
    // The overlap is the same in every context here, but ten sequences cannot show that: others may have
    // contexts with other overlaps.
    const Interval alpha = *find(cell.simulated, Metric::alpha_overlap);
    CHECK(alpha.high - alpha.low > 0.1);
    CHECK(alpha.high <= 1);
    CHECK(alpha.estimate > 0.6);
    bool all_hold = true;
    for (const GammaResult& run : comparison_of(cell).gammas) {
      CHECK(run.speedup->half_width() <= 0.06 * run.speedup->estimate);
      all_hold = all_hold && run.speedup->holds(speedup(alpha.estimate, run.gamma, 0.1));
    }
    missed += all_hold ? 0 : 1;
  }
  CHECK(later == 200);
  // Null: each of two intervals misses with probability at most 5%, together at most 10%. P[Binomial(200,
  // 0.1) > 49] < 1e-9.
  MESSAGE(missed, " of 200 seeds missed by one of two intervals");
  CHECK(missed <= 49);
}

TEST_CASE("where it ended, a comparison has the numbers of one of that many documents") {
  const TempFile text(documents_in_runs(1200));
  Json config = comparison(text, R"({"half_width": 0.03, "relative": true})");
  config["compare"]["drafters"].erase(1);
  const Result until = run_of(config).result;
  const UntilResult& end = *until.cells[0].until;
  CHECK(end.reached);
  CHECK(end.looks > 1);
  CHECK(end.batches == 10);
  CHECK(comparison_of(until.cells[0]).sequences == end.trials);
  config["simulation"].erase("until");
  config["compare"]["tasks"][0]["sequences"] = end.trials;
  config["compare"]["batches"] = end.batches;
  const Result fixed = run_of(config).result;
  const auto counts = [](const Result& result) {
    return cell_json(*result.shown().experiment, result.cells[0])["counts"].dump();
  };
  CHECK(counts(until) == counts(fixed));
  const CompareResult& wide = comparison_of(until.cells[0]);
  const CompareResult& narrow = comparison_of(fixed.cells[0]);
  CHECK(wide.best_gamma == narrow.best_gamma);
  for (std::size_t i = 0; i < wide.gammas.size(); ++i) {
    CHECK(wide.gammas[i].speedup->estimate == narrow.gammas[i].speedup->estimate);
    CHECK(wide.gammas[i].speedup->half_width() > narrow.gammas[i].speedup->half_width());
    CHECK(wide.gammas[i].speedup->half_width() <= 0.03 * wide.gammas[i].speedup->estimate);
  }
  CHECK(wide.policies[0].gain->estimate == narrow.policies[0].gain->estimate);
  CHECK(wide.policies[0].speedup->half_width() <= 0.03 * wide.policies[0].speedup->estimate);
}

TEST_CASE("threads and other cells do not decide when a comparison ends") {
  const TempFile text(documents_in_runs(600));
  Json config = comparison(text, R"({"metric": "alpha_overlap", "half_width": 0.02})");
  const Result all = run_of(config).result;
  {
    const ThreadLimit one(1);
    CHECK(bytes_of(run_of(config).result) == bytes_of(all));
  }
  CHECK(bytes_of(read_result(result_json(all))) == bytes_of(all));
  config["compare"]["drafters"].erase(0);
  const Experiment& experiment = *all.config->experiment;
  CHECK(cell_json(experiment, run_of(config).result.cells[0]) == cell_json(experiment, all.cells[1]));
}

TEST_CASE("documents that do not suffice leave an interval that is said to be wide") {
  const TempFile text(documents_in_runs(100));  // 50 of them are held out: 10, 20 and 40 sequences
  const Result result = run_of(comparison(text, R"({"half_width": 1e-6})")).result;
  const UntilResult& end = *result.cells[0].until;
  CHECK_FALSE(end.reached);
  CHECK(end.max_looks == 3);
  CHECK(end.looks == 3);
  CHECK(end.trials == 40);
  CHECK(tables_of(result, {}, "t").front().note.find("wider than requested") != std::string::npos);
  // The same limit holds by rounds: 20 sequences of 25 tokens are 500.
  const Result by_rounds = run_of(comparison(text, R"({"half_width": 1e-6, "max_rounds": 999})")).result;
  CHECK(by_rounds.cells[0].until->trials == 20);
}

TEST_CASE("comparisons that cannot be looked at are refused") {
  const TempFile text(documents_in_runs(40));
  Json few = comparison(text, R"({"half_width": 0.1})");
  few["compare"]["tasks"][0]["sequences"] = 7;
  CHECK(error_of(few).starts_with("/compare/tasks/0/sequences: 7 are too few for an interval"));
  CHECK(error_of(comparison(text, R"({"half_width": 0.1, "metric": "operations"})"))
            .starts_with("/simulation/until/metric: \"operations\" has no interval in \"compare\"; choose "));
  CHECK(error_of(comparison(text, R"({"half_width": 0.1, "max_rounds": 249})"))
            .starts_with("/simulation/until/max_rounds: 249 is less than the 250 rounds"));
}
