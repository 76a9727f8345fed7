#include "experiments/catalog/models/corpus_files.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "experiments/base/format/config_error.hpp"
#include "experiments/catalog/models/corpus_config.hpp"
#include "experiments/catalog/models/corpus_text.hpp"
#include "experiments/catalog/models/model_factory.hpp"
#include "experiments/run/input_file.hpp"
#include "sim/error.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

namespace {

class TextFolder {
 public:
  TextFolder() : path_(std::filesystem::temp_directory_path() / "speclab_text_folder_test") {
    std::filesystem::create_directories(path_ / "inner");
    std::filesystem::create_directories(path_ / ".hidden");
  }
  TextFolder(const TextFolder&) = delete;
  TextFolder& operator=(const TextFolder&) = delete;
  ~TextFolder() { std::filesystem::remove_all(path_); }
  void put(const std::string& name, const std::string& text) const { std::ofstream(path_ / name) << text; }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

std::string pair_error(const std::string& text, const std::string& prompt, const std::string& output) {
  const TempFile file(text);
  try {
    prompt_output_documents(file.path(), prompt, output, 100);
  } catch (const ModelError& error) {
    return std::string(error.what()).substr(file.path().string().size());
  }
  return "";
}

}  // namespace

TEST_CASE("each file of a folder is a document, in the order of their paths, hidden ones left out") {
  const TextFolder folder;
  folder.put("b.txt", "second text");
  folder.put("a.txt", "first\fstill first");
  folder.put("inner/c.txt", "third");
  folder.put(".hidden/d.txt", "unseen");
  folder.put(".e.txt", "unseen");
  CorpusConfig corpus;
  corpus.file = folder.path();
  corpus.hold_out = 3;
  ModelFactory factory;
  const CorpusText text = load_corpus_text(corpus, "/corpus", factory);
  REQUIRE(text.documents.size() == 2);
  REQUIRE(text.held_out.size() == 1);
  CHECK(text.vocabulary.join(text.documents[0]) == "first still first");
  CHECK(text.vocabulary.join(text.documents[1]) == "second text");
  CHECK(text.vocabulary.join(text.held_out[0]) == "third");
  corpus.hold_out = 0;
  CHECK(load_corpus_text(corpus, "/corpus", factory).tokens.size() == 6);
  // The hash of a folder covers all its files and their names.
  const InputFile before = input_file_of(folder.path());
  CHECK(before.bytes == 17 + 11 + 5);
  folder.put("b.txt", "second next");
  CHECK(input_file_of(folder.path()).sha256 != before.sha256);
}

TEST_CASE("prompts and outputs of records are documents with a separator between") {
  const TempFile file(
      "{\"q\": {\"text\": \"what\\nis this\"}, \"a\": [\"x\", \"a test\"]}\n"
      "{\"q\": {\"text\": \"and\"}, \"a\": [\"\", \"that too\"]}\n"
      "{\"q\": {\"text\": \"\"}, \"a\": [\"\", \"left out\"]}\n");
  const ParallelDocuments pairs = prompt_output_documents(file.path(), "q.text", "a.1", 100);
  REQUIRE(pairs.documents.size() == 2);
  CHECK(pairs.vocabulary.join(pairs.documents[0]).find("what is this") == 0);
  CHECK(pairs.documents[0][3] == pairs.separator);
  CHECK(pairs.documents[0].size() == 6);
  CHECK(pairs.documents[1].size() == 4);
}

TEST_CASE("a record without a field is named by its line") {
  CHECK(pair_error("{\"q\": \"a\", \"a\": \"b\"}\n{\"q\": \"a\"}\n", "q", "a") == ":2: no field \"a\"");
  CHECK(pair_error("{\"q\": 1, \"a\": \"b\"}\n", "q", "a").find("the field \"q\" is not text") !=
        std::string::npos);
  CHECK(pair_error("plain text\n", "q", "a").find("expected JSON lines") != std::string::npos);
}

TEST_CASE("options of pairs that contradict one another are refused") {
  const TempFile file("{\"q\": \"a\", \"a\": \"b\"}\n");
  CorpusConfig corpus;
  corpus.file = file.path().string();
  corpus.prompt_field = "q";
  ModelFactory factory;
  const auto refused = [&] {
    try {
      load_corpus_text(corpus, "/corpus", factory);
    } catch (const ConfigError& error) {
      return error.path;
    }
    return std::string();
  };
  CHECK(refused() == "/corpus/output_field");
  corpus.output_field = "a";
  CHECK(refused().empty());
  corpus.tokenization = Tokenization::bytes;
  CHECK(refused() == "/corpus/tokenization");
  corpus.tokenization = Tokenization::words;
  corpus.translation = corpus.file;
  CHECK(refused() == "/corpus/translation");
}
