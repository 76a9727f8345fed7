#include "sim/text/documents.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/error.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

namespace {
std::vector<std::string> read(const Vocabulary& vocabulary,
                              const std::vector<std::vector<Token>>& documents) {
  std::vector<std::string> texts;
  for (const auto& document : documents) texts.push_back(vocabulary.join(document));
  return texts;
}

/// Returns the message of the error that `call` throws; empty if it throws none.
template <class Call>
std::string complaint(const Call& call) {
  try {
    call();
  } catch (const ModelError& error) {
    return error.what();
  }
  return {};
}
}  // namespace

TEST_CASE("documents: form feeds separate, on lines of their own or not; blank documents are left out") {
  const Documents made = make_documents("\f\na b\nc\n\f\n \n\f\nb b\fd", Tokenization::words, 0);
  CHECK(read(made.vocabulary, made.documents) == std::vector<std::string>{"a b c", "b b", "d"});
  CHECK(make_documents("a b", Tokenization::words, 0).documents.size() == 1);
}

TEST_CASE("documents: one vocabulary over the whole text, as a corpus has it") {
  const std::string text = "b a c\n\f\nb a d b";
  const Documents made = make_documents(text, Tokenization::words, 4);
  const Corpus corpus = make_corpus(text, Tokenization::words, 4);
  REQUIRE(made.vocabulary.size() == corpus.vocabulary.size());
  for (Token id = 0; id < made.vocabulary.size(); ++id)
    CHECK(made.vocabulary.text(id) == corpus.vocabulary.text(id));
  CHECK(joined(made.documents) == corpus.tokens);
  CHECK(made.documents == std::vector<std::vector<Token>>{{1, 2, 3}, {1, 2, 0, 1}});
}

TEST_CASE("documents: bytes keep everything but the form feeds") {
  const Documents made = make_documents("ab\n\f\nc", Tokenization::bytes, 0);
  CHECK(made.documents == std::vector<std::vector<Token>>{{'a', 'b', '\n'}, {'\n', 'c'}});
}

TEST_CASE("documents: errors of a file name it") {
  const TempFile empty(" \f\n");
  CHECK(complaint([&] {
          load_documents(empty.path(), Tokenization::words, 0);
        }).find(empty.path().string()) == 0);
  CHECK(complaint([] {
          load_documents("no/such.txt", Tokenization::words, 0);
        }).find("no/such.txt: cannot") == 0);
  const TempFile good("x\n\f\ny z");
  CHECK(load_documents(good.path(), Tokenization::words, 0).documents.size() == 2);
}

TEST_CASE("parallel documents: source, separator, target over one vocabulary") {
  const ParallelDocuments made =
      make_parallel_documents("the house\n\nthe dog .\n", "das Haus\nnie\nder Hund .\n", 0);
  CHECK(made.separator == made.vocabulary.size() - 1);
  CHECK(read(made.vocabulary, made.documents) ==
        std::vector<std::string>{"the house <sep> das Haus", "the dog. <sep> der Hund."});
  CHECK(position_after(made.documents[0], made.separator) == 3);
  CHECK(position_after(made.documents[1], made.separator) == 4);
  CHECK(position_after(made.documents[1], -5) == made.documents[1].size());
}

TEST_CASE("parallel documents: the text cannot hold the separator") {
  const ParallelDocuments made = make_parallel_documents("a <sep> b", "c <sep>", 0);
  REQUIRE(made.documents.size() == 1);
  CHECK(made.documents[0].size() == 5 + 1 + 4);
  CHECK(position_after(made.documents[0], made.separator) == 6);
  const auto& document = made.documents[0];
  CHECK(std::count(document.begin(), document.end(), made.separator) == 1);
}

TEST_CASE("parallel documents: lines must pair up") {
  CHECK(complaint([] { make_parallel_documents("a\nb\n", "c\n", 0); }).find("2 lines and the target 1") !=
        std::string::npos);
  const TempFile two("a\nb");
  const TempFile one("c");
  const std::string said = complaint([&] { load_parallel_documents(two.path(), one.path(), 0); });
  CHECK(said.find(two.path().string()) == 0);
  CHECK(said.find(one.path().string()) != std::string::npos);
}

TEST_CASE("documents: every k-th is held out, and every document is on one side") {
  std::vector<std::vector<Token>> documents;
  for (Token id = 0; id < 10; ++id) documents.push_back({id});
  const DocumentSplit split = split_documents(documents, 4);
  CHECK(split.held_out == std::vector<std::vector<Token>>{{3}, {7}});
  CHECK(joined(split.train) == std::vector<Token>{0, 1, 2, 4, 5, 6, 8, 9});
  CHECK(separated(split.held_out, 99) == std::vector<Token>{99, 3, 99, 7});
  CHECK_THROWS_AS(split_documents(documents, 1), ModelError);
  CHECK_THROWS_AS(split_documents(documents, 11), ModelError);
}
