#include "experiments/format/validate.hpp"

#include <doctest/doctest.h>

#include <string>

#include "experiments/format/document.hpp"
#include "tests/experiments/config_error_of.hpp"

using namespace speclab;

namespace {

/// "path: problem" of resolving the config, or "" when it is valid.
std::string error_of(const std::string& text) {
  return config_error_of([&] { resolve(parse_json(text)); });
}

}  // namespace

TEST_CASE("defaults are written out, in the order of the format") {
  const Json config = resolve(parse_json(R"({"gamma": 3, "title": "t"})"));
  CHECK(config.begin().key() == "title");
  CHECK(config.at("experiment") == "decode");
  CHECK(config.at("gamma") == 3);
  CHECK(config.at("seed") == 1);
  CHECK(config.at("confidence") == 0.95);
  CHECK(config.at("cost") == parse_json(R"({"c": 0.0, "c_hat": 0.0})"));
  CHECK(config.at("verifier") == parse_json(R"({"kind": "token"})"));
  CHECK(config.at("sampling") == parse_json(R"({"temperature": 1.0, "top_k": 0, "top_p": 1.0})"));
  CHECK(config.at("plan") ==
        parse_json(R"({"trials": 64, "length": 2000, "batches": 64, "prompt": [], "prompt_tokens": 0})"));
  // What has no default stays away: absent is not null.
  for (const char* name : {"alpha", "models", "corpus", "check", "cases", "sweep", "metrics", "figures"}) {
    CHECK_FALSE(config.contains(name));
  }
}

TEST_CASE("a resolved config resolves to itself") {
  const Json once = resolve(parse_json(R"({"title": "t", "models": {"target": {"kind": "zipf", "vocab": 9},
      "draft": {"kind": "mixture", "epsilon": 0.1, "other": {"kind": "copy"}}}, "sweep": {"/gamma": [1, 2]}})"));
  CHECK(once.at("models").at("draft").at("base") == "target");
  CHECK(once.at("models").at("draft").at("other").at("max_match") == 8);
  CHECK(resolve(once) == once);
}

TEST_CASE("a section that a config leaves out has its defaults") {
  const Json config = resolve(parse_json(R"({"title": "t", "search": {"max_gamma": 3}})"));
  CHECK(section(config, "search").at("max_gamma") == 3);
  CHECK(section(config, "check").at("samples") == 200000);
  CHECK(section(config, "trace").at("gammas") == parse_json("[5]"));
}

TEST_CASE("integers may be written as 1e5 or 5.0, and come out as integers") {
  const Json config = resolve(parse_json(R"({"title": "t", "gamma": 5.0, "plan": {"length": 1e5}})"));
  CHECK(config.at("gamma").dump() == "5");
  CHECK(config.at("plan").at("length").dump() == "100000");
  CHECK(error_of(R"({"title": "t", "gamma": 5.5})") == "/gamma: 5.5 is not an integer >= 0 and <= 64");
}

TEST_CASE("ranges include their ends, unless they say otherwise") {
  CHECK(error_of(R"({"title": "t", "alpha": 0, "gamma": 64})").empty());
  CHECK(error_of(R"({"title": "t", "alpha": 1, "gamma": 0})").empty());
  CHECK(error_of(R"({"title": "t", "alpha": 1.0000001})") ==
        "/alpha: 1.0000001 is not a number >= 0 and <= 1");
  CHECK(error_of(R"({"title": "t", "sampling": {"top_p": 1}})").empty());
  CHECK(error_of(R"({"title": "t", "sampling": {"top_p": 0}})") ==
        "/sampling/top_p: 0 is not a number > 0 and <= 1");
}

TEST_CASE("an unknown key suggests the nearest known one, else names them all") {
  CHECK(error_of(R"({"title": "t", "gama": 5})") ==
        "/gama: unknown key \"gama\" in config; did you mean \"gamma\"?");
  CHECK(error_of(R"({"title": "t", "cost": {"electricity": 5}})") ==
        "/cost/electricity: unknown key \"electricity\" in cost; known: c, c_hat");
  CHECK(error_of(R"({"title": "t", "models": {"target": {"kind": "ngarm"}, "draft": {"kind": "copy"}}})") ==
        "/models/target/kind: unknown model \"ngarm\"; did you mean \"ngram\"?");
  CHECK(error_of(R"({"title": "t", "experiment": "decoed"})") ==
        "/experiment: unknown experiment \"decoed\"; did you mean \"decode\"?");
}

TEST_CASE("suggestions") {
  CHECK(suggestion("sped", {"speed", "operations"}) == "; did you mean \"speed\"?");
  CHECK(suggestion("psi", {"speed", "operations"}) == "; known: speed, operations");
  CHECK(suggestion("", {"speed"}) == "; known: speed");
  CHECK(suggestion("lpan", {"plan", "pan"}).starts_with("; did you mean \"p"));
}

TEST_CASE("errors carry the path down to the entry of a list") {
  CHECK(
      error_of(
          R"({"title": "t", "models": {"target": {"kind": "table", "rows": [[1, 1], [1, "x"]]}, "draft": {"kind": "copy"}}})") ==
      "/models/target/rows/1/1: \"x\" is not a number >= 0 and <= 1e+300");
  CHECK(error_of(R"({"title": "t", "cases": [{}, {"printed": {"speed": 2.4}}]})") ==
        "/cases/1/printed/speed: 2.4 is not text");
  CHECK(error_of(R"({"title": "t", "plan": {"prompt": [1, 2.5]}})") ==
        "/plan/prompt/1: 2.5 is not a token id");
}

TEST_CASE("values are shown shortened") {
  CHECK(shown(Json("text")) == "\"text\"");
  CHECK(shown(Json(std::vector<int>(100, 1))).size() == 63);
}
