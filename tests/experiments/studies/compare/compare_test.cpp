// Tests the experiment "compare": the configs that it refuses, its numbers, and that threads change nothing.
#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>
#include <string>

#include "core/random/philox.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/page/cells.hpp"
#include "experiments/results/presentation.hpp"
#include "experiments/results/result_rows.hpp"
#include "experiments/studies/compare/compare.hpp"
#include "tests/experiments/config_error_of.hpp"
#include "tests/experiments/run_of.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

namespace {

/// Returns 140 documents of words that repeat in runs, so that there is something to learn and to copy.
std::string made_documents() {
  const std::vector<std::string> words{"the",  "sea",  "was",   "calm", "and",
                                       "dark", "ship", "slept", ".",    "all"};
  std::string text;
  for (std::uint32_t document = 0; document < 140; ++document) {
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
         "sequences": 32, "tokens": 30, "prompt_tokens": 10},
        {"name": "text", "corpus": {"hold_out": 4}, "sequences": 34, "tokens": 30, "prompt_tokens": 10}],
      "drafters": [
        {"kind": "model", "name": "bigram", "model": {"kind": "bigram"}, "c": 0.1},
        {"kind": "model", "name": "itself", "model": {"kind": "ngram", "order": 3}, "c": 0.1},
        {"kind": "lookup", "rule": {"kind": "greedy"}},
        {"kind": "lookahead", "window": 3, "ngram": 3},
        {"kind": "hierarchical", "middle": {"kind": "bigram"}, "c": 0.2,
         "inner": {"kind": "model", "model": {"kind": "unigram"}, "c": 0.05}}],
      "gammas": [1, 4],
      "policies": [{"kind": "fixed", "name": "four", "gamma": 4}, {"kind": "heuristic"}, {"kind": "upper-bound"}],
      "batches": 6}
  })");
  for (Json& task : config["compare"]["tasks"]) task["corpus"]["file"] = text.path().string();
  return config;
}

Result run(const Json& config) { return run_of(config).result; }

const CellResult& cell_of(const Result& result, const std::string& label) {
  for (const CellResult& cell : result.cells) {
    if (cell.label == label) return cell;
  }
  FAIL("no cell ", label);
  return result.cells.front();
}

const PolicyResult& policy_of(const CellResult& cell, const std::string& name) {
  for (const PolicyResult& policy : own<CompareResult>(cell).policies) {
    if (policy.name == name) return policy;
  }
  FAIL("no policy ", name);
  return own<CompareResult>(cell).policies.front();
}

double value(const CellResult& cell, Metric metric) { return find(cell.simulated, metric)->estimate; }

}  // namespace

TEST_CASE("a cell for each task and drafter, the same bytes at one thread and at many") {
  const TempFile text(made_documents());
  const Json config = config_on(text);
  const Result result = run(config);
  CHECK(result.cells.size() == 10);
  CHECK(!result.partial);
  const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  CHECK(result_json(run(config)).dump() == result_json(result).dump());
}

TEST_CASE("a result reads back as it was written") {
  const TempFile text(made_documents());
  const Json written = result_json(run(config_on(text)));
  CHECK(result_json(read_result(written)).dump() == written.dump());
}

TEST_CASE("a draft that is the target: all is accepted, and the speedup is Theorem 3.8 at alpha = 1") {
  const TempFile text(made_documents());
  const Result result = run(config_on(text));
  const CellResult& cell = cell_of(result, "model: itself");
  const auto& comparison = own<CompareResult>(cell);
  CHECK(value(cell, Metric::alpha_overlap) == doctest::Approx(1).epsilon(1e-9));
  CHECK(value(cell, Metric::alpha_examined) == 1.0);
  CHECK(comparison.best_gamma == 4);
  CHECK(value(cell, Metric::tokens_per_target_step) == 5.0);
  CHECK(value(cell, Metric::speedup) == doctest::Approx(5 / 1.4));
  CHECK(comparison.proposes->estimate == 1.0);
  CHECK(comparison.gammas[0].speedup->estimate == doctest::Approx(2 / 1.1));
}

TEST_CASE("alpha in contexts is the rate of the drafter's own rule, and none where the rule has none") {
  const TempFile text(made_documents());
  Json config = config_on(text);
  config["rule"] = {{"kind", "fault-accept-all"}};
  config["compare"]["drafters"] = parse_json(R"([
      {"kind": "model", "name": "all", "model": {"kind": "unigram"}},
      {"kind": "model", "name": "token", "model": {"kind": "unigram"}, "rule": {"kind": "token"}},
      {"kind": "model", "name": "block", "model": {"kind": "unigram"}, "rule": {"kind": "block"}}])");
  const Result result = run(config);
  CHECK(value(cell_of(result, "model: all"), Metric::alpha_overlap) == doctest::Approx(1));
  CHECK(value(cell_of(result, "model: token"), Metric::alpha_overlap) < 0.9);
  const CellResult& block = cell_of(result, "model: block");
  CHECK(find(block.simulated, Metric::alpha_overlap) == nullptr);
  CHECK(own<CompareResult>(block).proposes->estimate == 1);
  CHECK(tables_of(result, {}, "id").front().rows[2][5].text == "–");
}

TEST_CASE("a hierarchy's intervals reach beyond gamma: its middle model drafts all tokens of a run") {
  const TempFile text(made_documents());
  Json config = config_on(text);
  config["compare"]["only_tasks"] = Json::array({"model"});
  config["compare"]["gammas"] = {1, 2, 5};
  config["compare"]["policies"] = Json::array();
  for (const double slow : {0.0, 3.0}) {
    config["compare"]["drafters"] = parse_json(R"([
        {"kind": "hierarchical", "name": "itself", "middle": {"kind": "ngram", "order": 3}, "c": 0.1,
         "inner": {"kind": "model", "model": {"kind": "ngram", "order": 3}}, "gamma": 3},
        {"kind": "hierarchical", "name": "bigram", "middle": {"kind": "ngram", "order": 3}, "c": 0.1,
         "inner": {"kind": "model", "model": {"kind": "bigram"}}, "gamma": 3}])");
    for (Json& drafter : config["compare"]["drafters"]) drafter["inner"]["c"] = slow;
    const Result result = run(config);
    // Everything is accepted: 4 tokens for each run of the middle model, and 3 runs below it.
    const auto& itself = own<CompareResult>(cell_of(result, "model: itself"));
    for (const std::size_t i : {0, 1, 2}) {
      const int runs = i < 2 ? 1 : 2;
      CHECK(itself.gammas[i].drafted_per_round->estimate == 4 * runs);
      CHECK(itself.gammas[i].speedup->estimate ==
            doctest::Approx((1 + 4 * runs) / (1 + runs * (0.1 + 3 * slow))));
    }
    for (const GammaResult& one : own<CompareResult>(cell_of(result, "model: bigram")).gammas) {
      CHECK(one.drafted_per_round->estimate > one.gamma);
      for (const auto& number : {one.drafted_per_round, one.tokens_per_target_step, one.speedup}) {
        CHECK(number->low < number->estimate);
        CHECK(number->high > number->estimate);
      }
    }
  }
}

TEST_CASE("a policy that is the best fixed gamma gains nothing on it; the upper bound is never slower") {
  const TempFile text(made_documents());
  const Result result = run(config_on(text));
  for (const CellResult& cell : result.cells) {
    const auto& comparison = own<CompareResult>(cell);
    if (!comparison.ran()) continue;
    INFO(cell.label);
    const PolicyResult& four = policy_of(cell, "four");
    const double best = value(cell, Metric::speedup);
    if (comparison.best_gamma == 4) {
      CHECK(four.gain->estimate == 0);
      CHECK_FALSE(four.gain->bounded());  // other sequences may differ
    }
    CHECK(four.speedup->estimate == comparison.gammas[1].speedup->estimate);
    CHECK(four.speedup->low == comparison.gammas[1].speedup->low);
    CHECK(four.gain->estimate == doctest::Approx(four.speedup->estimate - best).epsilon(1e-9));
    if (*set_value(cell, "drafter") == "hierarchical") {
      CHECK(comparison.policies.size() == 2);
      continue;
    }
    const PolicyResult& bound = policy_of(cell, "upper-bound");
    CHECK(bound.speedup->estimate >= best);
    CHECK(bound.speedup_drafting_free->estimate >= bound.speedup->estimate);
  }
}

TEST_CASE("a difference that was the same in all sequences is no verdict: its error is not known") {
  const TempFile text(made_documents());
  Json config = config_on(text);
  config["compare"]["policies"] = parse_json(R"([{"kind": "fixed", "name": "one", "gamma": 1}])");
  const Result result = run(config);
  // Every token is accepted, so that every sequence loses equally by γ = 1. With the bigram as draft the
  // sequences differ.
  const PolicyResult& same = policy_of(cell_of(result, "model: itself"), "one");
  CHECK(same.gain->estimate < 0);
  CHECK_FALSE(same.gain->bounded());
  Json written;
  write(described<Interval>(), *same.gain, written);
  CHECK(written.at("low").is_null());
  CHECK(interval_text(*same.gain).ends_with("± ?"));
  // Quantities between 0 and 1, or limited by γ, have bounds within the same limits, and always have bounds.
  const auto& itself = own<CompareResult>(cell_of(result, "model: itself"));
  CHECK(itself.gammas[1].speedup->judges());
  CHECK(itself.gammas[1].speedup->high <= doctest::Approx(5 / 1.4));
  CHECK(itself.proposes->judges());
  CHECK(itself.proposes->high == 1);
  const auto tables = tables_of(result, {}, "id");
  const auto policies = std::find_if(tables.begin(), tables.end(), [](const Table& table) {
    return table.caption == "Speedup by γ policy";
  });
  REQUIRE(policies != tables.end());
  const auto marked = [&](const std::string& drafter) {
    for (const auto& row : policies->rows) {
      if (row[0].text == "model" && row[1].text == drafter) return row[3].text.find("▼") != std::string::npos;
    }
    FAIL("no row ", drafter);
    return false;
  };
  CHECK_FALSE(marked("itself"));
  const std::optional<Interval>& differing = policy_of(cell_of(result, "model: bigram"), "one").gain;
  CHECK(marked("bigram") == (differing->judges() && differing->high < 0));
}

TEST_CASE("the headline: ties, what intervals do not tell apart, plain decoding, policies, lossy rules") {
  const TempFile text(made_documents());
  Json config = config_on(text);
  config["compare"]["only_tasks"] = Json::array({"model"});
  config["compare"]["policies"] = Json::array();
  const auto with = [&](const std::string& drafters) {
    config["compare"]["drafters"] = parse_json(drafters);
    const Result result = run(config);
    const std::string found = presentation_of(result.shown()).headline(result, {});
    // A stored result gives the same sentence.
    const Result stored = read_result(result_json(result));
    CHECK(presentation_of(stored.shown()).headline(stored, {}) == found);
    return found;
  };
  const auto has = [](const std::string& all, const std::string& part) {
    INFO(all);
    CHECK(all.find(part) != std::string::npos);
  };
  const std::string itself = R"({"kind": "model", "model": {"kind": "ngram", "order": 3}, )";
  const std::string bigram = R"({"kind": "model", "model": {"kind": "bigram"}, )";
  has(with("[" + itself + R"("name": "A", "c": 0.1}, )" + itself + R"("name": "B", "c": 0.1}])"),
      "Fastest on model: A at γ = 4, speedup 3.6 +0.0 −2.4, not distinguishable from B at γ = 4 (3.6 +0.0 −2.4).");
  CHECK(with("[" + itself + R"("name": "A", "c": 0.1}, )" + bigram + R"("name": "B", "c": 1}])")
            .find("not distinguishable") == std::string::npos);
  has(with("[" + bigram + R"("name": "A", "c": 0.1}, )" + bigram + R"("name": "B", "c": 0.1001}])"),
      ", not distinguishable from B at γ = ");
  const std::string slow = with("[" + bigram + R"("name": "A", "c": 3}])");
  has(slow, "Fastest on model: plain decoding, speedup 1");
  has(slow, ", before A at γ = 1 (0.");
  // With 1 + 4 c near the tokens of a step, intervals contain the speed of plain decoding.
  const std::string near = with("[" + bigram + R"("name": "A", "c": 0.93}])");
  has(near, "plain decoding");
  has(near, ", not distinguishable from ");
  has(with("[" + bigram + R"("name": "A", "rule": {"kind": "fault-accept-all"}}])"),
      "A (lossy: fault-accept-all) at γ = 4");
  config["compare"]["policies"] = parse_json(R"([{"kind": "fixed", "name": "eight", "gamma": 8}])");
  const std::string by_policy = with("[" + itself + R"("name": "A", "c": 0.1}])");
  has(by_policy, "Fastest on model: A with eight, speedup 5.0");
  config["compare"]["tasks"][0]["sequences"] = 8;
  has(with("[" + itself + R"("name": "A", "c": 0.1}])"),
      "A with eight, speedup 5 ± ?, not distinguishable from plain decoding (1), A at γ = 4");
}

TEST_CASE("a lossy rule is marked wherever its numbers stand; one that is lossless for the target is not") {
  const TempFile text(made_documents());
  Json config = config_on(text);
  config["rule"] = {{"kind", "lenient"}, {"lenience", 0.5}};
  const Result result = run(config);
  const auto lossy = [&](const std::string& label) {
    return own<CompareResult>(cell_of(result, label)).lossy_rule;
  };
  CHECK(lossy("model: bigram") == "lenient");
  // Greedy verification is lossless where the target is greedy: a text, here.
  CHECK(lossy("model: lookup") == "greedy");
  CHECK(lossy("text: lookup").empty());
  const std::vector<Table> tables = tables_of(result, {}, "id");
  for (const Table& table : tables) CHECK(table.rows.front()[1].text == "bigram (lossy: lenient)");
  for (const Figure& figure : figures_of(result, {}))
    CHECK(figure.categories.front() == "bigram (lossy: lenient)");
  CHECK(csv_of(result, {}).find(",greedy,") != std::string::npos);
  config["rule"]["lenience"] = 1;
  config["compare"]["drafters"].erase(2);
  for (const CellResult& cell : run(config).cells) CHECK(own<CompareResult>(cell).lossy_rule.empty());
}

TEST_CASE("few sequences have no intervals, and the table says how many are needed") {
  const TempFile text(made_documents());
  Json config = config_on(text);
  config["compare"]["only_tasks"] = Json::array({"text"});
  for (const int sequences : {8, 31, 32}) {
    CAPTURE(sequences);
    config["compare"]["tasks"][1]["sequences"] = sequences;
    const Result result = run(config);
    const CompareResult& lookup = own<CompareResult>(cell_of(result, "text: lookup"));
    for (const GammaResult& one : lookup.gammas) CHECK(one.speedup->bounded() == (sequences >= 32));
    const std::string note = tables_of(result, {}, "id").front().note;
    CHECK((note.find("fewer than 32 sequences do not show") != std::string::npos) == (sequences < 32));
  }
}

TEST_CASE("a text is no model: what needs one says so, and its alpha is the share of tokens foretold") {
  const TempFile text(made_documents());
  const Result result = run(config_on(text));
  const CellResult& none = cell_of(result, "text: lookahead");
  CHECK(own<CompareResult>(none).unsupported_reason == "needs a target that can be asked about guesses");
  CHECK(none.simulated.empty());
  const CellResult& lookup = cell_of(result, "text: lookup");
  CHECK(value(lookup, Metric::alpha_overlap) <= own<CompareResult>(lookup).proposes->estimate);
  CHECK(value(lookup, Metric::alpha_overlap) > 0.3);
  // The tables contain all of it, and the figures contain every cell that ran.
  const auto tables = tables_of(result, {}, "id");
  CHECK(tables.front().rows.size() == 10);
  CHECK(tables.front().note.find("text: lookahead: needs a target") != std::string::npos);
  // A drafter that is fastest at the largest gamma may be faster beyond it.
  for (const CellResult& cell : result.cells) {
    const auto& comparison = own<CompareResult>(cell);
    if (!comparison.ran()) continue;
    const bool warned =
        tables.front().note.substr(0, tables.front().note.find('\n')).find(cell.label) != std::string::npos;
    CHECK(warned == (comparison.best_gamma == comparison.gammas.back().gamma));
  }
  CHECK(figures_of(result, {}).size() == 3);
  // Nine cells have two gammas and three policies each; the two hierarchies have no upper bound. A header is
  // added.
  const std::string lines = csv_of(result, {});
  CHECK(std::count(lines.begin(), lines.end(), '\n') == 9 * 5 - 2 + 1);
  CHECK(lines.starts_with(
      "cell,label,task,drafter,policy,kind,speedup,speedup_low,speedup_high,speedup_drafting_free"));
}

TEST_CASE("a mixture with a target needs one that is a model") {
  const TempFile text(made_documents());
  Json config = config_on(text);
  config["compare"]["drafters"] = parse_json(
      R"([{"kind": "model", "model": {"kind": "mixture", "base": "target", "other": {"kind": "bigram"}, "epsilon": 0.2}}])");
  const Result result = run(config);
  CHECK(own<CompareResult>(cell_of(result, "model: model")).ran());
  CHECK(!own<CompareResult>(cell_of(result, "text: model")).ran());
}

TEST_CASE("some drafters on some tasks: the same cells as of all") {
  const TempFile text(made_documents());
  Json config = config_on(text);
  const Result all = run_of(config).result;
  config["compare"]["only_tasks"] = Json::array({"text"});
  config["compare"]["only_drafters"] = Json::array({"bigram", "lookahead"});
  const Result some = run_of(config).result;
  REQUIRE(some.cells.size() == 2);
  for (const CellResult& cell : some.cells) {
    const auto same = std::find_if(all.cells.begin(), all.cells.end(),
                                   [&](const CellResult& other) { return other.label == cell.label; });
    REQUIRE(same != all.cells.end());
    CHECK(cell_json(*all.config->experiment, cell) == cell_json(*all.config->experiment, *same));
  }
  config["compare"]["only_tasks"] = Json::array({"texts"});
  const std::string error = config_error_of([&] { run_of(config); });
  CHECK(error.find("/compare/only_tasks/0") != std::string::npos);
  CHECK(error.find("\"text\"") != std::string::npos);
}

TEST_CASE("an interrupted comparison keeps whole cells, and goes on from them") {
  const TempFile text(made_documents());
  const Json config = config_on(text);
  const Json whole = result_json(run(config));
  std::atomic<std::uint64_t> done{0};  // written by worker threads
  const Result part = run_config(read_config(config), [&](std::uint64_t total) {
                        return Control{.stop = [&done, total] { return done > total / 2; },
                                       .progress = [&done](std::uint64_t steps) { done += steps; }};
                      }).result;
  CHECK(part.partial);
  CHECK(part.cells.front().own != nullptr);
  CHECK(part.cells.back().partial);
  // Rows without numbers give the reason.
  const Table table = tables_of(part, {}, "id").front();
  CHECK(table.rows.back()[2].text == "interrupted");
  CHECK(table.note.starts_with("Interrupted"));
  CHECK(table.note.find(part.cells.back().label) == std::string::npos);  // only one note for all cells
  const Result none = run_config(read_config(config), [&](std::uint64_t) {
                        return Control{.stop = [] { return true; }};
                      }).result;
  CHECK(tables_of(none, {}, "id").front().note.starts_with("Interrupted"));
  CHECK(presentation_of(none.shown()).headline(none, {}).starts_with("Interrupted"));
  const Result resumed =
      run_config(
          read_config(config), [](std::uint64_t) { return Control{}; }, going_on_from(part))
          .result;
  CHECK(result_json(resumed).dump() == whole.dump());
}

TEST_CASE("what compare does not read is refused with a way out, and stands in no result") {
  const TempFile text(made_documents());
  const Json config = config_on(text);
  const auto refused = [&](const std::string& path, const Json& value) {
    Json changed = config;
    changed[Json::json_pointer(path)] = value;
    return config_error_of([&] { read_config(changed); });
  };
  const std::string gamma = refused("/gamma", 3);
  CHECK(gamma.starts_with("/gamma: compare does not read \"gamma\"; leave it out, and give \"gammas\" to"));
  const std::vector<std::pair<const char*, Json>> unread{
      {"/cost/c", 0.5},          {"/engine", "plain"},     {"/alpha", 0.5},
      {"/simulation/trials", 8}, {"/search/max_gamma", 3}, {"/metrics", Json::array({"speedup"})}};
  for (const auto& [path, value] : unread)
    CHECK(refused(path, value).find(": compare does not read \"") != std::string::npos);
  CHECK(refused("/corpus", config["compare"]["tasks"][0]["corpus"]).starts_with("/corpus: compare does not"));
  CHECK(refused("/sweep", {{"/gamma", {1, 2}}}).starts_with("/sweep//gamma: compare does not read"));
  CHECK(refused("/cases", Json::array({{{"set", {{"/cost/c", 1}}}}})).starts_with("/cases/0/set: compare"));
  CHECK_NOTHROW(read_config(config));
  const Result result = run(config);
  const std::string rows = csv_of(result, {});
  const std::string header = rows.substr(0, rows.find('\n'));
  CHECK(header.find(",seed,") != std::string::npos);
  for (const char* column : {",gamma,", ",cost_c,", ",cost_c_hat,"})
    CHECK(header.find(column) == std::string::npos);
  const Json written = result_json(result).at("config");
  CHECK(!written.contains("gamma"));
  CHECK(!written.contains("simulation"));
  CHECK(written.contains("rule"));
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
  CHECK(error("/compare/tasks/0/prompt_tokens", 500).find("0 of 35 held-out documents suit the prompt") !=
        std::string::npos);
  CHECK(
      error("/compare/tasks/0/sequences", 36)
          .starts_with("/compare/tasks/0/sequences: 35 of 35 held-out documents suit the prompt, too few for "
                       "36 sequences: ask for at most 35, shorten"));
  CHECK(error("/compare/tasks/0/prompt_until", "the sea").find("is 2 tokens") != std::string::npos);
  CHECK(error("/compare/drafters/0/rule", Json{{"kind", "recursive"}}).find("several sequences at once") !=
        std::string::npos);
  CHECK(error("/compare/drafters/4/inner/rule", Json{{"kind", "match"}}).find("only the target's rule") !=
        std::string::npos);
  CHECK(error("/compare/drafters/0/model", Json{{"kind", "uniform"}, {"vocab", 3}}).find("vocabulary of 3") !=
        std::string::npos);
  CHECK(error("/compare/policies/2/kind", "oracel").find("unknown gamma policy") != std::string::npos);
  CHECK(error("/compare/tasks/0/corpus/file", "data/no_such_text.txt").find("scripts/setup.sh tasks") !=
        std::string::npos);
}

TEST_CASE("forced tokens: all accepted, without runs, and 1 / (1 - f) tokens a step; more with a model") {
  const TempFile text(made_documents());
  Json config = config_on(text);
  // After token 1 follow 2 and 3.
  config["sampling"] = parse_json(R"({"grammar": [{"1": 1, "*": 0}, {"2": 2}, {"3": 0}]})");
  Json& compare = config["compare"];
  compare["drafters"] = parse_json(R"([{"kind": "grammar", "c": 0.1},
      {"kind": "grammar", "name": "both", "model": {"kind": "bigram"}, "c": 0.1},
      {"kind": "model", "name": "bigram", "model": {"kind": "bigram"}, "c": 0.1}])");
  compare["policies"] = Json::array();
  compare["gammas"] = {4};
  const Result result = run(config);
  const CellResult& forced = cell_of(result, "model: grammar");
  const double share = value(forced, Metric::alpha_overlap);
  CHECK(share > 0.1);
  CHECK(value(forced, Metric::alpha_examined) == 1.0);
  CHECK(value(forced, Metric::tokens_per_target_step) == doctest::Approx(1 / (1 - share)).epsilon(0.1));
  CHECK(value(forced, Metric::speedup) == value(forced, Metric::tokens_per_target_step));
  const CellResult& both = cell_of(result, "model: both");
  const CellResult& bigram = cell_of(result, "model: bigram");
  // The forced tokens of the filtered bigram are the same, but each takes a run.
  CHECK(value(both, Metric::tokens_per_target_step) == value(bigram, Metric::tokens_per_target_step));
  CHECK(value(both, Metric::speedup) > value(bigram, Metric::speedup));
  CHECK(own<CompareResult>(cell_of(result, "text: grammar")).unsupported_reason ==
        "needs a target whose sampling has a grammar");
}
