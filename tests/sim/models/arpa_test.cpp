#include "sim/models/arpa.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "sim/error.hpp"
#include "sim/models/kneser_ney.hpp"
#include "tests/sim/models/row_error.hpp"
#include "tests/sim/random_tokens.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

namespace {

std::string written(const NgramModel& model, const Vocabulary& vocabulary) {
  std::ostringstream out;
  write_arpa(model, vocabulary, out);
  return out.str();
}

ArpaModel read_text(const std::string& text, RowSums sums = RowSums::renormalised) {
  return read_arpa(TempFile(text).path(), sums);
}

/// A bigram file as SRILM writes it: tabs, no <unk>, and no weight for n-grams that are no context.
const std::string srilm =
    "\n\\data\\\nngram 1=4\nngram 2=3\n\n"
    "\\1-grams:\n-0.4771213\t</s>\n-99\t<s>\t-0.30103\n-0.4771213\ta\t-0.1760913\n-0.4771213\tb\n\n"
    "\\2-grams:\n-0.30103\t<s> a\n-0.69897\ta a\n-0.39794\ta b\n\n\\end\\\n";

std::string with(const std::string& from, const std::string& to) {
  std::string text = srilm;
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a round trip keeps ids and changes no probability by more than 1e-9 of itself") {
  const Vocabulary vocabulary = Vocabulary::words({"<unk>", "a", ",", "don't", "caf\u00e9"});
  for (int order = 1; order <= max_ngram_order; ++order) {
    const NgramModel model = train_kneser_ney(random_tokens(5, 100, 4), 5, order);
    for (const RowSums sums : {RowSums::as_listed, RowSums::renormalised}) {
      const ArpaModel again = read_text(written(model, vocabulary), sums);
      CHECK(again.model.order() == order);
      CHECK(again.vocabulary.tokenization() == Tokenization::words);
      for (Token id = 0; id < 5; ++id) CHECK(again.vocabulary.text(id) == vocabulary.text(id));
      double worst = 0;
      for (const auto& context : all_contexts(5, order - 1)) {
        for (Token token = 0; token < 5; ++token) {
          worst = std::max(
              worst,
              std::abs(again.model.probability(context, token) / model.probability(context, token) - 1));
        }
      }
      CHECK(worst < 1e-9);
    }
  }
}

TEST_CASE("bytes survive the round trip as bytes") {
  const Vocabulary bytes = Vocabulary::bytes();
  const std::string text = "one \x01two\tthree\n\xff one two <0x20>";
  const NgramModel model = train_kneser_ney(bytes.tokens(text), 256, 3);
  const ArpaModel again = read_text(written(model, bytes));
  CHECK(again.vocabulary.tokenization() == Tokenization::bytes);
  const auto context = bytes.tokens("ne");
  CHECK(again.model.probability(context, ' ') ==
        doctest::Approx(model.probability(context, ' ')).epsilon(1e-9));
  CHECK(model.probability(context, ' ') > 0.5);
}

TEST_CASE("what is written has <s> and </s>, without which KenLM reads no file; reading gives the same ids") {
  const NgramModel model = train_kneser_ney(random_tokens(5, 100, 3), 3, 3);
  const std::string text = written(model, Vocabulary::words({"<unk>", "a", "b"}));
  CHECK(text.find("ngram 1=5\n") != std::string::npos);
  CHECK(text.find("\n-99\t<s>\n-99\t</s>\n\n\\2-grams:") != std::string::npos);
  const ArpaModel again = read_text(text);
  CHECK(again.vocabulary.size() == 3);
  CHECK(again.model.vocab() == 3);
  // A vocabulary that has these marks keeps them in place; only a missing one is added.
  const std::string own = written(model, Vocabulary::words({"<unk>", "</s>", "<s>"}));
  CHECK(own.find("ngram 1=3\n") != std::string::npos);
  CHECK(written(model, Vocabulary::words({"<unk>", "</s>", "b"})).find("ngram 1=4\n") != std::string::npos);
  // Marks that an n-gram uses stay.
  CHECK(read_text("\\data\\\nngram 1=3\nngram 2=1\n\\1-grams:\n0\ta\n-99\t<s>\n-99\t</s>\n"
                  "\\2-grams:\n0\t<s> a\n\\end\\\n")
            .vocabulary.size() == 3);
}

TEST_CASE("a file whose rows are far from sums of 1 is refused, naming the row") {
  const auto error = [](const std::string& text) {
    try {
      read_text(text);
    } catch (const ModelError& problem) {
      return std::string(problem.what());
    }
    return std::string();
  };
  // Every probability is 1.
  const std::string ones = "\\data\\\nngram 1=3\n\\1-grams:\n0\ta\n0\tb\n0\tc\n\\end\\\n";
  CHECK(error(ones).find("of the unigrams sum to 3") != std::string::npos);
  CHECK(read_text(ones, RowSums::as_listed).vocabulary.size() == 3);
  // One back-off weight is 10^98, another is too small.
  CHECK(error(with("a\t-0.1760913", "a\t98")).find("after \"a\" sum to") != std::string::npos);
  CHECK(error(with("a\t-0.1760913", "a\t-9")).find("after \"a\" sum to 0.6") != std::string::npos);
  // One probability has lost a digit.
  CHECK(error(with("-0.39794\ta b", "-0.09794\ta b")).find("after \"a\"") != std::string::npos);
  CHECK(error(srilm).empty());
  const TempFile low(with("a\t-0.1760913", "a\t-9"));
  CHECK(read_arpa(low.path(), RowSums::renormalised, max_ngram_order, 0.5).model.worst_row().sum ==
        doctest::Approx(0.6));
}

TEST_CASE("reads the shape SRILM writes") {
  const ArpaModel arpa = read_text(srilm, RowSums::as_listed);
  CHECK(arpa.model.vocab() == 4);
  CHECK(arpa.vocabulary.text(1) == "<s>");
  const auto near = [](double value) { return doctest::Approx(value).epsilon(1e-6); };
  const std::vector<Token> start{1};
  const std::vector<Token> a{2};
  const std::vector<Token> b{3};
  CHECK(arpa.model.probability({}, 1) == 0);
  CHECK(arpa.model.probability({}, 3) == near(1.0 / 3));
  CHECK(arpa.model.probability(start, 2) == near(0.5));
  CHECK(arpa.model.probability(start, 3) == near(0.5 / 3));
  CHECK(arpa.model.probability(a, 3) == near(0.4));
  CHECK(arpa.model.probability(a, 0) == near(2.0 / 9));
  CHECK(arpa.model.probability(b, 0) == near(1.0 / 3));  // no weight given: 1
  CHECK(max_row_error(arpa.model, 10) > 0.1);            // after a: 0.2 + 0.4 + 2/9
  CHECK(max_row_error(read_text(srilm).model, 10) < 1e-12);
}

TEST_CASE(
    "reads the shape KenLM writes: spaces, line ends of DOS, <s> at log 0, weights of 0 at the top order") {
  const ArpaModel arpa = read_text(
      "\\data\\\r\nngram 1=4\r\nngram 2=1\r\n\r\n\\1-grams:\r\n-0.60206 <unk> 0\r\n0 <s> -0.30103\r\n"
      "-0.60206 </s> 0\r\n-0.30103 a +0\r\n\r\n\\2-grams:\r\n-0.30103 <s> a 0\r\n\r\n\\end\\\r\n",
      RowSums::as_listed);
  CHECK(arpa.model.probability({}, 1) == 0);
  CHECK(max_row_error(arpa.model, 10) < 0.3);
  CHECK(arpa.vocabulary.tokens("a zebra <s>") == std::vector<Token>{3, 0, 1});
}

TEST_CASE("malformed files: the error names the line and what was expected") {
  struct Case {
    std::string text;
    const char* message;
  };
  const std::vector<Case> cases{
      {"", ":1: the file ends here; expected \\data\\"},
      {"hello\n", ":2: the file ends here; expected \\data\\"},
      {"\\data\\\n\\1-grams:\n", ":2: found \"\\1-grams:\"; expected \"ngram 1=COUNT\""},
      {"\xef\xbb\xbf\\data\\\nngram 1=1\n", ":1: begins with a byte order mark"},
      {with("ngram 1=4", "ngram 1=x"), ":3: found \"ngram 1=x\"; expected \"ngram 1=COUNT\""},
      {with("ngram 1=4", "ngram 1=0"), "expected 1 to"},
      {with("ngram 2=3", "ngram 3=3"), ":4: found \"ngram 3=3\"; expected \"ngram 2=COUNT\""},
      {with("ngram 2=3", "ngram 2=3\nngram 3=0\nngram 4=0\nngram 5=0\nngram 6=0"), "orders up to 5"},
      {with("\\1-grams:", "\\one-grams:"), ":6: found \"\\one-grams:\"; expected \\1-grams:"},
      {with("\\2-grams:", "\\3-grams:"), "expected \\2-grams:"},
      {with("ngram 1=4", "ngram 1=5"), ":12: section \\1-grams: ends after 4 n-grams; its count above is 5"},
      {with("-0.4771213\ta", "x\ta"), ":9: \"x\" is not a base-10 logarithm; expected a probability"},
      {with("-0.4771213\ta", "nan\ta"), ":9: \"nan\" is not a base-10 logarithm"},
      {with("-0.4771213\ta", "0.5\ta"), ":9: log10 probability 0.5; expected 0 or less"},
      {with("a\t-0.1760913", "a\t-0.1z"),
       ":9: \"-0.1z\" is not a base-10 logarithm; expected a back-off weight"},
      {with("a\t-0.1760913", "a\t100"), ":9: \"100\" is not a base-10 logarithm"},
      {with("a\t-0.1760913", "a\t-0.1\t3"), ":9: 4 fields"},
      {with("\ta a", "\ta"), ":14: 2 fields; expected a log10 probability, 2 words"},
      {with("\ta a", "\ta a\t-1"), ":14: back-off weight -1; expected none"},
      {with("\ta a", "\ta zebra"), ":14: the word \"zebra\" is not among the unigrams"},
      {with("\ta a", "\ta b"), ":15: this 2-gram is listed twice"},
      {with("\tb\n", "\tcaf\xe9\n"), " is not UTF-8; convert"},
      {with("\tb\n", "\ta\n"), ":10: the word \"a\" is listed twice"},
      {with("\\end\\\n", ""), "the file ends here"},
      {with("\\end\\", "\\fin\\"), ":17: found \"\\fin\\\"; expected \\end\\"},
  };
  for (const Case& one : cases) {
    CAPTURE(one.text);
    const TempFile file(one.text);
    CHECK_THROWS_WITH_AS(read_arpa(file.path()), doctest::Contains(one.message), ModelError);
    CHECK_THROWS_WITH_AS(read_arpa(file.path()), doctest::Contains((file.path().string() + ":").c_str()),
                         ModelError);
  }
  CHECK_THROWS_WITH_AS(read_arpa("/nonexistent/x.arpa"), doctest::Contains("/nonexistent/x.arpa"),
                       ModelError);
}

TEST_CASE("n-grams of more than an order are left out, and the weights that only they use") {
  const TempFile file(srilm);
  const ArpaModel unigrams = read_arpa(file.path(), RowSums::as_listed, 1);
  CHECK(unigrams.model.order() == 1);
  CHECK(unigrams.vocabulary.size() == 4);
  const ArpaModel whole = read_arpa(file.path(), RowSums::as_listed);
  for (Token id = 0; id < 4; ++id)
    CHECK(unigrams.model.probability({}, id) == whole.model.probability({}, id));
  CHECK(unigrams.model.listed().levels.back()[2].backoff == 1);
  CHECK(read_arpa(file.path(), RowSums::as_listed, 2).model.order() == 2);
}
