#include "experiments/catalog/models/corpus_text.hpp"

#include "experiments/catalog/models/model_factory.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "experiments/base/format/json_io.hpp"
#include "experiments/catalog/models/corpus_config.hpp"
#include "tests/experiments/config_error_of.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

namespace {

CorpusText text_of_corpus(const CorpusConfig& corpus, const std::string& path) {
  ModelFactory factory;
  return load_corpus_text(corpus, path, factory);
}

CorpusConfig config(const TempFile& file, const std::string& rest) {
  return read(corpus_type(), parse_json(R"({"file": ")" + file.path().string() + "\"" + rest + "}"),
              "/corpus");
}

std::string corpus_error(const CorpusConfig& corpus) {
  return config_error_of([&] { text_of_corpus(corpus, "/corpus"); });
}

const std::string six = "a b c\fa b d\fa b e\fa b f\fa b g\fa b h";

}  // namespace

TEST_CASE("a text without options is its tokens") {
  const TempFile file("a b a c");
  const CorpusText words = text_of_corpus(config(file, ""), "/corpus");
  CHECK(words.tokens.size() == 4);
  CHECK(words.documents.empty());
  CHECK(text_of_corpus(config(file, R"(, "tokenization": "bytes")"), "/corpus").tokens.size() == 7);
}

TEST_CASE("held-out documents end at form feeds, or after so many tokens") {
  const TempFile file(six);
  const CorpusText text = text_of_corpus(config(file, R"(, "hold_out": 3)"), "/corpus");
  CHECK(text.documents.size() == 4);
  CHECK(text.held_out.size() == 2);
  std::size_t trained = 0;
  for (const auto& document : text.documents) trained += document.size();
  CHECK(text.tokens.size() == trained);
  const CorpusText cut = text_of_corpus(config(file, R"(, "hold_out": 2, "document_tokens": 4)"), "/corpus");
  for (const auto& document : cut.held_out) CHECK(document.size() == 4);
}

TEST_CASE("options that do not fit together") {
  const TempFile file(six);
  const std::string translation = R"(, "translation": ")" + file.path().string() + "\"";
  CHECK(corpus_error(config(file, R"(, "hold_out": 1)")).starts_with("/corpus/hold_out: "));
  CHECK(corpus_error(config(file, R"(, "document_tokens": 4)")).starts_with("/corpus/hold_out: missing"));
  CHECK(corpus_error(config(file, translation + R"(, "tokenization": "bytes")"))
            .starts_with("/corpus/tokenization: "));
  CHECK(corpus_error(config(file, translation + R"(, "document_tokens": 2, "hold_out": 2)"))
            .starts_with("/corpus/document_tokens: "));
  CorpusConfig missing;
  missing.file = "data/no_such_text.txt";
  CHECK(corpus_error(missing).starts_with(
      "/corpus/file: data/no_such_text.txt: cannot be read; scripts/setup.sh"));
}
