// Tests which engine a config's decoding uses, and that results do not depend on it.
#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "experiments/base/format/json_io.hpp"
#include "experiments/catalog/rules/rule_kind.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/experiment.hpp"
#include "tests/experiments/config_error_of.hpp"
#include "tests/experiments/run_of.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

namespace {

Json engine_config(const std::string& more) {
  Json config = parse_json(R"({
    "title": "test",
    "seed": 3,
    "models": {"target": {"kind": "markov", "vocab": 12, "concentration": 0.5, "seed": 1},
               "draft": {"kind": "mixture", "epsilon": 0.4, "other": {"kind": "uniform"}}},
    "gamma": 4,
    "simulation": {"trials": 64, "length": 500},
    "confidence": 0.9999999, "simultaneous": true
  })");
  config.update(parse_json(more));
  return config;
}

CellResult cell_of(const Json& config) { return run_of(config).result.cells.at(0); }

std::string engine_of(const std::string& more) { return cell_of(engine_config(more)).engine.value().name; }

/// Returns 30,000 words. Each is likely after a few others; some are rare.
std::string words_after_words() {
  std::uint32_t state = 1;
  const auto random = [&] { return (state = state * 1664525 + 1013904223) >> 8; };
  std::string text;
  std::uint32_t word = 0;
  for (int i = 0; i < 30000; ++i) {
    const std::uint32_t draw = random() % 64;
    word = draw < 8 ? random() % 400 : (word * 5 + draw % 8 * (draw % 8)) % 400;
    text += "w" + std::to_string(word) + " ";
  }
  return text;
}

bool overlap_each_other(const Interval& a, const Interval& b) { return a.low <= b.high && b.low <= a.high; }

}  // namespace

TEST_CASE("what the fast engine cannot run by its kind is refused before a model is built") {
  const auto refused = [](const std::string& more) {
    return config_error_of([&] {
      const Config config = read_config(engine_config(more));
      config.experiment->check(config);
    });
  };
  const std::string cached = R"({"kind": "cached", "base": {"kind": "zipf", "vocab": 8}})";
  const std::string zipf = R"({"kind": "zipf", "vocab": 8})";
  const auto models = [](const std::string& target, const std::string& draft) {
    return R"("models": {"target": )" + target + R"(, "draft": )" + draft + "}";
  };
  for (const std::string& more : {std::string(R"("rule": {"kind": "importance"})"), models(cached, cached),
                                  models(cached, zipf), models(zipf, cached)}) {
    CAPTURE(more);
    CHECK(refused(R"({"engine": "fast", )" + more + "}").starts_with("/engine"));
    CHECK(refused("{" + more + "}").empty());
  }
  CHECK(refused(R"({"engine": "fast"})").empty());
  CHECK(refused(R"({"engine": "fast", "experiment": "acceptance"})")
            .starts_with("/engine: acceptance does not read"));
}

TEST_CASE("auto takes the fast engine where it pays, and results name the engine") {
  const EngineResult automatic = cell_of(engine_config("{}")).engine.value();
  CHECK(automatic.name == "fast");
  CHECK(automatic.random_blocks.value() > 64 * 500);
  const EngineResult plain = cell_of(engine_config(R"({"engine": "plain"})")).engine.value();
  CHECK(plain.name == "plain");
  CHECK_FALSE(plain.random_blocks);
  const std::string few = R"("simulation": {"trials": 1, "length": 95, "batches": 2}})";
  CHECK(engine_of("{" + few) == "plain");
  CHECK(engine_of(R"({"engine": "fast", )" + few) == "fast");
  CHECK(engine_of(R"({"rule": {"kind": "block"}})") == "fast");
  CHECK(engine_of(R"({"rule": {"kind": "importance"}})") == "plain");
  // A fault derives from the token rule but verifies differently.
  CHECK(engine_of(R"({"rule": {"kind": "fault-shared-noise"}})") == "plain");
}

namespace {

/// Null: intervals of both engines overlap for each metric, at a joint confidence of 1 - 1e-7 for each rule
/// and model. Returns the number of pairs of rule and models, without those that the fast engine refuses.
std::size_t check_engines(const std::vector<std::string>& rules) {
  const std::string markov = "";
  const TempFile text(words_after_words());
  const std::string ngrams = R"("corpus": {"file": ")" + text.path().string() +
                             R"(", "vocabulary": 300, "hold_out": 0},
    "models": {"target": {"kind": "ngram", "order": 3}, "draft": {"kind": "bigram"}}, )";
  const auto decoded = [](const std::string& engine, const std::string& models, const std::string& rule) {
    return cell_of(
        engine_config(R"({"engine": ")" + engine + R"(", )" + models + R"("rule": )" + rule + "}"));
  };
  std::size_t compared = 0;
  const auto compare = [&](const std::string& models, const std::string& rule) {
    INFO(rule);
    CellResult fast;
    const std::string refusal = config_error_of([&] { fast = decoded("fast", models, rule); });
    if (refusal.starts_with("/engine: ")) return;
    REQUIRE(refusal == "");
    ++compared;
    const CellResult plain = decoded("plain", models, rule);
    CHECK(fast.engine.value().name == "fast");
    CHECK(fast.simulated.size() == plain.simulated.size());
    for (const auto& [metric, interval] : fast.simulated) {
      INFO(metric_name(metric));
      const Interval* other = find(plain.simulated, metric);
      REQUIRE(other != nullptr);
      CHECK(overlap_each_other(interval, *other));
    }
  };
  for (const std::string& rule : rules) {
    for (const std::string& models : {markov, ngrams}) compare(models, rule);
  }
  // A rule with other acceptances does not pass as equal.
  for (const std::string& models : {markov, ngrams}) {
    const CellResult fast = decoded("fast", models, R"({"kind": "token"})");
    const CellResult other = decoded("plain", models, R"({"kind": "lenient", "lenience": 0.5})");
    CHECK_FALSE(overlap_each_other(*find(fast.simulated, Metric::alpha_examined),
                                   *find(other.simulated, Metric::alpha_examined)));
  }
  return compared;
}

}  // namespace

TEST_CASE("both engines find the same, by one rule of each kind") {
  CHECK(check_engines({R"({"kind": "token"})", R"({"kind": "block"})",
                       R"({"kind": "traversal", "branching": [2, 2, 1, 1]})", R"({"kind": "gumbel"})"}) == 8);
}

TEST_CASE("long: both engines find the same, by every rule") {
  std::vector<std::string> rules{R"({"kind": "lenient", "lenience": 0.5})",
                                 R"({"kind": "recursive", "drafts": 3})",
                                 R"({"kind": "k-seq", "drafts": 3})",
                                 R"({"kind": "without-replacement", "drafts": 3})",
                                 R"({"kind": "tree", "branching": [2, 2, 1, 1]})",
                                 R"({"kind": "typical", "epsilon": 0.3, "delta": 0.5})",
                                 R"({"kind": "lenient-greedy", "lenience": 0.5})",
                                 R"({"kind": "scheduled", "survival": 0.2})",
                                 R"({"kind": "scheduled", "verification": "block"})"};
  for (const std::string& name : rule_family().names()) {
    if (!name.starts_with("fault-")) rules.push_back(Json{{"kind", name}}.dump());
  }
  // The plain engine alone runs fly, substitute, importance and gbv, and, over n-grams, sigmoid.
  constexpr std::size_t plain_pairs = 9;
  CHECK(check_engines(rules) == 2 * rules.size() - plain_pairs);
}

TEST_CASE("one result at any number of threads, with several cells of one set-up") {
  const Json config =
      engine_config(R"({"sweep": {"/gamma": [0, 1, 2, 3, 8], "/models/draft/epsilon": [0.1, 0.9]}})");
  const auto bytes = [&](std::size_t threads) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    return bytes_of(run_of(config).result);
  };
  CHECK(bytes(1) == bytes(2));
  CHECK(bytes(1) == bytes(5));
}

TEST_CASE("i.i.d. rounds need no models and hold the formula") {
  const CellResult cell =
      cell_of(parse_json(R"({"title": "test", "experiment": "iid", "alpha": 0.7, "gamma": 6,
    "cost": {"c": 0.1}, "simulation": {"trials": 64, "length": 5000}, "confidence": 0.9999999})"));
  CHECK(cell.engine.value().name == "iid");
  CHECK(cell.exact_alpha == 0.7);
  CHECK(cell.counts.rounds == 64 * 5000);
  for (const auto& [metric, inside] : cell.agreement) {
    INFO(metric);
    CHECK(inside);
  }
}
