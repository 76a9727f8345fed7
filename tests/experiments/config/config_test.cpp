#include "experiments/config/config.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/config/experiment.hpp"
#include "experiments/verify/check/equality_test.hpp"
#include "tests/experiments/config_error_of.hpp"

using namespace speclab;

namespace {

/// Returns "path: problem" for reading the config, or "" if it is valid.
std::string error_of(const std::string& text) {
  return config_error_of([&] { read_config(parse_json(text)); });
}

Json written(const std::string& text) { return config_json(read_config(parse_json(text))); }

}  // namespace

TEST_CASE("a config may state its format, and one of another format is refused before its keys are read") {
  const Json with_format = written(R"({"format": 1, "title": "t", "$schema": "s.json"})");
  CHECK(with_format == written(R"({"title": "t"})"));
  CHECK(error_of(R"({"format": 2, "title": "t", "later": 1})")
            .starts_with("/format: 2: another version of speclab"));
  CHECK(error_of(R"({"format": "new", "title": "t"})").starts_with("/format: "));
}

TEST_CASE("a config has the defaults of the format, and is written in its order") {
  const Config config = read_config(parse_json(R"({"gamma": 3, "title": "t"})"));
  CHECK(config.experiment->name == "decode");
  CHECK(config.gamma == 3);
  CHECK(config.seed == 1);
  CHECK(config.confidence == 0.95);
  CHECK(config.rule.name() == "token");
  CHECK(config.simulation.trials == 64);
  CHECK(config.simulation.length == 2000);
  CHECK_FALSE(config.alpha);
  CHECK_FALSE(config.models);
  CHECK(config.sections.empty());
  const Json json = config_json(config);
  CHECK(json.begin().key() == "title");
  CHECK(json.at("cost") == parse_json(R"({"c": 0.0, "c_hat": 0.0})"));
  CHECK(json.at("sampling") == parse_json(R"({"temperature": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0,
      "repetition_penalty": 1.0, "frequency_penalty": 0.0, "presence_penalty": 0.0, "logit_bias": {},
      "min_tokens": 0, "end_tokens": [], "banned": [], "grammar": [], "order": "transformers"})"));
  CHECK(json.at("simulation") ==
        parse_json(R"({"trials": 64, "length": 2000, "batches": 64, "prompt": [], "prompt_tokens": 0})"));
  // Keys without a default stay absent; they are not null.
  for (const char* name : {"alpha", "models", "corpus", "check", "cases", "sweep", "metrics", "figures"}) {
    CHECK_FALSE(json.contains(name));
  }
}

TEST_CASE("a written config reads as itself") {
  const Json once = written(R"({"title": "t", "models": {"target": {"kind": "zipf", "vocab": 9},
      "draft": {"kind": "mixture", "epsilon": 0.1, "other": {"kind": "zipf", "reversed": true}}},
      "rule": {"kind": "tree", "drafts": 3}, "check": {"tokens": 2}, "sweep": {"/gamma": [1, 2]},
      "figures": [{"title": "f", "x": "/gamma", "y": "speedup"}]})");
  CHECK(once.at("models").at("draft").at("base") == "target");
  CHECK(once.at("models").at("draft").at("other").at("exponent") == 1.0);
  CHECK(config_json(read_config(once)) == once);
}

TEST_CASE("a section that a config leaves out has its defaults") {
  const Config config = read_config(parse_json(R"({"title": "t", "search": {"max_gamma": 3},
      "models": {"target": {"kind": "zipf", "vocab": 4}, "draft": {"kind": "uniform"}}})"));
  CHECK(config.section<SearchSection>().max_gamma == 3);
  CHECK(config.section<CheckSection>().samples == 200000);
}

TEST_CASE("integers may be written as 1e5 or 5.0, and come out as integers") {
  const Json config = written(R"({"title": "t", "gamma": 5.0, "simulation": {"length": 1e5}})");
  CHECK(config.at("gamma").dump() == "5");
  CHECK(config.at("simulation").at("length").dump() == "100000");
  CHECK(error_of(R"({"title": "t", "gamma": 5.5})").starts_with("/gamma: 5.5 "));
}

TEST_CASE("ranges include their ends, unless they say otherwise") {
  CHECK(error_of(R"({"title": "t", "experiment": "predict", "alpha": 0, "gamma": 64})").empty());
  CHECK(error_of(R"({"title": "t", "experiment": "predict", "alpha": 1, "gamma": 0})").empty());
  CHECK(error_of(R"({"title": "t", "experiment": "predict", "alpha": 1.0000001})")
            .starts_with("/alpha: 1.0000001 "));
  CHECK(error_of(R"({"title": "t", "sampling": {"top_p": 1}})").empty());
  CHECK(error_of(R"({"title": "t", "sampling": {"top_p": 0}})").starts_with("/sampling/top_p: 0 "));
}

TEST_CASE("an unknown name suggests the nearest known one, else names them all") {
  CHECK(error_of(R"({"title": "t", "gama": 5})").find("did you mean \"gamma\"?") != std::string::npos);
  CHECK(error_of(R"({"title": "t", "cost": {"electricity": 5}})").ends_with("known: c, c_hat"));
  CHECK(error_of(R"({"title": "t", "experiment": "decoed"})").ends_with("did you mean \"decode\"?"));
  CHECK(suggestion("sped", {"speed", "operations"}) == "; did you mean \"speed\"?");
  CHECK(suggestion("psi", {"speed", "operations"}) == "; known: speed, operations");
  CHECK(suggestion("", {"speed"}) == "; known: speed");
}

TEST_CASE("errors carry the path down to the entry of a list") {
  CHECK(error_of(R"({"title": "t", "models": {"target": {"kind": "table", "rows": [[1, 1], [1, "x"]]},
                     "draft": {"kind": "uniform"}}})")
            .starts_with("/models/target/rows/1/1: \"x\" "));
  CHECK(error_of(R"({"title": "t", "cases": [{}, {"printed": {"speedup": 2.4}}]})") ==
        "/cases/1/printed/speedup: 2.4 is not text");
  CHECK(error_of(R"({"title": "t", "simulation": {"prompt": [1, 2.5]}})")
            .starts_with("/simulation/prompt/1: 2.5 "));
}

TEST_CASE("values are shown shortened") {
  CHECK(shown(Json("text")) == "\"text\"");
  CHECK(shown(Json(std::vector<int>(100, 1))).size() == 63);
}
