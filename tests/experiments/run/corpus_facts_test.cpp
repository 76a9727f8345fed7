#include "experiments/run/corpus_facts.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "experiments/run/result.hpp"
#include "tests/experiments/run_of.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

TEST_CASE("a result says what its text holds: tokens, vocabulary, unknown words") {
  // Ten words of four kinds; of three kept ("<unk>" and the two most frequent) two occurrences are unknown.
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
  // Written and read again; not there without a corpus.
  CHECK(read_result(result_json(result)).corpora->front().tokens == 10);
  const Json json =
      result_json(run_of(parse_json(R"({"title": "t", "experiment": "predict", "alpha": 0.5})")).result);
  CHECK_FALSE(json.contains("corpora"));
}
