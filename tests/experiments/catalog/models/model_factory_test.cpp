#include "experiments/catalog/models/model_factory.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <stdexcept>

#include "tests/experiments/catalog/models/built_model.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

namespace {

const std::string skewed = R"({"kind": "table", "rows": [[0.5, 0.3, 0.2]])";

/// A user's own model kind, which emits every token in turn.
struct CycleParameters {
  std::int32_t vocab = 2;
};
struct Cycle {
  std::int32_t size;
  std::int32_t vocab() const { return size; }
  Row next(std::span<const Token> context, std::vector<double>& scratch) const {
    scratch.assign(static_cast<std::size_t>(size), 0.0);
    scratch[context.size() % static_cast<std::size_t>(size)] = 1;
    return {scratch.data(), size};
  }
};

}  // namespace

TEST_CASE("a model's own sampling options stand instead of the config's") {
  ModelFactory factory;
  const ModelRequest request{factory, nullptr, "/corpus", nullptr, {}};
  const RequestLaw argmax{.temperature = 0};
  const auto model = [&](const std::string& rest) {
    return factory.model(model_config(fmt::format("{}{}}}", skewed, rest)), request, argmax).model;
  };
  CHECK(probability(model(""), 0) == 1);
  CHECK(probability(model(R"(, "sampling": {"temperature": 1})"), 0) == doctest::Approx(0.5));
  CHECK(probability(model(R"(, "sampling": {"top_k": 2})"), 0) == doctest::Approx(0.625));
  CHECK(probability(model(R"(, "sampling": {"top_p": 0.4})"), 0) == 1);
  CHECK(probability(factory.unadjusted(model_config(fmt::format("{}}}", skewed)), request).model, 0) ==
        doctest::Approx(0.5));
}

TEST_CASE("what is shared is made once for parts that are equal, and not kept when making it fails") {
  ModelFactory factory;
  static int made = 0;
  made = 0;
  const auto number = [](int part, const std::string&, const SharedPlace& place) {
    if (place.path == "/refused") throw std::runtime_error("no");
    return part + ++made;
  };
  const std::string text = "text";
  CHECK_THROWS_AS(factory.shared(number, "/refused", 10, text), std::runtime_error);
  const auto first = factory.shared(number, "/a", 10, text);
  CHECK(*first == 11);
  CHECK(factory.shared(number, "/b", 10, text) == first);
  CHECK(*factory.shared(number, "/a", 20, text) == 22);
  CHECK(*factory.shared(number, "/a", 10, text + "s") == 13);
  CHECK(*factory.shared([](int part, const std::string&, const SharedPlace&) { return part; }, "/a", 10,
                        text) == 10);
  CHECK(factory.shared(number, "/a", 10, text) == first);
}

TEST_CASE("texts are shared by all that their tokens depend on") {
  const TempFile words("a b c a b d a b\fc d e a\fb c a d\n");
  CorpusConfig corpus;
  corpus.file = words.path().string();
  corpus.hold_out = 3;
  ModelFactory factory;
  const auto first = factory.text(corpus, "/corpus");
  CHECK(factory.text(CorpusConfig(corpus), "/elsewhere") == first);
  for (const auto& change :
       {+[](CorpusConfig& c) { c.vocabulary = 3; }, +[](CorpusConfig& c) { c.hold_out = 2; },
        +[](CorpusConfig& c) { c.document_tokens = 2; },
        +[](CorpusConfig& c) { c.tokenization = Tokenization::bytes; }}) {
    CorpusConfig other = corpus;
    change(other);
    CHECK(factory.text(other, "/corpus") != first);
  }
}

TEST_CASE("two vocabularies must name the same words") {
  const Vocabulary first = Vocabulary::words({"a", "b"});
  const Vocabulary second = Vocabulary::words({"a", "c"});
  check_same_words(&first, &first, "/draft");
  check_same_words(nullptr, &second, "/draft");
  CHECK(config_error_of([&] {
          check_same_words(&first, &second, "/draft");
        }).starts_with("/draft: token 1 is \"c\" here and \"b\" in the target"));
}

TEST_CASE("a kind can be added from outside") {
  static const ModelKind cycle = kind_entry<ModelKind, CycleParameters>(
      "test-cycle", "Every token in turn.",
      {integer_field("vocab", &CycleParameters::vocab, 1, 10, "Vocabulary size.")},
      [](const CycleParameters& parameters, const std::string&, const ModelRequest&) {
        return BuiltModel{Cycle{parameters.vocab}};
      });
  if (model_family().find("test-cycle") == nullptr) model_family().add(cycle);
  const Model model = built(R"({"kind": "test-cycle", "vocab": 3, "sampling": {"temperature": 0}})");
  CHECK(probability(model, std::vector<Token>{0}, 1) == 1);
  const Model blend = built(
      R"({"kind": "mixture", "epsilon": 0.3, "base": {"kind": "test-cycle", "vocab": 3}, "other": {"kind": "uniform"}})");
  CHECK(probability(blend, 0) == doctest::Approx(0.8));
  CHECK(error_of(R"({"kind": "test-cycle", "vocab": 11})").starts_with("/model/vocab: 11 is not"));
  CHECK(error_of(R"({"kind": "test-cycl"})").find("test-cycle") != std::string::npos);
}
