// Text as tokens: bytes, words, subword pieces, or tokens of a neural model, written as text or as ids.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/token.hpp"
#include "sim/text/text_file.hpp"
#include "sim/text/token_coder.hpp"

namespace speclab {

/// White space separates words; a run of one ASCII punctuation character is a word ("--", "..."), but an
/// apostrophe or hyphen between letters or digits stays inside ("don't", "well-bred").
enum class Tokenization { bytes, words, pieces, gguf, ids };

/// Returns the encoding that a text must have. Words, subword pieces and a neural model's tokens are printed
/// as they are and must be UTF-8; bytes may be anything.
constexpr Encoding encoding_of(Tokenization tokenization) {
  return tokenization == Tokenization::bytes ? Encoding::any : Encoding::utf8;
}

/// The text of each token id. Copies are independent.
class Vocabulary {
 public:
  /// Returns the vocabulary of the 256 byte values.
  static Vocabulary bytes();
  /// Returns the vocabulary of the given strings, distinct and not empty, in their order. Words outside the
  /// list are "<unk>", if that is in the list.
  static Vocabulary words(std::vector<std::string> list);
  /// Returns the tokens of a coder: pieces, or those of a neural model.
  static Vocabulary coded(Tokenization tokenization, std::shared_ptr<const TokenCoder> coder);

  Tokenization tokenization() const { return tokenization_; }
  std::int32_t size() const { return static_cast<std::int32_t>(texts_.size()); }

  /// Returns one token in printable form, without white space: bytes other than visible ASCII are "<0xNN>".
  const std::string& text(Token token) const { return texts_[static_cast<std::size_t>(token)]; }

  /// Returns the tokens of `text`. Throws ModelError, naming the word, for a word outside a list without
  /// "<unk>", and as the coder does.
  std::vector<Token> tokens(std::string_view text) const;

  /// Returns readable text. Bytes that are not UTF-8 appear as \xNN; words get spaces as in English; a coder
  /// joins its own tokens.
  std::string join(std::span<const Token> tokens) const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };

  Vocabulary(Tokenization tokenization, std::vector<std::string> texts)
      : tokenization_(tokenization), texts_(std::move(texts)) {}
  std::optional<Token> find(std::string_view word) const;

  Tokenization tokenization_;
  std::vector<std::string> texts_;
  std::unordered_map<std::string, Token, Hash, std::equal_to<>> ids_;  // only for words
  std::shared_ptr<const TokenCoder> coder_;                            // only for pieces or a neural model
};

struct Corpus {
  Vocabulary vocabulary;
  std::vector<Token> tokens;
};

/// Makes a corpus. Words: id 0 is "<unk>", then the vocabulary_cap - 1 most frequent words, ties in byte
/// order; cap 0 keeps every word. Pieces: at most vocabulary_cap pieces. Bytes: the cap is ignored. Throws
/// ModelError if the text has no tokens, or a cap is too small (below 2 for words).
Corpus make_corpus(std::string_view text, Tokenization tokenization, std::int32_t vocabulary_cap);

/// Makes a corpus with a given vocabulary. Throws ModelError if the text has no tokens.
Corpus make_corpus(std::string_view text, Vocabulary vocabulary);

/// Reads a text file. Errors are those of `make_corpus`, or about reading, and name the file.
Corpus load_corpus(const std::filesystem::path& file, Tokenization tokenization, std::int32_t vocabulary_cap);
Corpus load_corpus(const std::filesystem::path& file, Vocabulary vocabulary);

}  // namespace speclab
