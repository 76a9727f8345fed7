#include "sim/text/corpus.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "sim/error.hpp"
#include "tests/sim/random_tokens.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

namespace {
std::string joined(const std::string& text) {
  const Corpus corpus = make_corpus(text, Tokenization::words, 0);
  return corpus.vocabulary.join(corpus.tokens);
}

/// Returns the words of a text, which may have none.
std::vector<std::string> words(const std::string& text) {
  const Corpus corpus = make_corpus("first " + text, Tokenization::words, 0);
  std::vector<std::string> found;
  for (std::size_t i = 1; i < corpus.tokens.size(); ++i)
    found.push_back(corpus.vocabulary.text(corpus.tokens[i]));
  return found;
}
}  // namespace

TEST_CASE("words: white space separates, punctuation stands alone, inner apostrophes and hyphens stay") {
  CHECK(words("") == std::vector<std::string>{});
  CHECK(words(" \t\n") == std::vector<std::string>{});
  CHECK(words("Mr. Elton's well-bred,\r\nhandsome") ==
        std::vector<std::string>{"Mr", ".", "Elton's", "well-bred", ",", "handsome"});
  CHECK(words("no--never...") == std::vector<std::string>{"no", "--", "never", "..."});
  CHECK(words("'tis the ladies' _own_") ==
        std::vector<std::string>{"'", "tis", "the", "ladies", "'", "_", "own", "_"});
  CHECK(words("caf\u00e9 -x- y'") == std::vector<std::string>{"caf\u00e9", "-", "x", "-", "y", "'"});
}

TEST_CASE("words: the cap keeps the most frequent, ties in byte order, the rest is <unk>") {
  const Corpus corpus = make_corpus("b a c b a d b", Tokenization::words, 4);  // b 3, a 2, then c before d
  CHECK(corpus.vocabulary.size() == 4);
  CHECK(corpus.vocabulary.text(0) == "<unk>");
  CHECK(corpus.vocabulary.text(1) == "b");
  CHECK(corpus.vocabulary.text(2) == "a");
  CHECK(corpus.vocabulary.text(3) == "c");
  CHECK(corpus.tokens == std::vector<Token>{1, 2, 3, 1, 2, 0, 1});
  CHECK(corpus.vocabulary.join(corpus.tokens) == "b a c b a <unk> b");
  CHECK(make_corpus("b a c b a d b", Tokenization::words, 0).vocabulary.size() == 5);
  CHECK(make_corpus("b a", Tokenization::words, 100).vocabulary.size() == 3);
  CHECK_THROWS_AS(make_corpus("b a", Tokenization::words, 1), ModelError);
  CHECK_THROWS_AS(make_corpus("b a", Tokenization::words, -1), ModelError);
}

TEST_CASE("words: the tokens of a corpus are those its vocabulary finds, many words or few") {
  Philox stream = world(3);
  std::string text = "<unk> ";
  for (int i = 0; i < 20000; ++i) {
    // There are 2000 words, more than the first table of the counter holds; some are in runs, some unknown.
    const std::uint64_t bound = 1 + stream() % 2000;
    text += std::to_string(stream() % bound);
    text += stream() % 8 == 0 ? " <unk>" : "";
    text += stream() % 3 == 0 ? "-x," : " ";
  }
  // The three words of "<unk>" are counted, although it is one token.
  const std::string apart = std::regex_replace(text, std::regex("<unk>"), "< unk >");
  for (const std::int32_t cap : {0, 2, 100, 5000}) {
    const Corpus corpus = make_corpus(text, Tokenization::words, cap);
    CHECK(corpus.tokens == corpus.vocabulary.tokens(text));
    std::map<std::string, int> counts;
    for (const std::string& word : words(apart)) ++counts[word];
    const auto count = [&](Token id) { return counts.at(corpus.vocabulary.text(id)); };
    int out_of_order = 0;
    for (Token id = 2; id < corpus.vocabulary.size(); ++id) {
      const bool in_order =
          count(id - 1) > count(id) ||
          (count(id - 1) == count(id) && corpus.vocabulary.text(id - 1) < corpus.vocabulary.text(id));
      out_of_order += in_order ? 0 : 1;
    }
    CHECK(out_of_order == 0);
    const auto all = static_cast<std::int32_t>(counts.size()) + 1;
    CHECK(corpus.vocabulary.size() == (cap == 0 ? all : std::min(cap, all)));
  }
}

TEST_CASE("words: joining restores the spacing of English print") {
  for (const std::string text : {"It is a truth, universally acknowledged; is it not?",
                                 "\"Ah!\" she said (softly), \"you _must_ go--now: really.\"",
                                 "Mr. Knightley's well-bred friend [sic] left..."}) {
    CHECK(joined(text) == text);
  }
}

TEST_CASE("a word list from elsewhere: whole entries first, and no <unk> means an error") {
  const Vocabulary list = Vocabulary::words({"<s>", "a", "don't"});
  CHECK(list.tokens("<s> a don't") == std::vector<Token>{0, 1, 2});
  CHECK_THROWS_WITH_AS(list.tokens("a b"), doctest::Contains("\"b\""), ModelError);
  CHECK(Vocabulary::words({"a", "<unk>"}).tokens("b <unk> a") == std::vector<Token>{1, 1, 0});
}

TEST_CASE("bytes: every value is a token, and joining gives the text back") {
  const Corpus corpus = make_corpus("A z\n", Tokenization::bytes, 0);
  CHECK(corpus.vocabulary.size() == 256);
  CHECK(corpus.tokens == std::vector<Token>{65, 32, 122, 10});
  CHECK(corpus.vocabulary.text(65) == "A");
  CHECK(corpus.vocabulary.text(32) == "<0x20>");
  CHECK(corpus.vocabulary.text(255) == "<0xFF>");
  CHECK(corpus.vocabulary.join(corpus.tokens) == "A z\n");
}

TEST_CASE("bytes: what is not UTF-8 is escaped, what is stays") {
  const Vocabulary bytes = Vocabulary::bytes();
  const auto through = [&](const std::string& text) { return bytes.join(bytes.tokens(text)); };
  const std::string valid = "caf\u00e9 \u2014 \U0001F600 \u00a0 \ud7ff \U0010FFFF";
  CHECK(through(valid) == valid);
  CHECK(through("a\xE9z") == "a\\xE9z");
  CHECK(through("\xE2\x80") == "\\xE2\\x80");                    // cut short
  CHECK(through("\xC0\xAF") == "\\xC0\\xAF");                    // overlong
  CHECK(through("\xED\xA0\x80") == "\\xED\\xA0\\x80");           // surrogate
  CHECK(through("\xF4\x90\x80\x80") == "\\xF4\\x90\\x80\\x80");  // above U+10FFFF
}

TEST_CASE("files: read as they are; missing and empty ones are named") {
  const TempFile file("one two one\n");
  CHECK(load_corpus(file.path(), Tokenization::words, 0).tokens == std::vector<Token>{1, 2, 1});
  std::string large;  // read in several blocks
  while (large.size() < 9'000'000) large += "one two three\n";
  CHECK(load_corpus(TempFile(large).path(), Tokenization::bytes, 0).tokens ==
        Vocabulary::bytes().tokens(large));
  const TempFile blank(" \n\n");
  for (const Tokenization tokenization : {Tokenization::bytes, Tokenization::words, Tokenization::pieces}) {
    CHECK_THROWS_WITH_AS(load_corpus(blank.path(), tokenization, 100),
                         doctest::Contains(blank.path().c_str()), ModelError);
  }
  CHECK_THROWS_WITH_AS(load_corpus("/nonexistent/x.txt", Tokenization::bytes, 0),
                       doctest::Contains("/nonexistent/x.txt"), ModelError);
  CHECK_THROWS_AS(load_corpus(std::filesystem::temp_directory_path(), Tokenization::bytes, 0), ModelError);
}

TEST_CASE(
    "files: what is not UTF-8 is refused where it would be printed, naming the byte, and read as bytes") {
  const TempFile latin("one\ncaf\xe9 two\n");
  for (const Tokenization tokenization : {Tokenization::words, Tokenization::pieces}) {
    CHECK_THROWS_WITH_AS(load_corpus(latin.path(), tokenization, 100),
                         doctest::Contains((latin.path().string() + ": byte 8 (0xe9, in line 2)").c_str()),
                         ModelError);
  }
  CHECK(load_corpus(latin.path(), Tokenization::bytes, 0).tokens.size() == 13);
  CHECK(load_corpus(TempFile("caf\u00e9").path(), Tokenization::words, 0).tokens.size() == 1);
}

#ifdef SPECLAB_HAS_SENTENCEPIECE
TEST_CASE("pieces: a word at which SentencePiece would crash is refused, a shorter one is not") {
  const auto line = [](std::size_t characters, const std::string& character) {
    std::string text = "ab ab\tcd ";
    for (std::size_t i = 0; i < characters; ++i) text += character;
    return text + " ab";
  };
  for (const std::string character : {"x", "\u00e9"}) {
    CHECK_THROWS_WITH_AS(make_corpus(line(32769, character), Tokenization::pieces, 50),
                         doctest::Contains("from byte 10 on"), ModelError);
    CHECK(make_corpus(line(32768, character), Tokenization::pieces, 50).vocabulary.size() > 4);
  }
}

TEST_CASE("pieces: within the cap, reproducible, and joining gives the text back") {
  std::string text;
  for (int i = 0; i < 50; ++i)
    text += "She was in the room with the tall man.\nHe had seen her there, and then left.\n";
  const Corpus corpus = make_corpus(text, Tokenization::pieces, 60);
  CHECK(corpus.vocabulary.size() <= 60);
  CHECK(corpus.vocabulary.text(0) == "<unk>");
  CHECK(corpus.tokens.size() < text.size());
  std::string expected = text;
  for (char& c : expected) c = c == '\n' ? ' ' : c;
  expected.pop_back();
  CHECK(corpus.vocabulary.join(corpus.tokens) == expected);
  CHECK(make_corpus(text, Tokenization::pieces, 60).tokens == corpus.tokens);
  CHECK(corpus.vocabulary.tokens("Zzz").back() == 0);
}

TEST_CASE("pieces: a cap below the number of characters is an error, a generous one is not") {
  CHECK_THROWS_WITH_AS(make_corpus("abcdefgh abc", Tokenization::pieces, 3),
                       doctest::Contains("SentencePiece"), ModelError);
  CHECK(make_corpus("abcdefgh abc", Tokenization::pieces, 5000).vocabulary.size() < 5000);
}
#else
TEST_CASE("pieces: without SentencePiece the error names the package") {
  CHECK_THROWS_WITH_AS(make_corpus("a b", Tokenization::pieces, 10),
                       doctest::Contains("libsentencepiece-dev"), ModelError);
}
#endif
