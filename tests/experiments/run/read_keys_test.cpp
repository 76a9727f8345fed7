// Tests that every key which an experiment says that it reads changes what it shows. All other keys are
// refused, so that no key is ignored in silence.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/config/config_types.hpp"
#include "experiments/results/presentation.hpp"
#include "tests/experiments/config_error_of.hpp"
#include "tests/experiments/run_of.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

namespace {

/// A change of one key, and the keys beside which it matters.
struct KeyChange {
  std::string key;
  std::string beside;
  std::string change;
};

/// Returns changes of all keys. The key matters if one of its changes does.
const std::vector<KeyChange>& key_changes() {
  static const std::string words = R"("corpus": {"file": "TEXT", "tokenization": "words"}, "models": )";
  static const std::string ngrams =
      "{" + words + R"({"target": {"kind": "ngram", "order": 3}, "draft": {"kind": "bigram"}}})";
  static const std::string markov =
      R"({"models": {"target": {"kind": "markov", "vocab": 5, "concentration": 2, "seed": 4},
                     "draft": {"kind": "mixture", "epsilon": 0.4, "other": {"kind": "uniform"}}}})";
  static const std::vector<KeyChange> all{
      {"corpus", ngrams, R"({"corpus": {"vocabulary": 4}})"},
      {"models", "{}", R"({"models": {"draft": {"epsilon": 0.7}}})"},
      {"sampling", "{}", R"({"sampling": {"temperature": 0.5}})"},
      {"rule", "{}", R"({"rule": {"kind": "lenient", "lenience": 0.5}})"},
      {"engine", R"({"engine": "fast"})", R"({"engine": "plain"})"},
      {"alpha", "{}", R"({"alpha": 0.31})"},
      {"gamma", "{}", R"({"gamma": 1})"},
      {"cost/c", "{}", R"({"cost": {"c": 0.3}})"},
      {"cost/c_hat", "{}", R"({"cost": {"c_hat": 0.4}})"},
      {"simulation/trials", "{}", R"({"simulation": {"trials": 20}})"},
      {"simulation/trials", ngrams, R"({"simulation": {"trials": 20, "prompt_tokens": 3}})"},
      {"simulation/length", "{}", R"({"simulation": {"length": 30}})"},
      {"simulation/batches", "{}", R"({"simulation": {"batches": 3}})"},
      {"simulation/batches", markov, R"({"simulation": {"batches": 3}})"},
      {"simulation/prompt", "{}", R"({"simulation": {"prompt": [1]}})"},
      {"simulation/prompt", markov, R"({"simulation": {"prompt": [1]}})"},
      {"simulation/prompt", ngrams, R"({"simulation": {"prompt": [4]}})"},
      {"simulation/prompt_tokens", ngrams, R"({"simulation": {"prompt_tokens": 2}})"},
      {"simulation/until", "{}",
       R"({"simulation": {"until": {"metric": "alpha_overlap", "half_width": 0.3, "max_rounds": 100000}}})"},
      {"simulation/until", "{}",
       R"({"simulation": {"until": {"metric": "alpha_examined", "half_width": 0.3, "max_rounds": 100000}}})"},
      {"metrics", R"({"sweep": {"/seed": [1, 2]}})", R"({"metrics": ["alpha_drafted"]})"},
      {"figures", R"({"sweep": {"/seed": [1, 2]}})",
       R"({"figures": [{"title": "f", "x": "/seed", "y": "alpha_drafted"}]})"},
      {"input_rounding", R"({"cases": [{"label": "a", "printed": {"speedup": "1.8"}}]})",
       R"({"input_rounding": {"alpha": 0.05}})"},
      {"input_rounding", R"({"cases": [{"label": "a", "printed": {"speedup": "2.6"}}]})",
       R"({"input_rounding": {"alpha": 0.05}})"},
      {"measured_note",
       R"({"cases": [{"label": "a", "measured": {"x": "1"}}, {"label": "b", "set": {"/seed": 2}}]})",
       R"({"measured_note": "because"})"}};
  return all;
}

/// Returns a small config of the experiment, with two models or with an acceptance rate.
Json small_config(const Experiment& experiment, bool models) {
  Json config = parse_json(R"({"title": "t", "seed": 7, "gamma": 3, "cost": {"c": 0.1, "c_hat": 0.1},
      "models": {"target": {"kind": "table", "rows": [[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.3, 0.2, 0.5]]},
                 "draft": {"kind": "mixture", "epsilon": 0.4, "other": {"kind": "uniform"}}},
      "alpha": 0.7, "simulation": {"trials": 12, "length": 60, "batches": 4},
      "search": {"max_gamma": 3}, "trace": {"tokens": 60, "gammas": [3]},
      "beam": {"width": 2, "draft_width": 2, "length": 12},
      "schedules": {"compare": [{"kind": "speculative"}]},
      "serving": {"requests_per_second": 20, "prompt": 30, "output": 12, "requests": 60, "settle": 6, "runs": 2,
                  "cost": {"kind": "steps", "step": 2, "draft_run": 0.1}},
      "compare": {"tasks": [{"name": "text", "corpus": {"file": "TEXT", "hold_out": 3}, "sequences": 4,
                             "tokens": 20, "prompt_tokens": 5}],
                  "drafters": [{"kind": "model", "model": {"kind": "bigram"}, "c": 0.1}], "batches": 2},
      "printed": {"quantity": "percent_saved", "from": ["4.17"], "to": ["3.67"]}})");
  config.erase(models ? "alpha" : "models");
  config["experiment"] = experiment.name;
  return read_part(config);
}

/// Returns everything that a run of the config shows but the config itself and the names of input files.
std::string shown_by(const Json& config) {
  const Result result = run_of(config).result;
  Json json = result_json(result);
  json.erase("config");
  json.erase("inputs");
  std::string text = json.dump();
  for (const Table& table : tables_of(result, {}, "id")) text += terminal(table, 0);
  for (const Figure& figure : figures_of(result, {})) text += figure.title;
  return text;
}

/// Returns whether the change changes what the experiment shows; false if the config cannot be run.
bool matters(const Experiment& experiment, bool models, const KeyChange& one, const std::string& file) {
  const auto parsed = [&](std::string text) {
    if (const auto at = text.find("TEXT"); at != std::string::npos) text.replace(at, 4, file);
    return parse_json(text);
  };
  Json config = parsed(small_config(experiment, models).dump());
  config.update(parsed(one.beside));
  try {
    const std::string before = shown_by(config);
    config.merge_patch(parsed(one.change));
    return shown_by(config) != before;
  } catch (const ConfigError&) {
    return false;
  }
}

/// Returns the keys that the experiment says it reads and that change nothing.
std::string ignored_keys(const Experiment& experiment, const std::string& file) {
  std::vector<std::string> keys;
  std::vector<std::string> reads = experiment.reads;
  reads.insert(reads.end(), experiment.reads_with_models.begin(), experiment.reads_with_models.end());
  for (const std::string& key : reads) {
    const bool whole = std::ranges::find(key_changes(), key, &KeyChange::key) != key_changes().end();
    const ObjectType* const object = whole ? nullptr : type_at("/" + key)->object();
    if (object == nullptr) keys.push_back(key);
    for (std::size_t i = 0; object != nullptr && i < object->fields().size(); ++i)
      keys.push_back(key + "/" + object->fields()[i].name);
  }
  std::erase_if(keys, [&](const std::string& key) {
    return std::ranges::any_of(key_changes(), [&](const KeyChange& one) {
      return one.key == key &&
             (matters(experiment, true, one, file) || matters(experiment, false, one, file));
    });
  });
  return fmt::format("{}", fmt::join(keys, " "));
}

TempFile documents_of_words() {
  std::string text;
  for (int document = 0; document < 40; ++document) {
    for (int i = 0; i < 60; ++i) text += i * (document + 3) % 7 < 3 ? "the sea " : "was calm . ";
    text += "\f\n";
  }
  return TempFile(text);
}

}  // namespace

TEST_CASE("every key that an experiment reads changes what it shows; one that is ignored is found") {
  const TempFile text = documents_of_words();
  for (const Experiment* experiment : experiments()) {
    if (!experiment->resumable) continue;  // it shows measured times, which differ in every run
    CAPTURE(experiment->name);
    CHECK(ignored_keys(*experiment, text.path().string()) == "");
  }
  Experiment careless = *find_experiment("decode");
  careless.name = "careless";
  careless.reads.push_back("alpha");
  experiments().push_back(&careless);
  CHECK(ignored_keys(careless, text.path().string()) == "alpha");
  experiments().pop_back();
}

TEST_CASE("a key that an experiment does not read is refused by name, with the experiments that read it") {
  const auto refused = [](const std::string& experiment, bool models, const char* pointer,
                          const Json& value) {
    Json config = small_config(*find_experiment(experiment), models);
    config[Json::json_pointer(pointer)] = value;
    return config_error_of([&] { read_config(config); });
  };
  CHECK(refused("serving", false, "/cost/c", 0.5) ==
        "/cost: serving does not read \"cost\"; leave it out (it is for decode, iid, acceptance, predict, "
        "optimal_gamma, trace, rules, beam, schedules)");
  CHECK(refused("beam", true, "/simulation/length", 9)
            .starts_with("/simulation/length: beam does not read \"simulation/length\"; leave it out"));
  CHECK(refused("schedules", true, "/sampling/top_k", 2).empty());
  CHECK(refused("schedules", false, "/sampling/top_k", 2)
            .starts_with("/sampling: schedules does not read \"sampling\" without \"models\"; leave it out"));
  CHECK(refused("predict", false, "/sweep", {{"/simulation/trials", {4, 8}}})
            .starts_with("/sweep//simulation/trials: predict does not read"));
  // A section of a verb goes with every experiment that has models.
  CHECK(refused("acceptance", true, "/check/samples", 1000).empty());
  CHECK(refused("predict", false, "/check/samples", 1000).starts_with("/check: predict does not read"));
  CHECK(refused("schedules", false, "/cases", parse_json(R"([{"measured": {"x": "1"}}])"))
            .starts_with("/cases/0/measured: schedules does not show them"));
  for (const char* other : {"a: b", "note"}) {
    const Json two = parse_json(fmt::format(R"([{{"measured": {{"a b": "1", "{}": "2"}}}}])", other));
    CHECK(refused("acceptance", true, "/cases", two).find("has the column measured_") != std::string::npos);
  }
  // Results leave out what is not read, too.
  const Json shown = config_json(read_config(small_config(*find_experiment("beam"), true)));
  CHECK(shown.contains(Json::json_pointer("/simulation/trials")));
  CHECK_FALSE(shown.contains(Json::json_pointer("/simulation/length")));
  CHECK_FALSE(shown.contains("sampling"));
}
