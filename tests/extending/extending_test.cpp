// A rule, a model, a drafter, a policy, a schedule, an experiment, a verb and a format of logs from outside
// the program: each is one file here, is added in one line below, and is then known to everything that reads
// the catalogue.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "analysis/theory/theorems.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/catalog/families.hpp"
#include "experiments/catalog/rules/rule_programs.hpp"
#include "experiments/cli/program.hpp"
#include "experiments/cli/reference.hpp"
#include "experiments/config/config.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/run/run_config.hpp"
#include "experiments/verify/prove/survey.hpp"
#include "tests/experiments/run_of.hpp"
#include "tests/extending/own_kinds.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

namespace {

const bool added = [] {
  rule_family().add(timid_rule());
  rule_family().add(resampling_rule());
  model_family().add(two_peaks_model());
  drafter_family().add(repeat_drafter());
  policy_family().add(alternating_policy());
  schedule_family().add(overlapped_schedule());
  experiments().push_back(&whole_rounds_experiment());
  verbs().push_back(guarantee_verb());
  log_formats().push_back(request_lines_log_format());
  return true;
}();

Result run(const Json& config) {
  const auto quiet = [](std::uint64_t) { return Control{}; };
  return run_config(read_config(config), quiet).result;
}

Json models() {
  return {{"target", {{"kind", "two-peaks"}, {"share", 0.9}}}, {"draft", {{"kind", "uniform"}}}};
}

}  // namespace

TEST_CASE("the catalogue lists what was added") {
  REQUIRE(added);
  const std::string list = list_text(families());
  const std::string reference = reference_markdown(families());
  for (const char* name :
       {"timid", "resampling", "two-peaks", "repeat", "alternating", "overlapped", "whole-rounds"}) {
    CAPTURE(name);
    CHECK(list.find(name) != std::string::npos);
    CHECK(reference.find(name) != std::string::npos);
  }
}

TEST_CASE("own rules are held to what they promise, by proof") {
  const Survey survey = prove_all(40, 1, false, Control{});
  bool timid_held = false;
  bool resampling_held = true;
  for (const SurveyRow& row : survey.rules) {
    if (row.rule == "timid") timid_held = row.as_expected;
    if (row.rule == "resampling") resampling_held = row.as_expected;
  }
  CHECK(timid_held);
  CHECK_FALSE(resampling_held);
}

TEST_CASE("an own rule and an own model decode as their closed form says") {
  const Result result = run({{"title", "timid"},
                             {"models", models()},
                             {"rule", {{"kind", "timid"}, {"boldness", 0.25}}},
                             {"gamma", 3},
                             {"confidence", 0.999999},
                             {"simulation", {{"trials", 16}, {"length", 2000}}}});
  const CellResult& cell = result.cells.front();
  // The overlap of (.45, .45, .1/6 six times) with the uniform row is 2/8 + .1.
  CHECK(*cell.exact_alpha == doctest::Approx(0.25 * 0.35));
  const Interval* tokens = find(cell.simulated, Metric::tokens_per_target_step);
  REQUIRE(tokens != nullptr);
  CHECK(tokens->low <= expected_tokens(0.25 * 0.35, 3));
  CHECK(tokens->high >= expected_tokens(0.25 * 0.35, 3));
}

TEST_CASE("an own rule is fast at once, over stored rows and n-grams, with the numbers of the plain engine") {
  const auto file = std::filesystem::temp_directory_path() / "speclab_extending_fast.txt";
  {
    std::ofstream text(file);
    for (int i = 0; i < 400; ++i) text << "a a a b b c a a d d d e" << (i % 20 == 19 ? "\f" : "\n");
  }
  const Json corpus{{"file", file.string()}, {"tokenization", "words"}};
  const Json ngrams{{"target", {{"kind", "ngram"}, {"order", 3}}}, {"draft", {{"kind", "unigram"}}}};
  const auto cell_of = [&](const Json& pair, const char* engine, const char* rule) {
    Json config{{"title", "fast"},          {"models", pair},
                {"rule", {{"kind", rule}}}, {"gamma", 3},
                {"engine", engine},         {"confidence", 0.999999},
                {"seed", engine[0]},        {"simulation", {{"trials", 16}, {"length", 2000}}}};
    if (pair == ngrams) config["corpus"] = corpus;
    return run(config).cells.front();
  };
  // Null: both engines have one law. Intervals at a confidence of 1 - 1e-6 miss one another in fewer than
  // one of 10^6 runs; those of another rule do.
  const auto agree = [](const CellResult& one, const CellResult& two) {
    const Interval& a = *find(one.simulated, Metric::tokens_per_target_step);
    const Interval& b = *find(two.simulated, Metric::tokens_per_target_step);
    return a.low <= b.high && b.low <= a.high;
  };
  for (const Json& pair : {models(), ngrams}) {
    const CellResult fast = cell_of(pair, "fast", "timid");
    CHECK(fast.engine->name == "fast");
    const CellResult plain = cell_of(pair, "plain", "timid");
    CHECK(plain.engine->name == "plain");
    CHECK(agree(fast, plain));
    CHECK_FALSE(agree(fast, cell_of(pair, "fast", "token")));
  }
  std::filesystem::remove(file);
}

TEST_CASE("an own experiment has its own result, in JSON, too") {
  const Result result = run({{"title", "whole rounds"},
                             {"experiment", "whole-rounds"},
                             {"models", models()},
                             {"gamma", 2},
                             {"simulation", {{"trials", 16}, {"length", 2000}}}});
  const Json json = result_json(result);
  const double share = json.at("cells")[0].at("whole_rounds").at("share").get<double>();
  // 32,000 rounds: the standard deviation is below 0.002.
  CHECK(std::abs(share - 0.35 * 0.35) < 0.012);
  CHECK(result_json(read_result(json)) == json);
}

TEST_CASE("an own experiment that only decodes runs on a recording, and its numbers are in results.csv") {
  // A greedy text decides each round: at position i the draft's token is kept or not.
  const std::vector<int> kept{1, 1, 0, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1};
  std::string text = "sequence,position,token,logp,logq\n";
  for (std::size_t i = 0; i < kept.size(); ++i)
    text += "0," + std::to_string(i) + ",7,0," + (kept[i] == 1 ? "0" : "-inf") + "\n";
  const TempFile file(text);
  constexpr std::size_t gamma = 2;
  constexpr std::size_t rounds = 500;
  std::size_t whole = 0;
  for (std::size_t round = 0, at = 0; round < rounds; ++round) {
    std::size_t accepted = 0;
    while (accepted < gamma && kept[(at + accepted) % kept.size()] == 1) ++accepted;
    whole += accepted == gamma ? 1 : 0;
    at += accepted + 1;
  }
  const Json recorded{{"kind", "recorded"}, {"file", file.path().string()}};
  const Result result = run({{"title", "whole rounds of a recording"},
                             {"experiment", "whole-rounds"},
                             {"models", {{"target", recorded}, {"draft", recorded}}},
                             {"gamma", gamma},
                             {"simulation", {{"trials", 1}, {"length", rounds}}}});
  const Json own = result_json(result).at("cells")[0].at("whole_rounds");
  CHECK(own.at("rounds") == rounds);
  CHECK(own.at("whole") == whole);
  CHECK(whole > 0);
  CHECK(whole < rounds);
  const std::string csv = csv_of(result, Timings{});
  CHECK(csv.find(",rounds,whole,share,") != std::string::npos);
  CHECK(csv.find("," + std::to_string(rounds) + "," + std::to_string(whole) + ",") != std::string::npos);
}

TEST_CASE("an own format of logs is recognised, and refuses a key that it does not know") {
  const std::string sample = request_lines_log_format().sample;
  const AcceptanceFile log = acceptance_in(sample, "own.jsonl");
  CHECK(log.format == "request_lines");
  CHECK(log.model == "m");
  CHECK(log.counts.total_accepted() == 31 + 22 + 14);
  CHECK(log.counts.total_examined() == 40 + 31 + 22);
  std::string other = sample;
  other.insert(other.find("\"rounds\""), "\"tree_width\": 2, ");
  std::string error;
  try {
    acceptance_in(other, "own.jsonl");
  } catch (const UsageError& refusal) {
    error = refusal.what();
  }
  CHECK(error.starts_with("own.jsonl: /draft/tree_width: not known"));
}

TEST_CASE("an own schedule stands beside its closed form") {
  const Result result = run({{"title", "overlapped"},
                             {"experiment", "schedules"},
                             {"alpha", 0.7},
                             {"gamma", 4},
                             {"cost", {{"c", 0.5}}},
                             {"confidence", 0.999999},
                             {"schedules", {{"compare", {{{"kind", "overlapped"}}}}}},
                             {"simulation", {{"trials", 32}, {"length", 2000}}}});
  REQUIRE(result.cells.front().agreement.size() == 1);
  CHECK(result.cells.front().agreement.front().second);
}

TEST_CASE("an own drafter and an own policy take part in a comparison") {
  const auto file = std::filesystem::temp_directory_path() / "speclab_extending_corpus.txt";
  {
    std::ofstream text(file);
    for (int i = 0; i < 400; ++i) text << "a a a b b c a a d d d e" << (i % 20 == 19 ? "\f" : "\n");
  }
  const Json corpus{{"file", file.string()}, {"tokenization", "words"}, {"hold_out", 4}};
  const Result result = run(
      {{"title", "compare"},
       {"experiment", "compare"},
       {"compare",
        {{"tasks",
          {{{"name", "text"}, {"corpus", corpus}, {"sequences", 4}, {"tokens", 40}, {"prompt_tokens", 8}}}},
         {"drafters", {{{"kind", "repeat"}}}},
         {"gammas", {1, 3}},
         {"policies", {{{"kind", "alternating"}}}},
         {"batches", 2}}}});
  std::filesystem::remove(file);
  const Json json = result_json(result);
  CHECK(json.dump().find("\"repeat\"") != std::string::npos);
  CHECK(json.dump().find("\"alternating\"") != std::string::npos);
  CHECK_FALSE(result.partial);
}

TEST_CASE("an own verb runs") {
  CHECK(run_program({"guarantee", "--alpha", "0.8", "--c", "0.05"}) == exit_ok);
  CHECK(run_program({"guarantee", "--alpha", "0.8"}) == exit_bad_input);
}
