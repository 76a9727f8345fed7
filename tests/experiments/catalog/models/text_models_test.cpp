// Tests model kinds that use a text: ngram, unigram, bigram, arpa, cached.
#include <doctest/doctest.h>

#include <filesystem>

#include "experiments/catalog/models/model_factory.hpp"
#include "tests/experiments/catalog/models/built_model.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

namespace {

CorpusConfig corpus_of(const TempFile& file) {
  CorpusConfig corpus;
  corpus.file = file.path().string();
  return corpus;
}

std::string truth() {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "it is a truth universally acknowledged , that a single man . ";
  return text;
}

}  // namespace

TEST_CASE("n-grams of the corpus share its vocabulary, and each is trained once") {
  const TempFile file(truth());
  const CorpusConfig corpus = corpus_of(file);
  ModelFactory factory;
  const BuiltModel trigram = built(R"({"kind": "ngram", "order": 3})", factory, &corpus);
  const BuiltModel bigram = built(R"({"kind": "bigram"})", factory, &corpus);
  const BuiltModel unigram = built(R"({"kind": "unigram"})", factory, &corpus);
  REQUIRE(trigram.vocabulary != nullptr);
  CHECK(trigram.vocabulary == bigram.vocabulary);
  CHECK(trigram.model.vocab() == trigram.vocabulary->size());
  CHECK(trigram.model.ngram()->order() == 3);
  CHECK(bigram.model.ngram()->order() == 2);
  CHECK(unigram.model.ngram()->order() == 1);
  std::filesystem::resize_file(file.path(), 0);  // a second read would find no text
  CHECK(built(R"({"kind": "ngram", "order": 2})", factory, &corpus).model.ngram() == bigram.model.ngram());
  const BuiltModel half = built(R"({"kind": "bigram", "part": "first_half"})", factory, &corpus);
  const BuiltModel other = built(R"({"kind": "bigram", "part": "second_half"})", factory, &corpus);
  CHECK(half.model.ngram() != bigram.model.ngram());
  CHECK(half.model.ngram() != other.model.ngram());
}

TEST_CASE("models of text without a text") {
  CHECK(error_of(R"({"kind": "bigram"})").starts_with("/corpus: missing"));
  const TempFile empty(" \n");
  const CorpusConfig corpus = corpus_of(empty);
  ModelFactory factory;
  CHECK(config_error_of([&] {
          built(R"({"kind": "bigram"})", factory, &corpus);
        }).starts_with("/corpus/file: " + corpus.file));
}

TEST_CASE("an ARPA file, and what is left of it up to an order") {
  const TempFile file(
      "\\data\\\nngram 1=2\nngram 2=1\n\n\\1-grams:\n-0.30103\tyes\t-0.1\n-0.30103\tno\n\n"
      "\\2-grams:\n-0.1\tyes no\n\n\\end\\\n");
  const std::string start = R"({"kind": "arpa", "file": ")" + file.path().string() + "\"";
  ModelFactory factory;
  const BuiltModel whole = built(start + "}", factory);
  CHECK(whole.model.ngram()->order() == 2);
  CHECK(whole.vocabulary->text(1) == "no");
  const BuiltModel unigrams = built(start + R"(, "order": 1})", factory);
  CHECK(unigrams.model.ngram()->order() == 1);
  const std::vector<Token> yes{0};
  CHECK(probability(whole.model, yes, 1) == doctest::Approx(2.0 / 3).epsilon(1e-5));
  CHECK(probability(unigrams.model, yes, 1) == doctest::Approx(0.5));
  CHECK(built(start + "}", factory).model.ngram() == whole.model.ngram());
  CHECK(error_of(R"({"kind": "arpa", "file": "no/such.arpa"})").starts_with("/model/file: no/such.arpa"));
}

TEST_CASE("cached: the constants of the config are the model's") {
  const std::string base = R"("base": {"kind": "zipf", "vocab": 4, "exponent": 0})";
  const Model given =
      built(R"({"kind": "cached", "weight": 0.6, "half_match": 1, "unigram_weight": 0.2, "smoothing": 1, )" +
            base + "}");
  const Model defaults = built(R"({"kind": "cached", "max_match": 2, "window": 3, )" + base + "}");
  const std::vector<Token> text{0, 1, 0};
  CHECK(probability(given, text, 1) == doctest::Approx(0.7 * 0.25 + 0.3 * 2 / 3));
  CHECK(probability(given, std::span(text).first(2), 0) == doctest::Approx(0.8 * 0.25 + 0.1));
  // Defaults: u = 0.95 / 5, smoothing 2; pointer_1(1) = (1 + 2/3) / 3.
  CHECK(probability(defaults, text, 1) == doctest::Approx(0.81 * 0.25 + 0.19 * 5 / 9));
  CHECK(given.memory() == 4096);
  CHECK(defaults.memory() == 3);
  CHECK(error_of(R"({"kind": "cached"})").starts_with("/model/base: missing"));
}

TEST_CASE("an n-gram of translations is trained on them alone, over the vocabulary of both languages") {
  std::string source;
  std::string target;
  for (int i = 0; i < 40; ++i) {
    source += i % 2 == 0 ? "the cat\n" : "a dog\n";
    target += i % 2 == 0 ? "die Katze\n" : "ein Hund\n";
  }
  const TempFile english(source);
  const TempFile german(target);
  CorpusConfig corpus = corpus_of(english);
  corpus.translation = german.path().string();
  ModelFactory factory;
  const BuiltModel bigram = built(R"({"kind": "bigram"})", factory, &corpus);
  REQUIRE(bigram.vocabulary != nullptr);
  CHECK(bigram.vocabulary->size() == 10);  // includes "<unk>" and "<sep>"
  const std::vector<Token> context = bigram.vocabulary->tokens("the cat <sep>");
  const auto next = [&](const char* word) {
    return probability(bigram.model, context, bigram.vocabulary->tokens(word)[0]);
  };
  CHECK(next("die") == doctest::Approx(next("ein")).epsilon(0.1));
  CHECK(next("die") + next("ein") > 0.8);
  CHECK(next("cat") < 0.1);
}
