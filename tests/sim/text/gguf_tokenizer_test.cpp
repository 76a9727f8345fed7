#include "sim/text/gguf_tokenizer.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "sim/error.hpp"
#include "sim/text/corpus.hpp"
#include "sim/text/documents.hpp"
#include "tests/sim/models/tiny_llama.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

namespace {

std::shared_ptr<const GgufTokenizer> tokenizer() {
  const TempFile file(TinyLlama(1).gguf());
  return std::make_shared<const GgufTokenizer>(file.path());
}

Vocabulary vocabulary() { return Vocabulary::coded(Tokenization::gguf, tokenizer()); }

const bool without = !has_libllama();

}  // namespace

TEST_CASE("gguf tokens: pairs are merged in the file's order" * doctest::skip(without)) {
  // The tokens are 256 bytes, then "th", "the", " the", "in", "er", " a", "on".
  CHECK(vocabulary().tokens("the then") == std::vector<Token>{257, 258, 'n'});
  CHECK(vocabulary().tokens("on a") == std::vector<Token>{262, 261});
  CHECK(vocabulary().tokens("").empty());
  CHECK(tokenizer()->size() == 264);
}

TEST_CASE("gguf tokens: joined they are the text again, and print without white space" *
          doctest::skip(without)) {
  const Vocabulary words = vocabulary();
  const std::string text = "On the other hand,\n\tcaf\u00e9 \u2014 <|end|> 1 + 2\n";
  const std::vector<Token> tokens = words.tokens(text);
  CHECK(words.join(tokens) == text);
  CHECK(words.text(258) == "\u2581the");
  CHECK(words.text('\n') == "<0x0A>");
  CHECK(words.text(0xe9) == "<0xE9>");
  CHECK(words.text(263) == "<|end|>");
  for (Token id = 0; id < words.size(); ++id) {
    CHECK(words.text(id).find_first_of(" \t\n") == std::string::npos);
    CHECK_FALSE(words.text(id).empty());
  }
  // Names of special tokens are text.
  CHECK(std::find(tokens.begin(), tokens.end(), 263) == tokens.end());
  // Half of a character is not UTF-8.
  CHECK(words.join(std::vector<Token>{0xc3}) == "\\xC3");
}

TEST_CASE("gguf tokens: corpora and documents are coded by the file" * doctest::skip(without)) {
  const Corpus corpus = make_corpus("the the", vocabulary());
  CHECK(corpus.tokens == std::vector<Token>{257, 258});
  CHECK(make_documents("the\fin\f \f", vocabulary()).documents ==
        std::vector<std::vector<Token>>{{257}, {259}});
  CHECK_THROWS_AS(make_corpus(" \n", vocabulary()), ModelError);
  CHECK_THROWS_AS(make_corpus("the", Tokenization::gguf, 0), ModelError);
}

TEST_CASE("gguf tokens: a chat prompt is a message in the template of the file" * doctest::skip(without)) {
  const ChatCoder chat(tokenizer());
  CHECK(chat.size() == 264);
  const std::vector<Token> said = chat.tokens("the");
  // The text has "<|im_start|>user" and so on, in bytes, and the message.
  CHECK(tokenizer()->join(said).find("user\nthe<|im_end|>") != std::string::npos);
}
