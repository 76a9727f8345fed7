// Tests the catalogue of drafters: every entry makes the drafter that it names, or says what the task lacks.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "experiments/base/format/json_io.hpp"
#include "experiments/catalog/drafters/drafter_kind.hpp"
#include "experiments/catalog/drafters/made_drafter.hpp"
#include "experiments/catalog/models/model_factory.hpp"
#include "tests/experiments/config_error_of.hpp"

using namespace speclab;

namespace {

DrafterConfig drafter(const std::string& json) {
  return read(kind_of(drafter_family()), parse_json(json), "/drafter");
}

/// A task with few words.
struct Task {
  ModelFactory factory;
  CorpusConfig corpus;
  RequestLaw sampling;
  Grammar grammar;  ///< of the target
  CorpusText text{make_corpus("a b c a b d a b c a c b a b c d", Tokenization::words, 10), {}, {}, {}};
  Model target = TableModel(text.vocabulary.size(), 0,
                            std::vector<double>(static_cast<std::size_t>(text.vocabulary.size()), 1.0));

  MadeDrafter make(const std::string& json, bool with_target = true) {
    return make_drafter(drafter(json), {.factory = factory,
                                        .corpus = corpus,
                                        .corpus_path = "/corpus",
                                        .sampling = sampling,
                                        .text = text,
                                        .target = with_target ? &target : nullptr,
                                        .seed = 1,
                                        .grammar = grammar});
  }
};

std::string nested(int levels) {
  if (levels == 0) return R"({"kind": "lookup"})";
  return R"({"kind": "hierarchical", "middle": {"kind": "uniform"}, "c": 0.)" + std::to_string(levels) +
         R"(, "inner": )" + nested(levels - 1) + "}";
}

}  // namespace

TEST_CASE("every drafter that needs no model is made from its defaults") {
  Task task;
  for (const std::string kind : {"lookup", "suffix", "lookahead", "heads", "aligned-copy"}) {
    INFO(kind);
    const MadeDrafter made = task.make(R"({"kind": ")" + kind + R"(", "c": 0.25})");
    REQUIRE(made.drafter);
    CHECK(made.drafter->foretells_runs());
    CHECK(made.costs == std::vector<double>{0.25});
  }
}

TEST_CASE("a model takes the task's vocabulary, and another one is refused") {
  Task task;
  CHECK(task.make(R"({"kind": "model", "model": {"kind": "uniform"}})").drafter);
  CHECK(config_error_of([&] {
          task.make(R"({"kind": "model", "model": {"kind": "uniform", "vocab": 3}})");
        }).starts_with("/drafter/model: has a vocabulary of 3"));
}

TEST_CASE("costs of a hierarchy by level; too many levels are refused, and a rule in the middle") {
  Task task;
  const MadeDrafter made = task.make(nested(3));
  REQUIRE(made.drafter);
  CHECK(!made.drafter->foretells_runs());
  CHECK(made.costs == std::vector<double>{0.3, 0.2, 0.1, 0});
  CHECK(config_error_of([&] { task.make(nested(4)); }).find("levels") != std::string::npos);
  CHECK(config_error_of([&] {
          task.make(R"({"kind": "hierarchical", "middle": {"kind": "uniform"},
                        "inner": {"kind": "lookup", "rule": {"kind": "match"}}})");
        }).starts_with("/drafter/inner/rule: a middle model verifies"));
}

TEST_CASE("what a task lacks without a target that is a model") {
  Task task;
  const std::string mixture =
      R"({"kind": "mixture", "base": "target", "other": {"kind": "uniform"}, "epsilon": 0.5})";
  CHECK(task.make(R"({"kind": "model", "model": )" + mixture + "}").drafter);
  for (const std::string& json :
       {std::string(R"({"kind": "lookahead"})"), R"({"kind": "model", "model": )" + mixture + "}",
        R"({"kind": "hierarchical", "middle": {"kind": "uniform"}, "inner": {"kind": "model", "model": )" +
            mixture + "}}"}) {
    const MadeDrafter made = task.make(json, false);
    CHECK(!made.drafter);
    CHECK(made.unsupported_reason.starts_with("needs a target"));
  }
}

TEST_CASE("matches: the shortest is not above the longest") {
  Task task;
  for (const std::string kind : {"lookup", "suffix"}) {
    CHECK(config_error_of([&] {
            task.make(R"({"kind": ")" + kind + R"(", "min_match": 4, "max_match": 3})");
          }) == "/drafter/min_match: 4 is above max_match 3");
  }
}

TEST_CASE(
    "a grammar drafts for a target that has one; its model takes the grammar, and a middle model cannot") {
  Task task;
  const std::string both = R"({"kind": "grammar", "model": {"kind": "uniform"}})";
  CHECK(task.make(both).unsupported_reason == "needs a target whose sampling has a grammar");
  task.grammar = task.sampling.grammar = {{.next = {{0, 1}}, .other = 0}, {.next = {{1, 0}}}};
  CHECK(task.make(R"({"kind": "grammar"})").drafter->foretells_runs());
  CHECK(!task.make(both).drafter->foretells_runs());
  CHECK(task.make(R"({"kind": "model", "model": {"kind": "uniform"}})").drafter->foretells_runs());
  const std::string middle = config_error_of([&] { task.make(nested(1)); });
  CHECK(middle.starts_with("/sampling: penalties, \"min_tokens\""));
  CHECK(middle.find("give it \"sampling\": {}, or") != std::string::npos);
  task.sampling.grammar = {{.next = {{99, 0}}}};
  CHECK(config_error_of([&] { task.make(both); }).starts_with("/sampling/grammar/0/99: 99 is outside"));
}
