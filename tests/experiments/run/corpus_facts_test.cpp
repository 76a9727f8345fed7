#include "experiments/run/corpus_facts.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "experiments/catalog/models/model_factory.hpp"
#include "experiments/run/model_file.hpp"
#include "experiments/run/result.hpp"
#include "tests/experiments/run_of.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

TEST_CASE("a result says what its text holds: tokens, vocabulary, unknown words") {
  // The text has ten words of four kinds. The vocabulary keeps three ("<unk>" and the two most frequent), so
  // that two words are unknown.
  const TempFile file("a b a b a b a b c d");
  const auto config = [&](int vocabulary) {
    Json json = parse_json(
        R"({"title": "t", "models": {"target": {"kind": "ngram", "order": 2}, "draft": {"kind": "ngram", "order": 1}},
                               "simulation": {"trials": 8, "length": 5}})");
    json["corpus"] = {{"file", file.path().string()}, {"vocabulary", vocabulary}};
    return json;
  };
  const Result result = run_of(config(3)).result;
  REQUIRE(result.corpora);
  REQUIRE(result.corpora->size() == 1);
  const CorpusFacts& facts = result.corpora->front();
  CHECK(facts.tokens == 10);
  CHECK(facts.vocabulary == 3);
  CHECK(facts.unknown_share.value() == doctest::Approx(0.2).epsilon(1e-12));
  CHECK(facts.held_out_tokens == 0);
  // Facts survive writing and reading; without a corpus there are none.
  CHECK(read_result(result_json(result)).corpora->front().tokens == 10);
  const Json json =
      result_json(run_of(parse_json(R"({"title": "t", "experiment": "predict", "alpha": 0.5})")).result);
  CHECK_FALSE(json.contains("corpora"));
}

TEST_CASE("a result says how well n-grams predict what is held out") {
  std::string text;
  for (int i = 0; i < 40; ++i) text += i % 3 == 0 ? "the sea was calm\f" : "the ship was old and the sea\f";
  const TempFile file(text);
  Json json = parse_json(
      R"({"title": "t", "simulation": {"trials": 8, "length": 5},
          "models": {"target": {"kind": "ngram", "order": 3}, "draft": {"kind": "bigram"}},
          "sweep": {"/models/draft/kind": ["bigram", "unigram", "uniform"]}})");
  json["corpus"] = {{"file", file.path().string()}, {"hold_out", 4}};
  const Result result = run_of(json).result;
  const CorpusFacts& facts = result.corpora->front();
  REQUIRE(facts.models.size() == 4);  // one target, three drafts
  ModelFactory factory;
  for (const HeldOutPerplexity& model : facts.models) {
    const std::string kind = model.config->value("kind", "");
    CAPTURE(kind);
    CHECK(model.model == (kind == "ngram" ? "target" : "draft"));
    CHECK(model.perplexity.has_value() == (kind != "uniform"));
    CHECK(model.unknown_because.has_value() == (kind == "uniform"));
    if (!model.perplexity) continue;
    Json alone = json;
    alone.erase("sweep");
    if (kind != "ngram") alone["models"]["draft"]["kind"] = kind;
    const Config config = read_config(alone);
    const BuiltModel built = model_of_config(config, kind != "ngram", factory);
    const auto& held_out = factory.text(*config.corpus, "/corpus")->held_out;
    // The second witness reads whole rows.
    double bits = 0;
    std::vector<double> scratch;
    for (const std::vector<Token>& document : held_out) {
      for (std::size_t i = 0; i < document.size(); ++i)
        bits -= std::log2(built.model.next(std::span(document).first(i), scratch)[document[i]]);
    }
    CHECK(*model.bits_per_token ==
          doctest::Approx(bits / static_cast<double>(facts.held_out_tokens)).epsilon(1e-9));
    CHECK(*model.perplexity == std::exp2(*model.bits_per_token));
  }
  CHECK(bytes_of(read_result(result_json(result))) == bytes_of(result));

  json["corpus"].erase("hold_out");
  const Result all_trained = run_of(json).result;
  for (const HeldOutPerplexity& model : all_trained.corpora->front().models)
    CHECK(model.unknown_because->starts_with("nothing is held out"));
}
