// The experiment "compare": what it refuses, what its numbers are, and that threads change nothing.
#include "experiments/compare/comparison.hpp"

#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "core/random/philox.hpp"
#include "experiments/compare/comparison_report.hpp"
#include "experiments/format/document.hpp"
#include "experiments/laboratory.hpp"
#include "tests/experiments/config_error_of.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

namespace {

/// Sixty documents of words that follow one another in runs, so that there is something to learn and to copy.
std::string made_documents() {
  const std::vector<std::string> words{"the",  "sea",  "was",   "calm", "and",
                                       "dark", "ship", "slept", ".",    "all"};
  std::string text;
  for (std::uint32_t document = 0; document < 60; ++document) {
    Philox stream(3, Site{document, 0, Draw{Use::world, 5}});
    std::size_t at = stream() % words.size();
    for (int i = 0; i < 90; ++i) {
      text += words[at] + " ";
      at = stream() % 4 == 0 ? stream() % words.size() : (at + 1) % words.size();
    }
    text += "\f\n";
  }
  return text;
}

Json config_on(const TempFile& text) {
  Json config = parse_json(R"({
    "title": "test", "experiment": "compare", "seed": 5,
    "compare": {
      "tasks": [
        {"name": "model", "corpus": {"hold_out": 4}, "target": {"kind": "ngram", "order": 3},
         "sequences": 10, "tokens": 60, "prompt_tokens": 10},
        {"name": "text", "corpus": {"hold_out": 4}, "sequences": 12, "tokens": 60, "prompt_tokens": 10}],
      "drafters": [
        {"kind": "model", "name": "bigram", "model": {"kind": "bigram"}, "c": 0.1},
        {"kind": "model", "name": "itself", "model": {"kind": "ngram", "order": 3}, "c": 0.1},
        {"kind": "lookup", "verifier": {"kind": "greedy"}},
        {"kind": "lookahead", "window": 3, "ngram": 3},
        {"kind": "hierarchical", "middle": {"kind": "bigram"}, "c": 0.2,
         "inner": {"kind": "model", "model": {"kind": "unigram"}, "c": 0.05}}],
      "gammas": [1, 4],
      "policies": [{"kind": "fixed", "name": "four", "gamma": 4}, {"kind": "heuristic"}, {"kind": "oracle"}],
      "batches": 6}
  })");
  for (Json& task : config["compare"]["tasks"]) task["corpus"]["file"] = text.path().string();
  return config;
}

Findings run(const Json& config) {
  return run_config(config, [](std::uint64_t) { return Control{}; });
}

const Json& cell_of(const Json& result, const std::string& label) {
  for (const Json& cell : result.at("cells")) {
    if (cell.at("label") == label) return cell;
  }
  FAIL("no cell ", label);
  return result;
}

const Json& policy_of(const Json& cell, const std::string& name) {
  for (const Json& policy : cell.at("policies")) {
    if (policy.at("name") == name) return policy;
  }
  FAIL("no policy ", name);
  return cell;
}

}  // namespace

TEST_CASE("a cell for each task and drafter, the same bytes at one thread and at many") {
  const TempFile text(made_documents());
  const Json config = config_on(text);
  const Json result = run(config).result;
  CHECK(result.at("cells").size() == 10);
  CHECK(result.at("partial") == false);
  const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  CHECK(run(config).result.dump() == result.dump());
}

TEST_CASE("a draft that is the target: all is accepted, and speed is Theorem 3.8 at alpha = 1") {
  const TempFile text(made_documents());
  const Json result = run(config_on(text)).result;
  const Json& cell = cell_of(result, "model: itself");
  CHECK(cell.at("simulated").at("alpha_overlap")[0].get<double>() == doctest::Approx(1).epsilon(1e-9));
  CHECK(cell.at("simulated").at("alpha_examined")[0] == 1.0);
  CHECK(cell.at("best_gamma") == 4);
  CHECK(cell.at("simulated").at("tokens_per_round")[0] == 5.0);
  CHECK(cell.at("simulated").at("speed")[0].get<double>() == doctest::Approx(5 / 1.4));
  CHECK(cell.at("proposes")[0] == 1.0);
  CHECK(cell.at("gammas")[0].at("speed")[0].get<double>() == doctest::Approx(2 / 1.1));
}

TEST_CASE("a policy that is the best fixed gamma gains nothing on it; the oracle is never slower") {
  const TempFile text(made_documents());
  const Json result = run(config_on(text)).result;
  for (const Json& cell : result.at("cells")) {
    if (!cell.contains("policies")) continue;
    INFO(cell.at("label").get<std::string>());
    const Json& four = policy_of(cell, "four");
    if (cell.at("best_gamma") == 4) CHECK(four.at("gain") == Json::array({0.0, 0.0, 0.0}));
    CHECK(four.at("speed") == cell.at("gammas")[1].at("speed"));
    const double gain = four.at("speed")[0].get<double>() - cell.at("simulated").at("speed")[0].get<double>();
    CHECK(four.at("gain")[0].get<double>() == doctest::Approx(gain).epsilon(1e-9));
    if (cell.at("set").at("drafter") == "hierarchical") {
      CHECK(cell.at("policies").size() == 2);
      continue;
    }
    const Json& oracle = policy_of(cell, "oracle");
    CHECK(oracle.at("speed")[0].get<double>() >= cell.at("simulated").at("speed")[0].get<double>());
    CHECK(oracle.at("speed_uncharged")[0].get<double>() >= oracle.at("speed")[0].get<double>());
  }
}

TEST_CASE("a text is no model: what needs one says so, and its alpha is the share of tokens foretold") {
  const TempFile text(made_documents());
  const Json result = run(config_on(text)).result;
  const Json& none = cell_of(result, "text: lookahead");
  CHECK(none.at("obstacle") == "needs a target that can be asked about guesses");
  CHECK(!none.contains("simulated"));
  const Json& lookup = cell_of(result, "text: lookup");
  CHECK(lookup.at("simulated").at("alpha_overlap")[0] <= lookup.at("proposes")[0]);
  CHECK(lookup.at("simulated").at("alpha_overlap")[0].get<double>() > 0.3);
  // All of it is in the tables, and the figures hold every cell that ran.
  const auto tables = comparison_tables(result, "id");
  CHECK(tables.front().rows.size() == 10);
  CHECK(tables.front().note.find("text: lookahead: needs a target") != std::string::npos);
  CHECK(comparison_figures(result).size() == 3);
  // Two gammas and three policies each, of nine cells; no oracle over the two hierarchies. And a header.
  const std::string lines = comparison_csv(result);
  CHECK(std::count(lines.begin(), lines.end(), '\n') == 9 * 5 - 2 + 1);
  CHECK(lines.starts_with("task,drafter,policy,kind,speed,speed_low,speed_high,speed_uncharged"));
}

TEST_CASE("an interrupted comparison keeps whole cells, and goes on from them") {
  const TempFile text(made_documents());
  const Json config = config_on(text);
  const Json whole = run(config).result;
  std::uint64_t done = 0;
  const Json part = run_config(config, [&](std::uint64_t total) {
                      return Control{.stop = [&done, total] { return done > total / 2; },
                                     .progress = [&done](std::uint64_t steps) { done += steps; }};
                    }).result;
  CHECK(part.at("partial") == true);
  CHECK(part.at("cells")[0].contains("policies"));
  CHECK(part.at("cells").back().contains("partial"));
  const Json resumed = run_config(
                           config, [](std::uint64_t) { return Control{}; }, part)
                           .result;
  CHECK(resumed.dump() == whole.dump());
}

TEST_CASE("what compare refuses") {
  const TempFile text(made_documents());
  const auto error = [&](const std::string& path, const Json& value) {
    Json config = config_on(text);
    config[Json::json_pointer(path)] = value;
    return config_error_of([&] { run(config); });
  };
  CHECK(error("/compare/drafters/1/name", "bigram").find("\"bigram\" is the name of entry 0, too") !=
        std::string::npos);
  CHECK(error("/compare/tasks/0/corpus/hold_out", 0).find("some must be held out") != std::string::npos);
  CHECK(error("/compare/tasks/0/corpus/hold_out", 1).find("1 holds out everything") != std::string::npos);
  CHECK(error("/compare/tasks/0/prompt_tokens", 500).find("0 of 15 held-out documents suit the prompt") !=
        std::string::npos);
  CHECK(error("/compare/tasks/0/prompt_until", "the sea").find("is 2 tokens") != std::string::npos);
  CHECK(
      error("/compare/drafters/0/verifier", Json{{"kind", "recursive"}}).find("several sequences at once") !=
      std::string::npos);
  CHECK(error("/compare/drafters/4/inner/verifier", Json{{"kind", "match"}})
            .find("only the target's verifier") != std::string::npos);
  CHECK(error("/compare/drafters/0/model", Json{{"kind", "uniform"}, {"vocab", 3}}).find("vocabulary of 3") !=
        std::string::npos);
  CHECK(error("/compare/tasks/0/corpus/file", "data/no_such_text.txt").find("scripts/setup.sh tasks") !=
        std::string::npos);
}
